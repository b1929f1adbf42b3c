export interface GatewayLimits {
  requestBodyBytes: number;
  requestTargetBytes: number;
  resultsPerLambda: number;
  /** Total size of finished results in memory; above it the oldest are removed early. */
  resultsBytes: number;
  resultLifetimeS: number;
  headersTimeoutMs: number;
  requestTimeoutMs: number;
  /** Timeout for a client to read more of a waiting response. */
  answerStallMs: number;
  keepAliveTimeoutMs: number;
  /** Timeout for open requests and asynchronous invocations when the gateway stops. */
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
