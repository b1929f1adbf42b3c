import { isFailedCall } from '../../../../server/model/failed-call.ts';
import { Duration, Time } from '../../parts/amount.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { BodyView } from '../../parts/http-message.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { KeyValue } from '../../parts/key-value.tsx';
import { Badge, State } from '../../parts/state.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { TraceLink } from '../../shell/trace-link.tsx';
import type { InvocationDetail, InvocationEvent, OutboundCall } from './use-invocations.ts';

/** What the lambda was given: its event, and what it can read of the call. */
export function EventTab({ event }: { event: InvocationEvent }) {
  const { body, params, headers } = event;
  return (
    <>
      <BodyView body={body} what="event" />
      <details className="border-t border-line/60 px-3 py-2">
        <summary className="cursor-default py-1 text-muted">Context</summary>
        <KeyValue
          rows={[
            { name: 'Method', value: event.method, isMono: true },
            { name: 'Path', value: event.path || '/', isMono: true },
            { name: 'User', value: event.user?.name },
            ...Object.entries(params).map(([name, values]) => ({
              name: `?${name}`,
              value: values.join(', '),
              isMono: true,
            })),
            ...Object.entries(headers).map(([name, value]) => ({ name, value, isMono: true })),
          ]}
        />
      </details>
    </>
  );
}

export function OutboundTab({
  calls,
  leadHref,
  traceId,
}: {
  calls: readonly OutboundCall[];
  leadHref?: string | undefined;
  /** That of the invocation. */
  traceId?: string | undefined;
}) {
  if (calls.length === 0)
    return <EmptyState title="It called nobody" text="Requests that the lambda makes while it runs show up here." />;
  return (
    <ul>
      {calls.map((call) => (
        <li key={`${call.startedAt} ${call.url}`} className="border-b border-line/60 px-4 py-2">
          <p className="flex items-center gap-2">
            <State is={isFailedCall(call) ? 'error' : 'ok'}>{call.status ?? 'no answer'}</State>
            <Badge>{call.method}</Badge>
            {call.caughtBy && <Badge tone="running">caught by the {call.caughtBy.toUpperCase()} stand-in</Badge>}
            <span className="ml-auto text-muted">
              <Duration ms={call.durationMs} />
            </span>
            {call.caughtBy === 'crm' && (
              <PlaceLink to={{ screen: 'leads', search: leadHref ? { q: leadHref } : {} }}>See the lead</PlaceLink>
            )}
          </p>
          <p className="mono mt-1 break-all text-muted">{call.url}</p>
          {call.rules && (
            <p className="mt-1 text-muted">
              <PlaceLink to={{ screen: 'leads', search: { tab: 'rules' } }}>Outbound rule</PlaceLink>:{' '}
              {call.rules.map(({ text }) => text).join(', then ')}
            </p>
          )}
          {call.error && <p className="mt-1 text-error">{call.error}</p>}
          {call.traceId && call.traceId !== traceId && (
            <p className="mt-1 text-muted">
              Of another trace: <TraceLink traceId={call.traceId} />
            </p>
          )}
          {(['request', 'response'] as const).map(
            (side) =>
              call[side] && (
                <details key={side} className="mt-1">
                  <summary className="cursor-default py-1 text-muted">Body of the {side}</summary>
                  <BodyView body={call[side]} what={`body of the ${side}`} />
                </details>
              ),
          )}
        </li>
      ))}
    </ul>
  );
}

export function LogsTab({ lines }: { lines: InvocationDetail['logs'] }) {
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

export function ResultTab({ invocation: { outcome } }: { invocation: InvocationDetail }) {
  const shown = outcome.result ?? outcome.message;
  if (shown === undefined) return <EmptyState title="No result" text="The handler called back without one." />;
  return <JsonView value={shown} what="result" />;
}

export function FactsTab({ invocation }: { invocation: InvocationDetail }) {
  const { request, replayOf } = invocation;
  return (
    <div className="px-4 py-2">
      <KeyValue
        rows={[
          { name: 'Accepted', value: <Time at={invocation.acceptedAt} as="clock" /> },
          { name: 'Took', value: <Duration ms={invocation.durationMs} /> },
          { name: 'Trigger', value: invocation.trigger },
          {
            name: 'Replay of',
            value: replayOf && (
              <PlaceLink to={{ screen: 'invocations', search: { sel: replayOf } }}>{replayOf.slice(0, 8)}</PlaceLink>
            ),
          },
          { name: 'Trace', value: <TraceLink traceId={invocation.traceId} />, copy: invocation.traceId, isMono: true },
          { name: 'Lambda', value: invocation.lambdaId, copy: invocation.lambdaId, isMono: true },
          { name: 'Client', value: request?.peer, isMono: true },
          { name: 'Request took', value: request && <Duration ms={request.durationMs} /> },
          {
            name: 'Endpoint',
            value: request?.endpointId && (
              <PlaceLink to={{ screen: 'resources', id: request.endpointId }}>{request.endpointId}</PlaceLink>
            ),
          },
          { name: 'User', value: request?.userId, copy: request?.userId, isMono: true },
        ]}
      />
    </div>
  );
}
