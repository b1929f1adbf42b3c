// Saved at start: a lambda can replace the globals of its own process.
const hrtime = process.hrtime.bind(process);

/** Milliseconds of the monotonic clock of the machine. All processes of the machine read the same. */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = hrtime();
  return seconds * 1_000 + nanoseconds / 1_000_000;
}

/** Epoch milliseconds of the machine, also while the tests in this process fake `Date`. Other programs check certificates by it. */
export const machineMs = (): number => performance.timeOrigin + performance.now();

/** Epoch milliseconds with tenths: the wall clock determines the millisecond, the monotonic clock the tenth. */
export function fineClock(nowMs: () => number, monotonic: () => number = monotonicMs): () => number {
  let aheadMs = nowMs() - monotonic();
  return () => {
    const [wholeMs, runMs] = [nowMs(), monotonic()];
    const atMs = Math.min(Math.max(wholeMs, aheadMs + runMs), wholeMs + 0.95);
    aheadMs = atMs - runMs;
    return Math.floor(atMs * 10) / 10;
  };
}

/** The wall clock at the start plus the time since then: setting the clock does not change it, and it stays valid after a restart. */
export function steadyClock(nowMs: () => number, monotonic: () => number = monotonicMs): () => number {
  const aheadMs = nowMs() - monotonic();
  return () => Math.trunc(aheadMs + monotonic());
}
