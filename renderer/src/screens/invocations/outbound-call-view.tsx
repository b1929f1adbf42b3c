import { isFailedCall } from '../../../../server/model/failed-call.ts';
import { MOCK_TITLES } from '../../../../server/model/invocation.ts';
import { Duration } from '../../components/amount.tsx';
import { counted } from '../../components/amounts.ts';
import { BodyView } from '../../components/http-message.tsx';
import { Badge, State } from '../../components/state.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { TraceLink } from '../../shell/trace-link.tsx';
import { resultOf } from './invocation-words.ts';
import type { OutboundCall } from './use-invocations.ts';

export interface OutboundCallViewProps {
  call: Omit<OutboundCall, 'startedAt'>;
  executionId: string;
  /** The trace id of the invocation, in lists with calls of several invocations. */
  traceId?: string;
}

export function OutboundCallView({ call, executionId, traceId }: OutboundCallViewProps) {
  return (
    <>
      <p className="flex flex-wrap items-center gap-2">
        <State is={isFailedCall(call) ? 'error' : 'ok'}>{resultOf(call)}</State>
        <Badge>{call.method}</Badge>
        {call.caughtBy && (
          <Badge tone="running">
            {call.afterRedirect ? "page after the mock CRM's redirect" : `caught by ${MOCK_TITLES[call.caughtBy]}`}
          </Badge>
        )}
        {call.leftMachine && <Badge>left this machine</Badge>}
        <span className="ml-auto text-muted">
          <Duration ms={call.durationMs} />
        </span>
        {call.caughtBy === 'crm' && (
          <PlaceLink to={{ screen: 'leads', search: { q: `execution:${executionId}` } }}>See the lead</PlaceLink>
        )}
        {call.caughtBy === 'mail' && (
          <PlaceLink to={{ screen: 'mails', search: { q: executionId } }}>See the mail</PlaceLink>
        )}
      </p>
      <p className="mono mt-1 break-all text-muted">{call.url}</p>
      {call.connection && call.connection.transport !== 'dns' && (
        <p className="mt-1 text-muted">
          {counted(call.connection.sentBytes, 'byte')} sent, {counted(call.connection.receivedBytes, 'byte')} received
        </p>
      )}
      {call.rules && (
        <p className="mt-1 text-muted">
          <PlaceLink to={{ screen: 'leads', search: { tab: 'rules' } }}>Outbound rule</PlaceLink>:{' '}
          {call.rules.map(({ text }) => text).join(', then ')}
        </p>
      )}
      {call.warning && <p className="mt-1 break-words text-warn">{call.warning}</p>}
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
              <BodyView body={call[side]} subject={`body of the ${side}`} />
            </details>
          ),
      )}
    </>
  );
}
