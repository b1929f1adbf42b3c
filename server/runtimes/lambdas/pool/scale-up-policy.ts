import { availableParallelism } from 'node:os';

export interface CallTimes {
  /** From its beginning to its end, but for the time in which others had the processor that it wanted. */
  ranMs: number;
  computedMs: number;
  waitedMs: number;
}

/** While processes are at work, a call waits this long for one of them before others are started. */
const PATIENCE_MS = 10;
const PATIENCE_WITH_SHORT_MS = 50;
const SHORT_MS = 20;
/** Calls that wait for something, a host or a file, for more than this gain by running beside each other. */
const WAITING_MS = 1;
/** Calls that usually take longer are not waited for at all. */
const LONG_MS = 50;
/** Weight of one call in the average, and the longest duration that counts. */
const WEIGHT = 0.1;
const LONGEST_COUNTED_MS = 1_000;

/** Responses that arrived while this process was busy are read in one turn of the event loop and handled in two more. */
const TURNS_TO_END = 3;

export interface PoolState {
  waiting: number;
  starting: number;
  ready: number;
  longestWaitMs: number;
  /** The durations of the calls that run now; 0 for a call that only computes, until that is long. */
  runningForMs: readonly number[];
}

/** When a lambda needs more processes: for calls that compute fewer than there are cores, one at a time; for calls that wait, soon enough. */
export class ScaleUpPolicy {
  readonly #cores: number;
  readonly #look: () => void;
  #usual: CallTimes | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Did this process not have the processor when it was to look? More processes would have it still less. */
  #isLate = false;
  #immediate: NodeJS.Immediate | undefined;

  /** @param look called some time after `lookLater`; it asks `missing` */
  constructor(look: () => void, cores = availableParallelism()) {
    this.#look = look;
    this.#cores = cores;
  }

  learn(call: CallTimes): void {
    const usual = this.#usual;
    const average = (name: keyof CallTimes) => {
      const ms = Math.min(call[name], LONGEST_COUNTED_MS);
      return usual ? usual[name] + WEIGHT * (ms - usual[name]) : ms;
    };
    this.#usual = { ranMs: average('ranMs'), computedMs: average('computedMs'), waitedMs: average('waitedMs') };
  }

  get isShort(): boolean {
    if (!this.#usual) return false;
    const { ranMs, computedMs, waitedMs } = this.#usual;
    return Math.max(ranMs, computedMs) < SHORT_MS && waitedMs < WAITING_MS;
  }

  missing({ waiting, starting, ready, longestWaitMs, runningForMs }: PoolState): number {
    if (waiting <= starting || longestWaitMs < this.#patienceMs) return 0;
    const isHeldUp = runningForMs.length >= ready && runningForMs.every((ms) => ms >= PATIENCE_WITH_SHORT_MS);
    // For a lambda that is called for the first time, only the start-up time is known.
    const isLong = this.#usual ? !this.isShort : isHeldUp && !this.#isLate;
    if (isLong) return Math.max(0, Math.min(waiting, this.#cores) - starting);
    return starting === 0 && !this.#isLate && (isHeldUp || ready < this.#cores - 1) ? 1 : 0;
  }

  get #patienceMs(): number {
    return this.#usual && this.#usual.ranMs > LONG_MS ? 0 : PATIENCE_MS;
  }

  /** Looks again once what waits has waited for long, by no fault of this process. */
  lookLater(): void {
    if (!this.#timer && !this.#immediate) this.#wait(true);
  }

  #wait(isPatient: boolean): void {
    const afterMs = this.#patienceMs;
    const dueMs = performance.now() + afterMs;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#isLate = performance.now() > dueMs + PATIENCE_MS;
      if (isPatient && this.#isLate) return this.#wait(false);
      this.#lookAfter(TURNS_TO_END);
    }, afterMs);
  }

  #lookAfter(turns: number): void {
    this.#immediate = setImmediate(() => {
      if (turns > 1) return this.#lookAfter(turns - 1);
      this.#immediate = undefined;
      this.#look();
    });
  }

  stop(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#immediate);
  }
}
