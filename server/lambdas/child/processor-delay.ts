import { readFileSync } from 'node:fs';

/** Less is not looked into: reading takes longer than most calls. */
const UNSURE_MS = 5;
const NANOSECONDS = 1e6;

// Taken at start: a lambda may replace what Node has.
const read = readFileSync;

/** How long this process had to wait for a processor, which on a busy machine looks as if a handler had blocked. */
export class ProcessorDelay {
  /** Until it was last read. */
  #knownMs = delayMs();

  /** What of a time that nobody accounts for it was; 0 where the system does not tell. */
  within(unknownMs: number): number {
    if (unknownMs < UNSURE_MS) return 0;
    const beforeMs = this.#knownMs;
    this.#knownMs = delayMs();
    return Math.min(unknownMs, this.#knownMs - beforeMs);
  }
}

/** Of the main thread, since its start. */
function delayMs(): number {
  try {
    return Number(read('/proc/self/schedstat', 'latin1').split(' ')[1]) / NANOSECONDS;
  } catch {
    return 0;
  }
}
