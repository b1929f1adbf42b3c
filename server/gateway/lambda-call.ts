import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Identification } from '../model/caller.ts';
import type { Uuid } from '../model/ids.ts';
import type { CallContext, LambdaCall } from '../model/invocation.ts';
import type { Exchange } from './exchange.ts';
import { queryParams } from './request-target.ts';

/** A call of a lambda, with a fresh execution id, made from a request (D-135, D-136). */
export function lambdaCall(
  exchange: Exchange,
  parts: {
    trigger: 'gateway' | 'async';
    body: Uint8Array;
    path: string;
    query: string;
    who: Identification;
    isHttpAware: boolean;
    apiEndpointId?: Uuid;
  },
): LambdaCall {
  const { trigger, body, path, query, who, isHttpAware, apiEndpointId } = parts;
  const { request } = exchange;
  const context: CallContext = {
    method: request.method ?? '',
    path,
    params: queryParams(query),
    headers: singleHeaders(request.headers),
    creds: request.headers.authorization ?? '',
    user: who.kind === 'caller' ? { id: who.caller.userId, name: who.caller.name } : null,
    httpAware: isHttpAware,
  };
  if (apiEndpointId !== undefined) context.apiEndpointId = apiEndpointId;
  return { executionId: randomUUID(), trigger, body, context };
}

/** Only Set-Cookie, which has no business in a request, can have several values in node:http. */
function singleHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const cookies = headers['set-cookie'];
  // Every other member is a string once it is there.
  return (cookies ? { ...headers, 'set-cookie': cookies.join(', ') } : headers) as Record<string, string>;
}
