// Taken at start: a lambda may replace the globals of its own process.
const hrtime = process.hrtime.bind(process);

/** Milliseconds by the machine's clock that nobody sets. All processes of the machine read the same. */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = hrtime();
  return seconds * 1_000 + nanoseconds / 1_000_000;
}

/**
 * Epoch milliseconds to a tenth: which millisecond it is the wall clock says, which tenth of it the monotonic one.
 *
 * @param nowMs the wall clock, whole milliseconds
 */
export function fineClock(nowMs: () => number, monotonic: () => number = monotonicMs): () => number {
  let aheadMs = nowMs() - monotonic();
  return () => {
    const [wholeMs, runMs] = [nowMs(), monotonic()];
    const atMs = Math.min(Math.max(wholeMs, aheadMs + runMs), wholeMs + 0.95);
    aheadMs = atMs - runMs;
    return Math.floor(atMs * 10) / 10;
  };
}
