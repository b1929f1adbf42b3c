interface Waiter {
  sinceMs: number;
  isWanted(): boolean;
  settle(hasSlot: boolean): void;
}

export interface SlotsOptions {
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
