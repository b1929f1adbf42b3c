import { availableParallelism, freemem } from 'node:os';
import type { LambdaProcess } from './lambda-process.ts';

/** From the use of a spare to the start of the next: the start is not to compete with the call that needed the spare. */
const REFILL_AFTER_MS = 100;
/** For so long a lambda counts that has needed a process, or is likely to need one: it is new, or has been changed. */
const EXPECTED_MS = 20_000;
/** More lambdas that change, and are not called, are an import and no person at work: they are not all about to be called. */
const MOST_CHANGED = 40;
const MOST = 20;
const MEMORY_SHARE = 0.1;
const SPARE_BYTES = 40 * 1024 * 1024;

interface SpareOptions {
  /** Number to keep, 0 for none. */
  least: number;
  steadyMs(): number;
  /** Starts a process, if there is a free slot. */
  start(): LambdaProcess | undefined;
}

/** Generic processes started ahead, so that a cold call needs no fork: one for each lambda that is likely to need one soon. */
export class SpareProcesses {
  readonly #options: SpareOptions;
  readonly #spares = new Set<LambdaProcess>();
  /** When which lambda was changed, or was called and needed a process, whichever came last. */
  readonly #requests = new Map<string, { atMs: number; wasCalled: boolean }>();
  #loading = 0;
  #refillTimer: NodeJS.Timeout | undefined;
  /** Time of the next start on the monotonic clock; an earlier request moves it forward. */
  #refillAtMs = 0;
  #isStopped = false;

  constructor(options: SpareOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#spares.size;
  }

  expect(lambdaId: string): void {
    this.#noteRequest(lambdaId, false);
  }

  /** The one that was started first, if there is one. It is the taker's from then on. */
  take(lambdaId: string): LambdaProcess | undefined {
    this.#noteRequest(lambdaId, true);
    const [oldest] = this.#spares;
    if (!oldest) return undefined;
    this.#spares.delete(oldest);
    return oldest.isAlive ? oldest : undefined;
  }

  end(): boolean {
    const [oldest] = this.#spares;
    if (!oldest) return false;
    this.#spares.delete(oldest);
    oldest.kill();
    return true;
  }

  /** A call is likely; not as soon as the first request, with whose answer the start of a process would compete. */
  begin(): void {
    this.#refillLater(REFILL_AFTER_MS);
  }

  /** Starts no more; those that are there are left to their owner. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#refillTimer);
  }

  #refill(): void {
    clearTimeout(this.#refillTimer);
    this.#refillTimer = undefined;
    if (this.#isStopped) return;
    const expectedSpares = this.#expectedSpares();
    while (this.#spares.size > expectedSpares) this.end();
    while (this.#spares.size < expectedSpares && this.#loading < availableParallelism()) {
      const spare = this.#options.start();
      if (!spare) break;
      this.#follow(spare);
    }
    // What is asked for now is not for ever.
    if (expectedSpares > this.#options.least) this.#refillLater(EXPECTED_MS / 4);
  }

  #noteRequest(lambdaId: string, wasCalled: boolean): void {
    this.#requests.set(lambdaId, { atMs: this.#options.steadyMs(), wasCalled });
    this.#refillLater(REFILL_AFTER_MS);
  }

  #refillLater(afterMs: number): void {
    const atMs = performance.now() + afterMs;
    if (this.#refillTimer && this.#refillAtMs <= atMs) return;
    clearTimeout(this.#refillTimer);
    this.#refillAtMs = atMs;
    this.#refillTimer = setTimeout(() => this.#refill(), afterMs).unref();
  }

  #expectedSpares(): number {
    const sinceMs = this.#options.steadyMs() - EXPECTED_MS;
    let [called, changed] = [0, 0];
    for (const [lambdaId, { atMs, wasCalled }] of this.#requests) {
      if (atMs < sinceMs) this.#requests.delete(lambdaId);
      else if (wasCalled) called += 1;
      else changed += 1;
    }
    // Those that were called have a process now; more than one for each core is not started at once for what they may still need.
    const count = Math.min(called, availableParallelism()) + (changed > MOST_CHANGED ? 0 : changed);
    const most = Math.min(MOST, Math.floor((freemem() * MEMORY_SHARE) / SPARE_BYTES));
    return this.#options.least === 0 ? 0 : Math.max(this.#options.least, Math.min(count, most));
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

interface Waiter {
  sinceMs: number;
  isWanted(): boolean;
  settle(hasSlot: boolean): void;
}

interface SlotsOptions {
  max: number;
  /** Ends an idle process; false if all are busy. Its slot is free once it has ended. */
  endIdle(): boolean;
}

export class ProcessSlots {
  readonly #options: SlotsOptions;
  readonly #waiting: Waiter[] = [];
  #usedSlots = 0;
  #leaving = 0;

  constructor(options: SlotsOptions) {
    this.#options = options;
  }

  /** Since when has a process been waiting for which none is leaving yet? */
  get awaitedSinceMs(): number | undefined {
    this.#dismiss((waiter) => !waiter.isWanted());
    return this.#waiting[this.#leaving]?.sinceMs;
  }

  get isFree(): boolean {
    return this.#usedSlots < this.#options.max && this.#waiting.length === 0;
  }

  tryTake(): boolean {
    if (!this.isFree) return false;
    this.#usedSlots += 1;
    return true;
  }

  /** Resolves to true with a place that is now taken, to false when it was of no use any more before there was one. */
  take(isWanted: () => boolean): Promise<boolean> {
    if (this.tryTake()) return Promise.resolve(true);
    return new Promise((settle) => {
      this.#waiting.push({ sinceMs: performance.now(), isWanted, settle });
      this.releaseOne();
    });
  }

  releaseOne(): void {
    while (this.awaitedSinceMs !== undefined && this.#options.endIdle()) this.#leaving += 1;
  }

  release(): void {
    this.#usedSlots -= 1;
    this.#leaving = Math.max(0, this.#leaving - 1);
    this.#dismiss((waiter) => !waiter.isWanted());
    while (this.#usedSlots < this.#options.max) {
      const next = this.#waiting.shift();
      if (!next) return;
      this.#usedSlots += 1;
      next.settle(true);
    }
  }

  close(): void {
    this.#dismiss(() => true);
  }

  #dismiss(isDismissed: (waiter: Waiter) => boolean): void {
    for (const waiter of this.#waiting.filter(isDismissed)) {
      this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
      waiter.settle(false);
    }
  }
}
