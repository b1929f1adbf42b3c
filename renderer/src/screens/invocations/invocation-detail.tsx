import { Download, Link2, X } from 'lucide-react';
import { Duration, Time } from '../../parts/amount.tsx';
import { Button, IconButton } from '../../parts/button.tsx';
import { Copy, copyText } from '../../parts/copy.tsx';
import { EmptyState, ErrorState } from '../../parts/empty-state.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { KeyValue } from '../../parts/key-value.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { Badge, State } from '../../parts/state.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { useSearch } from '../../url.ts';
import { adviceOn, conditionOf, statusOf } from './invocation-words.ts';
import { type InvocationDetail, type OutboundCall, useInvocation } from './use-invocations.ts';
import { type Span, Waterfall } from './waterfall.tsx';

/** One invocation: where its time went, what it said, whom it called, what came of it. */
export function InvocationDetailPane({ id }: { id: string }) {
  const [{ tab }, change] = useSearch();
  const { data: invocation, error, refetch } = useInvocation(id);
  const close = () => change({ sel: undefined });
  if (!invocation) {
    return (
      <>
        <div className="flex justify-end p-1.5">
          <IconButton icon={X} label="Close the detail" onPress={close} />
        </div>
        {error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <Skeleton />}
      </>
    );
  }
  const { outcome, request } = invocation;
  const tabs = [
    {
      id: 'outbound',
      title: 'Outbound',
      count: invocation.outbound.length,
      content: <Outbound calls={invocation.outbound} />,
    },
    { id: 'logs', title: 'Logs', count: invocation.logs.length, content: <Logs lines={invocation.logs} /> },
    { id: 'result', title: 'Result', content: <Result invocation={invocation} /> },
    { id: 'facts', title: 'Facts', content: <Facts invocation={invocation} /> },
    { id: 'raw', title: 'Raw', content: <JsonView value={invocation} what="invocation" /> },
  ];
  return (
    <>
      <div className="border-b border-line px-4 py-2.5">
        <div className="flex items-center gap-2">
          <State is={conditionOf(invocation)} isIconOnly>
            {statusOf(invocation)}
          </State>
          <h2 className="truncate text-[14px]">{invocation.lambdaName}</h2>
          <Badge>{invocation.cold ? 'cold' : 'warm'}</Badge>
          <Badge>{invocation.trigger}</Badge>
          <IconButton icon={X} label="Close the detail" onPress={close} className="ml-auto" />
        </div>
        <p className="mono flex items-center gap-3 text-muted">
          {request && (
            <span className="truncate">
              {request.method} {request.target} {request.status}
            </span>
          )}
          <span className="flex min-w-0 items-center">
            <span className="truncate">{invocation.executionId}</span>
            <Copy text={invocation.executionId} what="execution id" className="scale-90" />
          </span>
        </p>
        <div className="mt-1.5 flex flex-wrap gap-1.5">
          <PlaceLink
            to={{ screen: 'lambdas', id: invocation.lambdaId }}
            className="flex h-7 items-center rounded-md border border-accent bg-accent px-2.5 font-semibold text-on-accent hover:bg-accent-strong"
          >
            Open the lambda
          </PlaceLink>
          <Button icon={Link2} onPress={() => void copyText(location.href, 'link to the invocation')}>
            Copy link
          </Button>
          <Button icon={Download} onPress={() => download(invocation)}>
            Export
          </Button>
        </div>
      </div>
      {!outcome.ok && (
        <div className="mx-4 mt-3 rounded-md border border-error/40 bg-error-soft px-3 py-2">
          <p>
            <strong className="font-semibold">Why it failed.</strong>{' '}
            <span className="mono break-words">{outcome.message}</span>
          </p>
          <p className="mt-1 text-muted">{adviceOn(outcome.failure)}</p>
        </div>
      )}
      <div className="border-b border-line px-4 pt-3 pb-2">
        <Waterfall spans={spansOf(invocation)} />
      </div>
      <Tabs
        label="Parts of the invocation"
        tabs={tabs}
        value={tab ?? (outcome.ok ? 'outbound' : 'logs')}
        onChange={(next) => change({ tab: next })}
      />
    </>
  );
}

