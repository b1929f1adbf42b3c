import { shellWord } from '../../../server/model/shell-command.ts';
import { addressOf, type Query } from './client.ts';
import type { RecordedExchange } from './use-traffic.ts';

/** The headers that every client sets itself, or that belong to one connection. */
const LEFT_OUT = new Set(
  'host connection content-length accept-encoding transfer-encoding expect user-agent'.split(' '),
);
const HIDDEN = '<hidden>';

/** A request as a command for a POSIX shell. What was hidden of it is left for the reader to fill in. */
export function curlOf(
  { method, target, request }: Pick<RecordedExchange, 'method' | 'target' | 'request'>,
  address: string,
  ...options: readonly string[]
): string {
  const url = /^https?:/i.test(target) ? target : `${address.replace(/\/$/, '')}${target}`;
  const parts = [`curl ${method === 'GET' ? '' : `-X ${method} `}${shellWord(url)}`, ...options];
  for (const [name, value] of meaningfulHeaders(request.headers)) parts.push(`-H ${shellWord(`${name}: ${value}`)}`);
  const { text, isCut } = request.body ?? {};
  if (text !== undefined && text !== '' && !isCut) parts.push(`--data-raw ${shellWord(text)}`);
  return parts.join(' \\\n  ');
}

/** The headers that a caller chose. Hidden values are left for the reader to fill in. */
export function meaningfulHeaders(headers: readonly (readonly [string, string])[]): [string, string][] {
  return headers
    .filter(([name, value]) => {
      const lowerName = name.toLowerCase();
      const acceptsAll = lowerName.startsWith('accept') && /^\*(\/\*)?$/.test(value);
      return !acceptsAll && !LEFT_OUT.has(lowerName) && !lowerName.startsWith('sec-');
    })
    .map(([name, value]) => [name, value.replace(HIDDEN, 'FILL-IN')]);
}

/** A request to the platform itself. */
export interface ShownRequest {
  method: string;
  /** From the root of the server, e.g. `/meta/root/users`. */
  path: string;
  query?: Query;
  body?: unknown;
}

/**
 * Returns the curl command for a request that the window shows. The command takes the key pair from the variables that
 * `terrarium exec` sets.
 */
export function curlText({ method, path, query, body }: ShownRequest, baseUrl: string): string {
  const type = method === 'PATCH' && Array.isArray(body) ? 'application/json-patch+json' : 'application/json';
  const headers: [string, string][] = body === undefined ? [] : [['Content-Type', type]];
  const text = body === undefined ? '' : JSON.stringify(body, null, 2);
  const request = { headers, body: { text, sizeBytes: text.length } };
  const exchange = { method, target: addressOf(path, query), request };
  return curlOf(exchange, baseUrl, '-u "$PLATFORM_API_KEY:$PLATFORM_API_SECRET"');
}
