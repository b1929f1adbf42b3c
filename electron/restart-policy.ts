/** When a server that crashed is started again. */
export interface RestartPolicy {
  /** Wait before the first restart, milliseconds; it doubles with each crash within the window. */
  firstDelayMs: number;
  maxDelayMs: number;
  /** More crashes than this within the window, and it is left alone. */
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
 * How long to wait after the last of these crashes, milliseconds; undefined when it is time to give up.
 *
 * @param crashesAtMs when it crashed, the last one last, on a clock that only goes forward
 */
export function restartDelayMs(policy: RestartPolicy, crashesAtMs: readonly number[]): number | undefined {
  const last = crashesAtMs.at(-1) ?? 0;
  const recent = crashesAtMs.filter((atMs) => last - atMs < policy.windowMs).length;
  if (recent > policy.maxCrashes) return undefined;
  return Math.min(policy.maxDelayMs, policy.firstDelayMs * 2 ** (recent - 1));
}
