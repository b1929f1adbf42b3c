import { isJsonObject, jsonIn } from '../../../../server/model/json.ts';
import type { RecordedExchange } from '../../api/traffic.ts';

/** Why the gateway itself refused a request. */
export interface Refusal {
  /** In the words of its answer, and how far the request came. */
  what: string;
  /** What helps; undefined when the answer says that already. */
  next: string | undefined;
}

/** Undefined for what was answered well, or by a lambda, a container or the management API: their answers are theirs to explain. */
export function refusalOf(exchange: RecordedExchange): Refusal | undefined {
  const { plane, status, executionId, upstreamMs, steps } = exchange;
  if (plane !== 'gateway' || status === undefined || status < 400) return undefined;
  if (executionId !== undefined || (upstreamMs > 0 && status < 502)) return undefined;
  const message = messageIn(exchange.response?.body?.text);
  const last = steps.at(-1)?.name;
  const way = last === undefined ? 'no endpoint was found for it' : `it came as far as: ${last}`;
  return { what: `${status}: ${message ?? 'the answer says no more'} (${way}).`, next: NEXT[status] };
}

const NEXT: Readonly<Record<number, string>> = {
  401: 'Send an API key (Basic) or an access token (Bearer) of somebody whom the endpoint names.',
  403: "Look at the endpoint's security plugin and whitelist, and at what the caller may do.",
  404: 'Compare its path with the public addresses above: the first segment is the name of the API.',
  405: 'Use another method, or add this one to the endpoint.',
  429: 'Wait for the minute to end, or raise the limit of the endpoint.',
  502: "The container's own log says what became of it.",
  503: 'Look at where the endpoint leads: what is there does not run.',
};

function messageIn(body: string | undefined): string | undefined {
  const parsed = jsonIn(body ?? '');
  return isJsonObject(parsed) && typeof parsed.message === 'string' ? parsed.message : undefined;
}
