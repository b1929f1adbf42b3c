import type { ServerOptions } from 'node:http';

export interface ArrivalTimes {
  headersMs: number;
  requestMs: number;
}

/** The limits of listeners without explicit ones. */
const ARRIVAL_TIMES: ArrivalTimes = { headersMs: 20_000, requestMs: 60_000 };

/** Interval at which node:http checks the limits; its default of 30 s would add to each of them. */
const CHECK_MS = 1_000;

/** Options for a listener that disconnects slow clients, because each one uses a connection and memory. */
export function cutSlowClients({ headersMs, requestMs }: ArrivalTimes = ARRIVAL_TIMES): ServerOptions {
  return { headersTimeout: headersMs, requestTimeout: requestMs, connectionsCheckingInterval: CHECK_MS };
}
