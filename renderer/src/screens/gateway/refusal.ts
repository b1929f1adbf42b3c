import { jsonIn, memberOf } from '../../../../server/model/json.ts';
import type { RecordedExchange } from '../../api/use-traffic.ts';

export interface Refusal {
  /** The message of the response, and how far the request came. */
  explanation: string;
  /** The next step; undefined if the response states it. */
  next: string | undefined;
}

/** Undefined for successful requests, and for responses of a lambda, a container or the management API, which explain themselves. */
export function refusalOf(exchange: RecordedExchange): Refusal | undefined {
  const { plane, status, executionId, upstreamMs } = exchange;
  if (plane !== 'gateway' || status === undefined || status < 400) return undefined;
  if (executionId !== undefined || (upstreamMs > 0 && status < 502)) return undefined;
  const { message, reason } = errorIn(exchange.response?.body?.text);
  return {
    explanation: `${status}: ${message ?? 'the response gives no reason'} (rejected by ${rejectingCheckOf(exchange)}).`,
    next: nextOf(exchange, reason),
  };
}

/** The checks of the gateway, by the reason in its response. */
const CHECKS: Readonly<Record<string, string>> = {
  host_not_allowed: 'the check of the host name',
  url_too_long: 'the size limit of addresses',
  no_endpoint: 'routing: no endpoint was found',
  method_not_allowed: 'the methods of the endpoint',
  unauthenticated: 'authorization',
  forbidden: 'authorization',
  address_not_allowed: "the endpoint's list of addresses",
  request_timeout: 'the time limit of requests',
  rate_limited: 'the rate limit',
  body_too_large: 'the size limit of bodies',
};

export function rejectingCheckOf({ steps, response }: RecordedExchange): string {
  const { reason = '' } = errorIn(response?.body?.text);
  const perMinute = reason === 'rate_limited' ? headerOf(response, 'x-ratelimit-limit-minute') : undefined;
  if (perMinute !== undefined) return `${CHECKS[reason]}, ${perMinute}/${perMinute} in this minute`;
  return CHECKS[reason] ?? `the check after the step ${steps.at(-1)?.name ?? 'start'}`;
}

function nextOf({ status = 0, response }: RecordedExchange, reason: string | undefined): string | undefined {
  const seconds = headerOf(response, 'retry-after');
  if (reason === 'rate_limited' && seconds !== undefined)
    return `The endpoint accepted calls again ${seconds} s after this request. To accept more, raise its limit.`;
  // The message names the accepted hosts and the setting.
  return reason === 'host_not_allowed' ? undefined : NEXT[status];
}

function headerOf(response: RecordedExchange['response'], name: string): string | undefined {
  return response?.headers.find(([header]) => header.toLowerCase() === name)?.[1];
}

const NEXT: Readonly<Record<number, string>> = {
  401: 'Send an API key (Basic) or an access token (Bearer) of a user that the endpoint allows.',
  403: "Check the endpoint's security plugin and whitelist, and the caller's permissions.",
  404: 'Compare its path with the public addresses above: the first segment is the name of the API.',
  405: 'Use another method, or add this one to the endpoint.',
  429: "Wait a minute, or raise the endpoint's limit.",
  502: 'See the log of the container.',
  503: 'Check the target of the endpoint: it is not running.',
};

function errorIn(body: string | undefined): { message: string | undefined; reason: string | undefined } {
  const parsed = jsonIn(body ?? '');
  const [message, reason] = [memberOf(parsed, 'message'), memberOf(parsed, 'reason')];
  return {
    message: typeof message === 'string' ? message : undefined,
    reason: typeof reason === 'string' ? reason : undefined,
  };
}
