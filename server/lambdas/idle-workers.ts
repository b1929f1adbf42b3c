import type { PoolWorker } from './pool-worker.ts';

/** Of several processes of a lambda all but one leave when they have been without work for so long. */
const EXTRA_IDLE_MS = 5_000;

/** A lambda's processes that have no work. */
export class IdleWorkers {
  /** Last used last. */
  readonly #workers: PoolWorker[] = [];
  readonly #options: { idleMs: number; least(): number; all(): number };
  #timer: NodeJS.Timeout | undefined;

  /** `idleMs`: after that the last one leaves, too; `least`: so many are kept ready; `all`: processes, those at work included. */
  constructor(options: { idleMs: number; least(): number; all(): number }) {
    this.#options = options;
  }

  /** The one that has had no work for longest. */
  get idlest(): PoolWorker | undefined {
    return this.#workers[0];
  }

  push(worker: PoolWorker): void {
    worker.idleSinceMs = performance.now();
    this.#workers.push(worker);
    this.#lookLater();
  }

  /** The one that was used last, if there is one: the others may leave. */
  pop(): PoolWorker | undefined {
    return this.#workers.pop();
  }

  /** Those that the test means leave. */
  retireWhere(isMeant: (worker: PoolWorker) => boolean): void {
    for (const worker of this.#workers.filter(isMeant)) this.retire(worker);
  }

  retire(worker: PoolWorker): void {
    this.remove(worker);
    worker.process.kill();
  }

  remove(worker: PoolWorker): void {
    const at = this.#workers.indexOf(worker);
    if (at >= 0) this.#workers.splice(at, 1);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  get #extraMs(): number {
    return Math.min(this.#options.idleMs, EXTRA_IDLE_MS);
  }

  #lookLater(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#look();
    }, this.#extraMs).unref();
  }

  #look(): void {
    const { idleMs, least, all } = this.#options;
    let left = all();
    for (const worker of [...this.#workers]) {
      const forMs = performance.now() - worker.idleSinceMs;
      const isOver = forMs >= idleMs || (left > 1 && forMs >= this.#extraMs);
      if (!isOver || this.#workers.length <= least()) break;
      this.retire(worker);
      left -= 1;
    }
    if (this.#workers.length > least()) this.#lookLater();
  }
}
