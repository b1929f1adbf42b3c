/** When a crashed server is restarted. */
export interface RestartPolicy {
  /** Delay of the first restart, milliseconds; it doubles with each crash within the window. */
  firstDelayMs: number;
  maxDelayMs: number;
  /** With more crashes than this within the window, the server is not restarted. */
  maxCrashes: number;
  windowMs: number;
}

export const RESTART_POLICY: RestartPolicy = {
  firstDelayMs: 500,
  maxDelayMs: 10_000,
  maxCrashes: 5,
  windowMs: 60_000,
};

/**
 * The delay after the last of these crashes, milliseconds; undefined if the server must not be restarted.
 *
 * @param crashesAtMs times of the crashes in ascending order, on a monotonic clock
 */
export function restartDelayMs(policy: RestartPolicy, crashesAtMs: readonly number[]): number | undefined {
  const last = crashesAtMs.at(-1) ?? 0;
  const recent = crashesAtMs.filter((atMs) => last - atMs < policy.windowMs).length;
  if (recent > policy.maxCrashes) return undefined;
  return Math.min(policy.maxDelayMs, policy.firstDelayMs * 2 ** (recent - 1));
}
