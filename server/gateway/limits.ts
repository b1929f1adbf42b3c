/** What the gateway puts up with and keeps (D-169, D-185). */
export interface GatewayLimits {
  /** Largest request body. */
  requestBodyBytes: number;
  /** Longest request target. */
  requestTargetBytes: number;
  /** Finished asynchronous results kept for each lambda. */
  resultsPerLambda: number;
  /** What memory holds for all finished results together: above it the oldest go before their time. */
  resultsBytes: number;
  /** How long a finished asynchronous result is kept. */
  resultLifetimeS: number;
  /** For all headers of a request to arrive. */
  headersTimeoutMs: number;
  /** For a whole request to arrive. */
  requestTimeoutMs: number;
  /** For a client to take more of an answer that waits for it. */
  answerStallMs: number;
  /** For a connection without a request. */
  keepAliveTimeoutMs: number;
  /** For requests and asynchronous calls under way to end when the gateway stops. */
  drainTimeoutMs: number;
}

export const defaultLimits: GatewayLimits = {
  requestBodyBytes: 10 * 1024 * 1024,
  requestTargetBytes: 8 * 1024,
  resultsPerLambda: 1000,
  resultsBytes: 512 * 1024 * 1024,
  resultLifetimeS: 24 * 60 * 60,
  headersTimeoutMs: 20_000,
  requestTimeoutMs: 120_000,
  answerStallMs: 60_000,
  keepAliveTimeoutMs: 5_000,
  drainTimeoutMs: 3_500,
};
