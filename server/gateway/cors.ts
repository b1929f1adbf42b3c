import type { IncomingMessage } from 'node:http';

/** The pages that can read the responses of an endpoint (D-158). */
export interface CorsPolicy {
  origins: readonly string[] | undefined;
  allowsCredentials: boolean;
}

export const ANY_ORIGIN: CorsPolicy = { origins: undefined, allowsCredentials: false };

const EXPOSED = [
  'X-RateLimit-Limit-Minute',
  'X-RateLimit-Remaining-Minute',
  'X-Terrarium-Proxy-Latency',
  'X-Terrarium-Upstream-Latency',
  'X-Terrarium-Execution-Id',
  'X-Terrarium-Target',
  'Server-Timing',
  'Retry-After',
].join(', ');

const ANY_ORIGIN_HEADERS: readonly string[] = [
  'Access-Control-Allow-Origin',
  '*',
  'Access-Control-Expose-Headers',
  EXPOSED,
];

export function corsHeaders(policy: CorsPolicy, origin: string | undefined): readonly string[] {
  if (!policy.origins) return ANY_ORIGIN_HEADERS;
  if (origin === undefined || !policy.origins.includes(origin)) return ['Vary', 'Origin'];
  return [
    'Vary',
    'Origin',
    'Access-Control-Allow-Origin',
    origin,
    ...(policy.allowsCredentials ? ['Access-Control-Allow-Credentials', 'true'] : []),
    'Access-Control-Expose-Headers',
    EXPOSED,
  ];
}

/** The method for which a page sends a preflight; undefined if the request is not a preflight. */
export function preflightedMethod(request: IncomingMessage): string | undefined {
  return request.method === 'OPTIONS' && request.headers.origin !== undefined
    ? request.headers['access-control-request-method']
    : undefined;
}

/** The headers of a preflight response besides those of every response. @param methods what the page may send */
export function preflightHeaders(methods: readonly string[], request: IncomingMessage): string[] {
  const { 'access-control-request-headers': requestedHeaders, 'access-control-request-private-network': isPrivate } =
    request.headers;
  return [
    'Access-Control-Allow-Methods',
    [...new Set(methods)].join(', '),
    ...(requestedHeaders
      ? ['Access-Control-Allow-Headers', requestedHeaders, 'Vary', 'Access-Control-Request-Headers']
      : []),
    // From a page of the Internet to this machine.
    ...(isPrivate === 'true' ? ['Access-Control-Allow-Private-Network', 'true'] : []),
  ];
}
