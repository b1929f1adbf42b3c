import type { IncomingMessage } from 'node:http';

/** Who may read an endpoint's answers from a page (D-158). */
export interface CorsPolicy {
  /** The only origins that may; undefined: any. */
  origins: readonly string[] | undefined;
  /** May their pages send cookies and passwords along? */
  allowsCredentials: boolean;
}

/** The policy of an endpoint that says nothing, and of the gateway's own routes. */
export const ANY_ORIGIN: CorsPolicy = { origins: undefined, allowsCredentials: false };

const EXPOSED = [
  'X-RateLimit-Limit-Minute',
  'X-RateLimit-Remaining-Minute',
  'X-Terrarium-Proxy-Latency',
  'X-Terrarium-Upstream-Latency',
  'X-Terrarium-Execution-Id',
  'Server-Timing',
  'Retry-After',
].join(', ');

const FOR_ANY_ORIGIN: readonly string[] = [
  'Access-Control-Allow-Origin',
  '*',
  'Access-Control-Expose-Headers',
  EXPOSED,
];

/** The header lines that every answer of an endpoint has for pages: names and values alternating. */
export function corsHeaders(policy: CorsPolicy, origin: string | undefined): readonly string[] {
  if (!policy.origins) return FOR_ANY_ORIGIN;
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

/** The method that a page asks leave for; undefined when the request is no preflight. */
export function preflightedMethod(request: IncomingMessage): string | undefined {
  return request.method === 'OPTIONS' && request.headers.origin !== undefined
    ? request.headers['access-control-request-method']
    : undefined;
}

/**
 * The header lines of a preflight's answer besides those of every answer.
 *
 * @param methods what the endpoint takes, as an `Allow` header lists it
 */
export function preflightHeaders(methods: string, request: IncomingMessage): string[] {
  const wanted = request.headers['access-control-request-headers'];
  return [
    'Access-Control-Allow-Methods',
    methods,
    ...(wanted ? ['Access-Control-Allow-Headers', wanted, 'Vary', 'Access-Control-Request-Headers'] : []),
  ];
}
