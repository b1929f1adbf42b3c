export const defaultLimits = {
  requestBodyBytes: 10 * 1024 * 1024,
  requestTargetBytes: 8 * 1024,
  resultsPerLambda: 1000,
  /** Total size of finished results in memory; above it the oldest are removed early. */
  resultsBytes: 512 * 1024 * 1024,
  resultLifetimeS: 24 * 60 * 60,
  headersTimeoutMs: 20_000,
  requestTimeoutMs: 120_000,
  /** Timeout for a client to read more of a waiting response. */
  answerStallMs: 60_000,
  keepAliveTimeoutMs: 5_000,
  /** Timeout for open requests and asynchronous invocations when the gateway stops. */
  drainTimeoutMs: 3_500,
};

export type GatewayLimits = typeof defaultLimits;
