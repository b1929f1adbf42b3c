import { isFailedCall } from '../../../../server/model/failed-call.ts';
import { Duration } from '../../parts/amount.tsx';
import { BodyView } from '../../parts/http-message.tsx';
import { Badge, State } from '../../parts/state.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { TraceLink } from '../../shell/trace-link.tsx';
import type { OutboundCall } from './use-invocations.ts';

export interface OutboundCallViewProps {
  call: Omit<OutboundCall, 'startedAt'>;
  /** Of the invocation that made it. */
  executionId: string;
  /** That of the invocation, where calls of another one are told. */
  traceId?: string;
}

/** A call that a lambda made: to whom, what came of it, and what decided so. */
export function OutboundCallView({ call, executionId, traceId }: OutboundCallViewProps) {
  return (
    <>
      <p className="flex flex-wrap items-center gap-2">
        <State is={isFailedCall(call) ? 'error' : 'ok'}>{call.status ?? 'no answer'}</State>
        <Badge>{call.method}</Badge>
        {call.caughtBy && <Badge tone="running">caught by the {call.caughtBy.toUpperCase()} stand-in</Badge>}
        <span className="ml-auto text-muted">
          <Duration ms={call.durationMs} />
        </span>
        {call.caughtBy === 'crm' && (
          <PlaceLink to={{ screen: 'leads', search: { q: `execution:${executionId}` } }}>See the lead</PlaceLink>
        )}
      </p>
      <p className="mono mt-1 break-all text-muted">{call.url}</p>
      {call.rules && (
        <p className="mt-1 text-muted">
          <PlaceLink to={{ screen: 'leads', search: { tab: 'rules' } }}>Outbound rule</PlaceLink>:{' '}
          {call.rules.map(({ text }) => text).join(', then ')}
        </p>
      )}
      {call.error && <p className="mt-1 break-words text-error">{call.error}</p>}
      {traceId !== undefined && call.traceId && call.traceId !== traceId && (
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
    </>
  );
}
