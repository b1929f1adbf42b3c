import { readFileSync } from 'node:fs';

/** Less is not looked into: reading takes longer than most calls. */
const UNSURE_MS = 5;
const NANOSECONDS = 1e6;

// Taken at start: a lambda may replace what Node has.
const read = readFileSync;

/** Time that this process waited for a processor. On a busy machine it looks as if a handler had blocked. */
export class ProcessorDelay {
  #knownMs = delayMs();

  /** The part of a time that was a delay of the processor; 0 where the system does not report it. */
  within(unknownMs: number): number {
    if (unknownMs < UNSURE_MS) return 0;
    const beforeMs = this.#knownMs;
    this.#knownMs = delayMs();
    return Math.min(unknownMs, this.#knownMs - beforeMs);
  }
}

function delayMs(): number {
  try {
    return Number(read('/proc/self/schedstat', 'latin1').split(' ')[1]) / NANOSECONDS;
  } catch {
    return 0;
  }
}
