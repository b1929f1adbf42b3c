import { isJsonObject, jsonIn } from '../../../../server/model/json.ts';
import type { RecordedExchange } from '../../api/traffic.ts';

/** The reason that the gateway itself rejected a request. */
export interface Refusal {
  /** The message of the response, and how far the request came. */
  explanation: string;
  /** The next step; undefined if the response states it. */
  next: string | undefined;
}

/** Undefined for successful requests, and for responses of a lambda, a container or the management API, which explain themselves. */
export function refusalOf(exchange: RecordedExchange): Refusal | undefined {
  const { plane, status, executionId, upstreamMs, steps } = exchange;
  if (plane !== 'gateway' || status === undefined || status < 400) return undefined;
  if (executionId !== undefined || (upstreamMs > 0 && status < 502)) return undefined;
  const message = messageIn(exchange.response?.body?.text);
  const last = steps.at(-1)?.name;
  const rejectedBy = last === undefined ? 'routing: no endpoint was found' : rejectingStepOf(exchange);
  return {
    explanation: `${status}: ${message ?? 'the response gives no reason'} (rejected by ${rejectedBy}).`,
    next: nextOf(exchange),
  };
}

/** Names the check of the gateway that rejected a request. */
export function rejectingStepOf({ status, steps, response }: RecordedExchange): string {
  if (status === 429) {
    const perMinute = headerOf(response, 'x-ratelimit-limit-minute');
    return perMinute === undefined ? 'the rate limit' : `the rate limit, ${perMinute}/${perMinute} in this minute`;
  }
  if (status === 401 || status === 403) return 'authorization';
  if (status === 405) return 'the methods of the endpoint';
  if (status === 413) return 'the size limit of bodies';
  return `the step after ${steps.at(-1)?.name ?? 'the start'}`;
}

function nextOf({ status = 0, response }: RecordedExchange): string | undefined {
  const seconds = headerOf(response, 'retry-after');
  return status === 429 && seconds !== undefined
    ? `The endpoint accepted calls again ${seconds} s after this request. To accept more, raise its limit.`
    : NEXT[status];
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

function messageIn(body: string | undefined): string | undefined {
  const parsed = jsonIn(body ?? '');
  return isJsonObject(parsed) && typeof parsed.message === 'string' ? parsed.message : undefined;
}
