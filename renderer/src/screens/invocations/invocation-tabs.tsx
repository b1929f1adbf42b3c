import { Duration, Time } from '../../components/amount.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { BodyView } from '../../components/http-message.tsx';
import { JsonView } from '../../components/json-view.tsx';
import { KeyValue } from '../../components/key-value.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { TraceLink } from '../../shell/trace-link.tsx';
import { RunLog } from '../lambdas/run-log.tsx';
import { OutboundCallView } from './outbound-call-view.tsx';
import type { InvocationDetail, InvocationEvent } from './use-invocations.ts';

export function EventTab({ event }: { event: InvocationEvent }) {
  const { body, params, headers } = event;
  return (
    <>
      <BodyView body={body} subject="event" />
      <details className="border-t border-line/60 px-4 py-2">
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

export function OutboundTab({ invocation: { outbound, executionId, traceId } }: { invocation: InvocationDetail }) {
  if (outbound.length === 0)
    return (
      <EmptyState
        title="No outbound calls"
        text="HTTP calls that the lambda makes during the invocation appear here."
      />
    );
  return (
    <ul>
      {outbound.map((call) => (
        <li key={`${call.startedAt} ${call.url}`} className="border-b border-line/60 px-4 py-2">
          <OutboundCallView call={call} executionId={executionId} traceId={traceId} />
        </li>
      ))}
    </ul>
  );
}

export function LogsTab({ lines }: { lines: InvocationDetail['logs'] }) {
  if (lines.length === 0)
    return <EmptyState title="No output" text="Output of the lambda appears here while it runs." />;
  return (
    <div className="px-4 py-2">
      <RunLog lines={lines} />
    </div>
  );
}

export function ResultTab({ invocation: { outcome } }: { invocation: InvocationDetail }) {
  const value = outcome.result ?? outcome.message;
  if (value === undefined) return <EmptyState title="No result" text="The handler returned no result." />;
  return <JsonView value={value} subject="result" />;
}

export function FactsTab({ invocation }: { invocation: InvocationDetail }) {
  const { request, replayOf } = invocation;
  return (
    <div className="px-4 py-2">
      <KeyValue
        rows={[
          { name: 'Accepted', value: <Time at={invocation.acceptedAt} as="clock" /> },
          { name: 'Duration', value: <Duration ms={invocation.durationMs} /> },
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