/** Gateway, queue, handler and each outbound call, as far as they are known. */
function spansOf(invocation: InvocationDetail): Span[] {
  const { acceptedAt, startedAt, finishedAt, outcome, request, outbound } = invocation;
  const [accepted, finished] = [Date.parse(acceptedAt), Date.parse(finishedAt)];
  const started = startedAt === undefined ? finished : Date.parse(startedAt);
  const gatewayAt = request && Date.parse(request.at);
  return [
    ...(request && gatewayAt !== undefined
      ? [
          {
            name: 'gateway',
            note: request.method,
            startMs: gatewayAt,
            endMs: gatewayAt + request.durationMs,
            tone: 'gateway' as const,
          },
        ]
      : []),
    { name: 'queue', note: invocation.cold ? 'cold start' : '', startMs: accepted, endMs: started, tone: 'queue' },
    ...(startedAt === undefined
      ? []
      : [
          {
            name: 'handler',
            startMs: started,
            endMs: finished,
            tone: outcome.ok ? ('handler' as const) : ('error' as const),
          },
        ]),
    ...outbound.map((call) => ({
      name: call.method,
      note: hostOf(call.url),
      startMs: Date.parse(call.startedAt),
      endMs: Date.parse(call.startedAt) + call.durationMs,
      tone: isBad(call) ? ('error' as const) : ('outbound' as const),
      depth: 1,
    })),
  ];
}

function Outbound({ calls }: { calls: readonly OutboundCall[] }) {
  if (calls.length === 0)
    return <EmptyState title="It called nobody" text="Requests that the lambda makes while it runs show up here." />;
  return (
    <ul>
      {calls.map((call) => (
        <li key={`${call.startedAt} ${call.url}`} className="border-b border-line/60 px-4 py-2">
          <p className="flex items-center gap-2">
            <State is={isBad(call) ? 'error' : 'ok'}>{call.status ?? 'no answer'}</State>
            <Badge>{call.method}</Badge>
            {call.caughtBy && <Badge tone="running">caught by the {call.caughtBy.toUpperCase()} stand-in</Badge>}
            <span className="ml-auto text-muted">
              <Duration ms={call.durationMs} />
            </span>
            {call.caughtBy === 'crm' && <PlaceLink to={{ screen: 'leads' }}>See the lead</PlaceLink>}
          </p>
          <p className="mono mt-1 break-all text-muted">{call.url}</p>
          {call.error && <p className="mt-1 text-error">{call.error}</p>}
        </li>
      ))}
    </ul>
  );
}

function Logs({ lines }: { lines: InvocationDetail['logs'] }) {
  if (lines.length === 0)
    return <EmptyState title="It printed nothing" text="What the lambda prints while it runs shows up here." />;
  return (
    <ol className="py-2">
      {lines.map(({ at, stream, text }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a finished invocation do not change
        <li key={index} className="mono flex gap-3 px-4 hover:bg-raised">
          <span className="shrink-0 text-faint">
            <Time at={at} as="clock" />
          </span>
          <span className={`w-12 shrink-0 ${stream === 'stderr' ? 'text-error' : 'text-faint'}`}>{stream}</span>
          <span className="min-w-0 break-words whitespace-pre-wrap">{text}</span>
        </li>
      ))}
    </ol>
  );
}

function Result({ invocation: { outcome } }: { invocation: InvocationDetail }) {
  const shown = outcome.result ?? outcome.message;
  if (shown === undefined) return <EmptyState title="No result" text="The handler called back without one." />;
  return <JsonView value={shown} what="result" />;
}

function Facts({ invocation }: { invocation: InvocationDetail }) {
  const { request } = invocation;
  return (
    <div className="px-4 py-2">
      <KeyValue
        rows={[
          { name: 'Accepted', value: <Time at={invocation.acceptedAt} as="clock" /> },
          { name: 'Took', value: <Duration ms={invocation.durationMs} /> },
          { name: 'Trigger', value: invocation.trigger },
          { name: 'Lambda', value: invocation.lambdaId, copy: invocation.lambdaId, isMono: true },
          { name: 'Client', value: request?.peer, isMono: true },
          { name: 'Request took', value: request && <Duration ms={request.durationMs} /> },
          { name: 'Endpoint', value: request?.endpointId, copy: request?.endpointId, isMono: true },
          { name: 'User', value: request?.userId, copy: request?.userId, isMono: true },
        ]}
      />
    </div>
  );
}

function isBad({ status, error }: OutboundCall): boolean {
  return error !== undefined || status === undefined || status >= 400;
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}

function download(invocation: InvocationDetail): void {
  const url = URL.createObjectURL(new Blob([JSON.stringify(invocation, null, 2)], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `invocation-${invocation.executionId}.json`;
  link.click();
  URL.revokeObjectURL(url);
}
