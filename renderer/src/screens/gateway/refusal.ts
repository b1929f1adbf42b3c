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
  const way = last === undefined ? 'no endpoint was found for it' : `last step: ${last}`;
  return { explanation: `${status}: ${message ?? 'the response gives no reason'} (${way}).`, next: NEXT[status] };
}

const NEXT: Readonly<Record<number, string>> = {
  401: 'Send an API key (Basic) or an access token (Bearer) of a user that the endpoint allows.',
  403: "Check the endpoint's security plugin and whitelist, and the caller's permissions.",
  404: 'Compare its path with the public addresses above: the first segment is the name of the API.',
  405: 'Use another method, or add this one to the endpoint.',
  429: 'Wait a minute, or raise the limit of the endpoint.',
  502: 'See the log of the container.',
  503: 'Check the target of the endpoint: it is not running.',
};

function messageIn(body: string | undefined): string | undefined {
  const parsed = jsonIn(body ?? '');
  return isJsonObject(parsed) && typeof parsed.message === 'string' ? parsed.message : undefined;
}
