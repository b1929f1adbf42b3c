import { Pencil, Plus, Send, Terminal } from 'lucide-react';
import { useState } from 'react';
import { curlOf } from '../../api/curl.ts';
import { parentIdOf } from '../../api/resource-kinds.ts';
import { usePlace } from '../../api/tree.ts';
import { fqonOf, type PlatformRecord, useWorld } from '../../api/use-world.ts';
import { Button } from '../../components/button.tsx';
import { Copy, copyText } from '../../components/copy.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Pending } from '../../components/pending.tsx';
import { Badge } from '../../components/state.tsx';
import { toast } from '../../components/toasts.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { endpointWords } from '../gateway/endpoint-words.ts';
import { NEW_REQUEST, SendDialog } from '../gateway/send-dialog.tsx';
import type { WrittenRequest } from '../gateway/use-saved-requests.ts';
import { AddressDialog, EndpointDialog } from './address-dialog.tsx';
import { optionsOf } from './endpoint-options.tsx';
import { canBePublic } from './public-address.ts';

/** The public addresses of the lambda, with the test event as a command for a shell. */
export function EndpointsTab({ lambda, event }: { lambda: PlatformRecord; event: string }) {
  const fqon = lambda.org.properties?.fqon ?? fqonOf(lambda);
  const location = usePlace(parentIdOf(lambda)).data;
  const [isAdding, setAdding] = useState(false);
  const [request, setRequest] = useState<WrittenRequest>();
  const endpoints = useWorld<PlatformRecord[]>(`/${fqon}/lambdas/${lambda.id}/apiendpoints`, { expand: true });
  if (!endpoints.data) return <Pending query={endpoints} />;
  const add = canBePublic(location) && (
    <Button icon={Plus} needs="apiendpoint.create" onPress={() => setAdding(true)}>
      Add endpoint
    </Button>
  );
  return (
    <>
      {endpoints.data.length === 0 ? (
        <EmptyState
          title="No public endpoint"
          text={
            canBePublic(location)
              ? 'An endpoint of an API gives the lambda a public address.'
              : 'An endpoint of an API gives the lambda a public address. To create one, open an API of an environment in Resources.'
          }
        >
          {add}
        </EmptyState>
      ) : (
        <>
          <ul>
            {endpoints.data.map((endpoint) => (
              <Endpoint key={endpoint.id} endpoint={endpoint} event={event} onSend={setRequest} />
            ))}
          </ul>
          {add && <div className="px-4 py-2">{add}</div>}
        </>
      )}
      {isAdding && canBePublic(location) && (
        <AddressDialog lambda={lambda} location={location} onClose={() => setAdding(false)} />
      )}
      {request && <SendDialog first={request} onClose={() => setRequest(undefined)} />}
    </>
  );
}

interface EndpointProps {
  endpoint: PlatformRecord;
  event: string;
  onSend(request: WrittenRequest): void;
}

function Endpoint({ endpoint, event, onSend }: EndpointProps) {
  const { public_url: url, methods } = endpoint.properties;
  const [isChanging, setChanging] = useState(false);
  const { perMinute, isAsynchronous } = optionsOf(endpoint.properties);
  const allowed = Array.isArray(methods) && methods.length > 0 ? methods.map(String) : ['any method'];
  const address = typeof url === 'string' ? url : undefined;
  const method = allowed.includes('POST') || allowed.includes('any method') ? 'POST' : (allowed[0] ?? 'POST');
  const send = () =>
    address !== undefined &&
    onSend({ ...NEW_REQUEST, method, path: new URL(address).pathname, ...(method !== 'GET' && { body: event }) });
  const copyCurl = async () => {
    if (address === undefined) return;
    const body = method === 'GET' || method === 'HEAD' ? undefined : { text: event, sizeBytes: event.length };
    const headers: [string, string][] = body ? [['Content-Type', 'application/json']] : [];
    const command = curlOf({ method, target: address, request: { headers, ...(body && { body }) } }, address);
    if (await copyText(command, 'curl command')) toast({ tone: 'ok', text: 'The curl command is on the clipboard.' });
  };
  return (
    <li className="flex flex-wrap items-center gap-2 border-b border-line/60 px-4 py-2">
      {allowed.map((allowedMethod) => (
        <Badge key={allowedMethod}>{allowedMethod}</Badge>
      ))}
      {address === undefined ? (
        <span className="text-muted">no public address yet</span>
      ) : (
        <>
          <span className="mono min-w-0 break-all">{address}</span>
          <Copy text={address} subject="public address" />
        </>
      )}
      <span className="text-muted">
        Rate limit: {perMinute === undefined ? 'none' : `${perMinute} a minute`} · Access:{' '}
        {endpointWords(endpoint).access}
        {isAsynchronous && ' · asynchronous'}
      </span>
      <span className="ml-auto flex flex-wrap items-center gap-x-3 gap-y-1">
        <Button icon={Pencil} needs="apiendpoint.update" onPress={() => setChanging(true)}>
          Change
        </Button>
        <Button icon={Send} needs="all" isDisabled={address === undefined} onPress={send}>
          Send a request
        </Button>
        <Button icon={Terminal} isDisabled={address === undefined} onPress={() => void copyCurl()}>
          Copy as curl
        </Button>
        <PlaceLink to={{ screen: 'resources', id: endpoint.id }} label={`All properties of ${endpoint.name}`}>
          All properties
        </PlaceLink>
      </span>
      {isChanging && <EndpointDialog endpoint={endpoint} onClose={() => setChanging(false)} />}
    </li>
  );
}
