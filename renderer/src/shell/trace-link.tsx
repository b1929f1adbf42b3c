import { PlaceLink } from './place-link.tsx';

/** Links from a trace (W3C trace context) to its invocations and requests. */
export function TraceLink({ traceId }: { traceId: string }) {
  const search = { q: `trace:${traceId}` };
  return (
    <>
      <PlaceLink to={{ screen: 'invocations', search }} label={`Invocations of trace ${traceId}`}>
        {traceId}
      </PlaceLink>{' '}
      <PlaceLink to={{ screen: 'gateway', search }} label={`Requests of trace ${traceId}`}>
        requests
      </PlaceLink>{' '}
      <PlaceLink
        to={{ screen: 'invocations', search: { ...search, list: 'outbound' } }}
        label={`Outbound calls of trace ${traceId}`}
      >
        outbound
      </PlaceLink>
    </>
  );
}
