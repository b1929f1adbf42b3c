import type { ServerOptions } from 'node:http';

/** How long a client may take to send, milliseconds. */
export interface ArrivalTimes {
  /** The head of a request. */
  headersMs: number;
  /** All of a request, its body included. */
  requestMs: number;
}

/** What listeners allow that have no limits of their own. */
const ARRIVAL_TIMES: ArrivalTimes = { headersMs: 20_000, requestMs: 60_000 };

/** How often node:http looks for connections past their time; its own 30 s would come on top of each. */
const CHECK_MS = 1_000;

/** Options of a listener that cuts off clients which send a byte now and then: each holds a connection, and memory. */
export function cutSlowClients({ headersMs, requestMs }: ArrivalTimes = ARRIVAL_TIMES): ServerOptions {
  return { headersTimeout: headersMs, requestTimeout: requestMs, connectionsCheckingInterval: CHECK_MS };
}
