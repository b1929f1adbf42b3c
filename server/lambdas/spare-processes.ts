import type { LambdaProcess } from './lambda-process.ts';

/** From the use of a spare to the start of the next: the start is not to compete with the call that needed the spare. */
const REFILL_AFTER_MS = 100;

/** Generic processes started ahead, so that a cold call needs no fork. */
export class SpareProcesses {
  readonly #count: number;
  readonly #start: () => LambdaProcess | undefined;
  readonly #ready = new Set<LambdaProcess>();
  #refillTimer: NodeJS.Timeout | undefined;

  /** `count`: how many to keep; `start` gives none where there is no place for one. */
  constructor(count: number, start: () => LambdaProcess | undefined) {
    this.#count = count;
    this.#start = start;
  }

  get size(): number {
    return this.#ready.size;
  }

  /** The one that has been ready for longest, if there is one. It is the taker's from then on. */
  take(): LambdaProcess | undefined {
    const [oldest] = this.#ready;
    if (oldest) this.#ready.delete(oldest);
    this.#refillTimer ??= setTimeout(() => this.refill(), REFILL_AFTER_MS).unref();
    return oldest?.isAlive ? oldest : undefined;
  }

  /** Ends one; false when there is none. */
  end(): boolean {
    const [oldest] = this.#ready;
    if (!oldest) return false;
    this.#ready.delete(oldest);
    oldest.kill();
    return true;
  }

  /** Starts no more; those that are ready are left to their owner. */
  stop(): void {
    clearTimeout(this.#refillTimer);
  }

  /** Starts what is missing. */
  refill(): void {
    this.#refillTimer = undefined;
    while (this.#ready.size < this.#count) {
      const spare = this.#start();
      if (!spare) return;
      this.#ready.add(spare);
      void spare.exited.then(() => this.#ready.delete(spare));
    }
  }
}
