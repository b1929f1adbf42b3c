import { jsonIn } from '../../../../server/model/json.ts';
import { DiffEditor } from '../../parts/code-editor.tsx';
import { Pending } from '../../parts/pending.tsx';
import { type InvocationDetail, useInvocation } from './use-invocations.ts';

/** What differs between two invocations: what they were given, what they said, whom they called, what came of them. */
export function CompareTab({ invocation, otherId }: { invocation: InvocationDetail; otherId: string }) {
  const read = useInvocation(otherId);
  const other = read.data;
  if (!other) return <Pending query={read} label="Loading" />;
  return (
    <div className="flex h-full flex-col">
      <p className="px-4 py-1.5 text-muted">
        From <span className="mono">{otherId.slice(0, 8)}</span> to{' '}
        <span className="mono">{invocation.executionId.slice(0, 8)}</span>
      </p>
      <div className="min-h-0 flex-1">
        <DiffEditor label="What differs" before={comparable(other)} after={comparable(invocation)} language="json" />
      </div>
    </div>
  );
}

/** Without ids and times, which always differ. */
function comparable({ event, outcome, logs, outbound, trigger, cold }: InvocationDetail): string {
  const { body, path, params, user } = event;
  const text = body.text ?? body.base64 ?? '';
  const shown = {
    trigger,
    cold,
    event: { path, params, user: user?.name, body: jsonIn(text) ?? text },
    outcome,
    logs: logs.map(({ stream, text }) => `${stream} ${text}`),
    outbound: outbound.map(({ method, url, status, error }) => ({ method, url, status, error })),
  };
  return JSON.stringify(shown, null, 2);
}
