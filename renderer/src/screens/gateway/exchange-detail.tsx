import { Send, Terminal, X } from 'lucide-react';
import { curlOf } from '../../api/curl.ts';
import { usePlatformStatus } from '../../api/use-platform-status.ts';
import { type RecordedExchange, useExchange } from '../../api/use-traffic.ts';
import { type PlatformRecord, referenceId, useWorld } from '../../api/use-world.ts';
import { Duration, Time } from '../../components/amount.tsx';
import { Button, IconButton } from '../../components/button.tsx';
import { copyText } from '../../components/copy.tsx';
import { HttpMessage } from '../../components/http-message.tsx';
import { JsonView } from '../../components/json-view.tsx';
import { KeyValue } from '../../components/key-value.tsx';
import { PendingDetail } from '../../components/pending-detail.tsx';
import { Badge } from '../../components/state.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { TraceLink } from '../../shell/trace-link.tsx';
import { useSearch } from '../../url.ts';
import { refusalOf, rejectingCheckOf } from './refusal.ts';
import { StatusState } from './status-state.tsx';
import type { FirstRequest } from './use-saved-requests.ts';

/** The headers that belong to the connection or were hidden. */
const NOT_SENT =
  /^(host|connection|content-length|accept-encoding|transfer-encoding|expect|authorization|cookie|sec-.*)$/i;

/** The request as one can write it again. */
export function requestOf(exchange: RecordedExchange): FirstRequest {
  const { seq, method, target, request, status = 0, executionId, userId } = exchange;
  const headers = request.headers.filter(([name]) => !NOT_SENT.test(name));
  return {
    method,
    path: target,
    headers: headers.map(([name, value]) => `${name}: ${value}`).join('\n'),
    body: request.body?.text ?? '',
    asMe: userId !== undefined,
    ...(executionId === undefined && status >= 400 && { replayOf: seq }),
  };
}

export function ExchangeDetail({ seq, onSend }: { seq: number; onSend(request: FirstRequest): void }) {
  const [{ tab }, change] = useSearch();
  const read = useExchange(seq);
  const exchange = read.data;
  const addresses = usePlatformStatus().data?.addresses;
  const close = () => change({ sel: undefined });
  if (!exchange) return <PendingDetail query={read} onClose={close} />;
  const { request, response, isTruncated, executionId, endpointId } = exchange;
  const address = exchange.plane === 'gateway' ? addresses?.gatewayUrl : addresses?.baseUrl;
  const refusal = refusalOf(exchange);
  const tabs = [
    {
      id: 'request',
      title: 'Request',
      content: <HttpMessage subject="request" headers={request.headers} body={request.body} />,
    },
    {
      id: 'answer',
      title: 'Response',
      content: response ? (
        <HttpMessage subject="response" headers={response.headers} body={response.body} />
      ) : (
        <p className="p-4 text-muted">The client disconnected before the response was sent.</p>
      ),
    },
    { id: 'way', title: 'Steps', content: <Steps exchange={exchange} /> },
    { id: 'raw', title: 'Raw', content: <JsonView value={exchange} subject="request" /> },
  ];
  return (
    <>
      <div className="border-b border-line px-4 py-2.5">
        <div className="flex items-center gap-2">
          <StatusState status={exchange.status} outboundFailures={exchange.outboundFailures} />
          <Badge>{exchange.method}</Badge>
          <h2 className="mono min-w-0 truncate text-body">{exchange.target}</h2>
          <IconButton icon={X} label="Close the detail" onPress={close} className="ml-auto" />
        </div>
        <div className="mt-1.5 flex flex-wrap items-center gap-1.5">
          {address && (
            <Button icon={Terminal} onPress={() => void copyText(curlOf(exchange, address), 'curl command')}>
              Copy as curl
            </Button>
          )}
          {exchange.plane === 'gateway' && (
            <Button icon={Send} needs="all" onPress={() => onSend(requestOf(exchange))}>
              Send with edits
            </Button>
          )}
          {executionId && (
            <PlaceLink to={{ screen: 'invocations', search: { sel: executionId } }}>Invocation</PlaceLink>
          )}
          {endpointId && <PlaceLink to={{ screen: 'resources', id: endpointId }}>Endpoint</PlaceLink>}
          {endpointId && !executionId && <ContainerLink endpointId={endpointId} />}
        </div>
      </div>
      {isTruncated && (
        <p className="mx-4 mt-3 rounded-md border border-line bg-raised px-3 py-2 text-muted">
          Headers and bodies are no longer stored; newer ones replaced them.
        </p>
      )}
      {refusal && (
        <section
          aria-label="Why it was rejected"
          className="mx-4 mt-3 rounded-md border border-error/40 bg-error-soft px-3 py-2"
        >
          <p>
            <strong>Why it was rejected.</strong> {refusal.explanation}
          </p>
          {refusal.next && <p>{refusal.next}</p>}
        </section>
      )}
      <Tabs
        isInDetail
        label="Parts of the request"
        tabs={tabs}
        value={tab}
        onChange={(next) => change({ tab: next })}
      />
    </>
  );
}

/** The container that an endpoint leads to now. */
function ContainerLink({ endpointId }: { endpointId: string }) {
  const { data } = useWorld<PlatformRecord>(`/root/resources/${endpointId}`);
  const targetId = referenceId(data?.properties.implementation_id);
  if (data?.id !== endpointId || data.properties.implementation_type !== 'container' || !targetId) return null;
  return <PlaceLink to={{ screen: 'containers', search: { sel: targetId } }}>Container</PlaceLink>;
}

function Steps({ exchange }: { exchange: RecordedExchange }) {
  const { steps, userId, traceId } = exchange;
  return (
    <div className="px-4 py-2">
      <KeyValue
        rows={[
          { name: 'Arrived', value: <Time at={exchange.at} as="clock" /> },
          { name: 'Client', value: exchange.peer, isMono: true },
          { name: 'User', value: userId && <PlaceLink to={{ screen: 'resources', id: userId }}>{userId}</PlaceLink> },
          { name: 'Trace', value: traceId && <TraceLink traceId={traceId} />, copy: traceId, isMono: true },
          ...steps.map(({ name, afterMs }, index) => ({
            name: `Step: ${name}`,
            value: <Duration ms={afterMs - (steps[index - 1]?.afterMs ?? 0)} />,
          })),
          { name: 'Rejected by', value: refusalOf(exchange) && rejectingCheckOf(exchange) },
          { name: 'Upstream', value: <Duration ms={exchange.upstreamMs} /> },
          { name: 'Duration', value: <Duration ms={exchange.durationMs} /> },
          { name: 'Response complete', value: exchange.isComplete ? 'yes' : 'no' },
        ]}
      />
    </div>
  );
}
