import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { Identification } from '../model/caller.ts';
import type { Uuid } from '../model/ids.ts';
import type { CallContext, LambdaCall } from '../model/invocation.ts';
import { isSameList } from '../model/same-list.ts';
import type { Exchange } from './exchange.ts';
import { queryParams } from './request-target.ts';

interface ContextParts {
  path: string;
  query: string;
  who: Identification;
  isHttpAware: boolean;
  apiEndpointId?: Uuid;
}

/** The context of the call that came last over each connection, and what it was made of: the next one is often the same. */
const lastContexts = new WeakMap<Socket, { rawHeaders: readonly string[]; query: string; context: CallContext }>();

/** A call of a lambda, with a fresh execution id, made from a request (D-135, D-136). */
export function lambdaCall(
  exchange: Exchange,
  parts: { trigger: 'gateway' | 'async'; body: Uint8Array } & ContextParts,
): LambdaCall {
  const { trigger, body } = parts;
  return { executionId: randomUUID(), trigger, body, context: contextOf(exchange, parts) };
}

function contextOf({ request }: Exchange, parts: ContextParts): CallContext {
  const { path, query, who, isHttpAware, apiEndpointId } = parts;
  const { rawHeaders, method = '' } = request;
  const user = who.kind === 'caller' ? { id: who.caller.userId, name: who.caller.name } : null;
  const last = lastContexts.get(request.socket);
  if (
    last?.query === query &&
    last.context.path === path &&
    last.context.method === method &&
    last.context.apiEndpointId === apiEndpointId &&
    last.context.httpAware === isHttpAware &&
    last.context.user?.id === user?.id &&
    last.context.user?.name === user?.name &&
    isSameList(last.rawHeaders, rawHeaders)
  )
    return last.context;
  const context: CallContext = {
    method,
    path,
    params: queryParams(query),
    headers: singleHeaders(request.headers),
    creds: request.headers.authorization ?? '',
    user,
    httpAware: isHttpAware,
  };
  if (apiEndpointId !== undefined) context.apiEndpointId = apiEndpointId;
  lastContexts.set(request.socket, { rawHeaders, query, context });
  return context;
}

/** Only Set-Cookie, which has no business in a request, can have several values in node:http. */
function singleHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const cookies = headers['set-cookie'];
  // Every other member is a string once it is there.
  return (cookies ? { ...headers, 'set-cookie': cookies.join(', ') } : headers) as Record<string, string>;
}
