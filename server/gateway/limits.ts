/** What the gateway puts up with (D-185). */
export interface GatewayLimits {
  /** Largest request body. */
  maxBodyBytes: number;
  /** Longest request target. */
  maxTargetBytes: number;
  /** For all headers of a request to arrive. */
  headersTimeoutMs: number;
  /** For a whole request to arrive. */
  requestTimeoutMs: number;
  /** For a connection without a request. */
  keepAliveTimeoutMs: number;
  /** For requests and asynchronous calls under way to end when the gateway stops. */
  drainTimeoutMs: number;
}

export const defaultLimits: GatewayLimits = {
  maxBodyBytes: 10 * 1024 * 1024,
  maxTargetBytes: 8 * 1024,
  headersTimeoutMs: 20_000,
  requestTimeoutMs: 120_000,
  keepAliveTimeoutMs: 5_000,
  drainTimeoutMs: 5_000,
};
