import { jsonIn } from '../../../../server/model/json.ts';
import { keys } from '../../api/query-client.ts';
import { useRead } from '../../api/use-read.ts';
import { clockText } from '../../components/amounts.ts';
import { DiffEditor } from '../../components/code-editor.tsx';
import { Select } from '../../components/fields.tsx';
import { Pending } from '../../components/pending.tsx';
import { useSearch } from '../../url.ts';
import { type InvocationDetail, useInvocation } from './use-invocations.ts';

/** The number of the lambda's newest invocations that are offered. */
const MAX_OFFERED = 100;

/** The differences between two invocations, side by side: event, log, outbound calls and result. */
export function CompareTab({ invocation, otherId }: { invocation: InvocationDetail; otherId: string | undefined }) {
  const [, change] = useSearch();
  const { executionId, lambdaId } = invocation;
  const list = useRead(keys.invocations, '/inspect/invocations', { lambda: lambdaId, limit: MAX_OFFERED });
  const otherInvocations = (list.data?.invocations ?? []).filter((candidate) => candidate.executionId !== executionId);
  const chosen = otherId !== undefined && otherId !== executionId ? otherId : otherInvocations[0]?.executionId;
  return (
    <div className="flex h-full flex-col">
      <div className="flex flex-wrap items-center gap-x-3 px-4 py-1">
        <Select
          label="Compare with"
          options={otherInvocations.map((candidate) => ({
            id: candidate.executionId,
            text: `${clockText(Date.parse(candidate.acceptedAt))} ${candidate.outcome.failure ?? 'ok'} ${candidate.executionId.slice(0, 8)}`,
          }))}
          value={chosen}
          onChange={(id) => change({ with: id })}
        />
        {chosen !== undefined && (
          <p className="text-muted">
            Left: <span className="mono">{chosen.slice(0, 8)}</span>, right:{' '}
            <span className="mono">{executionId.slice(0, 8)}</span>
          </p>
        )}
      </div>
      <div className="min-h-0 flex-1">
        {chosen !== undefined && <Comparison invocation={invocation} otherId={chosen} />}
        {chosen === undefined && list.data && (
          <p className="px-4 py-2 text-muted">There is no other invocation of this lambda.</p>
        )}
      </div>
    </div>
  );
}

function Comparison({ invocation, otherId }: { invocation: InvocationDetail; otherId: string }) {
  const read = useInvocation(otherId);
  if (!read.data) return <Pending query={read} label="Loading" />;
  const [before, after] = [comparable(read.data), comparable(invocation)];
  return <DiffEditor label="What differs" before={before} after={after} language="json" layout="sides" />;
}

/** Without ids and times, which always differ. */
function comparable({ event, outcome, logs, outbound, trigger, cold }: InvocationDetail): string {
  const { body, path, params, user } = event;
  const text = body.text ?? body.base64 ?? '';
  const comparedFields = {
    trigger,
    cold,
    event: { path, params, user: user?.name, body: jsonIn(text) ?? text },
    outcome,
    logs: logs.map(({ stream, text }) => `${stream} ${text}`),
    outbound: outbound.map(({ method, url, status, error }) => ({ method, url, status, error })),
  };
  return JSON.stringify(comparedFields, null, 2);
}
