/** Somebody who waits for a place. */
interface Waiter {
  sinceMs: number;
  /** Is the place still of use? */
  isWanted(): boolean;
  settle(hasPlace: boolean): void;
}

export interface PlacesOptions {
  /** Processes at a time. */
  max: number;
  nowMs(): number;
  /** Ends one that has no work; false when all are at work. Its place is given back once it is gone. */
  endIdle(): boolean;
}

/** Places for the processes of all lambdas together: so many there are, and whoever comes when all are taken waits for a turn. */
export class ProcessPlaces {
  readonly #options: PlacesOptions;
  readonly #waiting: Waiter[] = [];
  #taken = 0;
  /** Processes that are being ended so that others can begin. */
  #leaving = 0;

  constructor(options: PlacesOptions) {
    this.#options = options;
  }

  /** Since when has somebody been waiting for whom nobody is leaving yet? */
  get awaitedSinceMs(): number | undefined {
    this.#dismiss((waiter) => !waiter.isWanted());
    return this.#waiting[this.#leaving]?.sinceMs;
  }

  /** Is there one that nobody waits for? */
  get isFree(): boolean {
    return this.#taken < this.#options.max && this.#waiting.length === 0;
  }

  /** Takes a place if there is one that nobody waits for. */
  tryTake(): boolean {
    if (!this.isFree) return false;
    this.#taken += 1;
    return true;
  }

  /** Resolves to true with a place that is now taken, to false when it was of no use any more before there was one. */
  take(isWanted: () => boolean): Promise<boolean> {
    if (this.tryTake()) return Promise.resolve(true);
    return new Promise((settle) => {
      this.#waiting.push({ sinceMs: this.#options.nowMs(), isWanted, settle });
      this.makeRoom();
    });
  }

  /** Has processes without work leave, as many as are waited for. */
  makeRoom(): void {
    while (this.awaitedSinceMs !== undefined && this.#options.endIdle()) this.#leaving += 1;
  }

  /** A process is gone. */
  giveBack(): void {
    this.#taken -= 1;
    this.#leaving = Math.max(0, this.#leaving - 1);
    this.#dismiss((waiter) => !waiter.isWanted());
    while (this.#taken < this.#options.max) {
      const next = this.#waiting.shift();
      if (!next) return;
      this.#taken += 1;
      next.settle(true);
    }
  }

  /** Nobody gets a place any more. */
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
