import { uptime } from 'node:os';

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

/** Epoch milliseconds with tenths by a clock that is never set, so that differences within an activity are durations. */
export function clockFrom(startMs: number, elapsedMs: () => number = monotonicMs): () => number {
  const aheadMs = startMs - elapsedMs();
  return () => Math.round((elapsedMs() + aheadMs) * 10) / 10;
}

/** The interval at which the uptime is read, and the shortest difference that counts as sleep: the clocks are read one after the other. */
const UPTIME_INTERVAL_MS = 1_000;
const SHORTEST_SLEEP_MS = 2_000;

/** Elapsed milliseconds that setting the clock does not change, with sleep, which the monotonic clock of Linux and macOS leaves out. */
export function steadyClock(
  monotonic: () => number = monotonicMs,
  uptimeMs: () => number = machineUptimeMs,
): () => number {
  const leadMs = uptimeMs() - monotonic();
  let sleptMs = 0;
  let readAtMs = monotonic();
  return () => {
    const awakeMs = monotonic();
    if (awakeMs - readAtMs >= UPTIME_INTERVAL_MS) {
      readAtMs = awakeMs;
      const newSleepMs = uptimeMs() - awakeMs - leadMs - sleptMs;
      if (newSleepMs >= SHORTEST_SLEEP_MS) sleptMs += newSleepMs;
    }
    return Math.trunc(awakeMs + sleptMs);
  };
}

const machineUptimeMs = () => uptime() * 1_000;

/** The platform's clock (D-222): the machine's, ahead by the time by which root advanced it. */
export class PlatformClock {
  readonly #steadyMs: () => number;
  #aheadMs = 0;

  /** @param steadyMs elapsed milliseconds, sleep included (steadyClock) */
  constructor(steadyMs: () => number) {
    this.#steadyMs = steadyMs;
  }

  get aheadMs(): number {
    return this.#aheadMs;
  }

  /** Milliseconds since 1970: for times that are shown or stored. */
  readonly nowMs = (): number => Date.now() + this.#aheadMs;

  /** Elapsed milliseconds that advance with this clock, but not when the machine's is set: for lifetimes and rate limits. */
  readonly lifetimeMs = (): number => this.#steadyMs() + this.#aheadMs;

  /** @param byMs negative to move back */
  move(byMs: number): void {
    this.#aheadMs += byMs;
  }
}

/** Parts in which `afterRunning` counts its time. */
const RUNNING_PARTS = 30;

/** Calls a function after this process has run so long. Time in which it was stopped, as by `Ctrl Z`, counts as one thirtieth at most. */
export function afterRunning(ms: number, work: () => void): { stop(): void } {
  let partsLeft = RUNNING_PARTS;
  const timer = setInterval(() => {
    partsLeft -= 1;
    if (partsLeft > 0) return;
    clearInterval(timer);
    work();
  }, ms / RUNNING_PARTS).unref();
  return { stop: () => clearInterval(timer) };
}
