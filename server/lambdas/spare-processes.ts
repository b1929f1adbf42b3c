import { availableParallelism, freemem } from 'node:os';
import type { LambdaProcess } from './lambda-process.ts';

/** From the use of a spare to the start of the next: the start is not to compete with the call that needed the spare. */
const REFILL_AFTER_MS = 100;
/** For so long a lambda counts that has needed a process, or is likely to need one: it is new, or has been changed. */
const EXPECTED_MS = 20_000;
/** More lambdas that change, and are not called, are no person at work but an import: nobody is about to call them all. */
const MOST_CHANGED = 40;
/** Spares at a time, whatever is asked for. */
const MOST = 20;
/** Of the memory that is free, spares take a tenth at most. */
const MEMORY_SHARE = 0.1;
const SPARE_BYTES = 40 * 1024 * 1024;

/** Generic processes started ahead, so that a cold call needs no fork: one for each lambda that is likely to need one soon. */
export class SpareProcesses {
  readonly #least: number;
  readonly #nowMs: () => number;
  readonly #start: () => LambdaProcess | undefined;
  readonly #spares = new Set<LambdaProcess>();
  /** When which lambda was changed, or was called and needed a process, whichever came last. */
  readonly #requests = new Map<string, { atMs: number; wasCalled: boolean }>();
  /** Those that load. */
  #loading = 0;
  #refillTimer: NodeJS.Timeout | undefined;
  /** When that is due, by the monotonic clock: what is asked for earlier comes earlier. */
  #refillAtMs = 0;
  #isStopped = false;

  /** `least`: how many to keep, 0 for none at any time; `start` gives none where there is no place for one. */
  constructor(options: { least: number; nowMs(): number; start(): LambdaProcess | undefined }) {
    this.#least = options.least;
    this.#nowMs = options.nowMs;
    this.#start = options.start;
  }

  get size(): number {
    return this.#spares.size;
  }

  /** The lambda is likely to need a process soon. */
  expect(lambdaId: string): void {
    this.#asked(lambdaId, false);
  }

  /** The one that was started first, if there is one. It is the taker's from then on. */
  take(lambdaId: string): LambdaProcess | undefined {
    this.#asked(lambdaId, true);
    const [oldest] = this.#spares;
    if (oldest) this.#spares.delete(oldest);
    return oldest?.isAlive ? oldest : undefined;
  }

  /** Ends one; false when there is none. */
  end(): boolean {
    const [oldest] = this.#spares;
    if (!oldest) return false;
    this.#spares.delete(oldest);
    oldest.kill();
    return true;
  }

  /** A call is likely, whoever's; not as soon as the first request, with whose answer the start of a process would compete. */
  begin(): void {
    this.#refillLater(REFILL_AFTER_MS);
  }

  /** Starts no more; those that are there are left to their owner. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#refillTimer);
  }

  /** Starts what is missing, a few at a time, and ends what is too many. */
  #refill(): void {
    clearTimeout(this.#refillTimer);
    this.#refillTimer = undefined;
    if (this.#isStopped) return;
    const wanted = this.#wanted();
    while (this.#spares.size > wanted) this.end();
    while (this.#spares.size < wanted && this.#loading < availableParallelism()) {
      const spare = this.#start();
      if (!spare) break;
      this.#follow(spare);
    }
    // What is asked for now is not for ever.
    if (wanted > this.#least) this.#refillLater(EXPECTED_MS / 4);
  }

  #asked(lambdaId: string, wasCalled: boolean): void {
    this.#requests.set(lambdaId, { atMs: this.#nowMs(), wasCalled });
    this.#refillLater(REFILL_AFTER_MS);
  }

  #refillLater(afterMs: number): void {
    const atMs = performance.now() + afterMs;
    if (this.#refillTimer && this.#refillAtMs <= atMs) return;
    clearTimeout(this.#refillTimer);
    this.#refillAtMs = atMs;
    this.#refillTimer = setTimeout(() => this.#refill(), afterMs).unref();
  }

  #wanted(): number {
    const sinceMs = this.#nowMs() - EXPECTED_MS;
    let [called, changed] = [0, 0];
    for (const [lambdaId, { atMs, wasCalled }] of this.#requests) {
      if (atMs < sinceMs) this.#requests.delete(lambdaId);
      else if (wasCalled) called += 1;
      else changed += 1;
    }
    // Those that were called have a process now; more than one for each core is not started at once for what they may still need.
    const count = Math.min(called, availableParallelism()) + (changed > MOST_CHANGED ? 0 : changed);
    const most = Math.min(MOST, Math.floor((freemem() * MEMORY_SHARE) / SPARE_BYTES));
    return this.#least === 0 ? 0 : Math.max(this.#least, Math.min(count, most));
  }

  #follow(spare: LambdaProcess): void {
    this.#spares.add(spare);
    this.#loading += 1;
    void Promise.race([spare.ready, spare.exited]).then(() => {
      this.#loading -= 1;
      if (spare.isAlive) this.#refill();
    });
    void spare.exited.then(() => this.#spares.delete(spare));
  }
}
