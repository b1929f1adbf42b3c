import type { Response } from 'express';
import { PlatformError } from '../model/errors.ts';

/** Lets requests wait for what has not come yet (long polling). */
export class Arrivals {
  readonly #waiting = new Map<string, Set<() => void>>();
  #isStopped = false;

  /** Something of this topic is here. */
  announce(topic: string): void {
    for (const wake of this.#waiting.get(topic) ?? []) wake();
  }

  /**
   * Looks until there is enough: at once, at each arrival, and a last time when the wait is over.
   *
   * @param wait.waitS seconds
   * @param wait.res the answer that waits: nobody waits on when its client has gone
   * @throws PlatformError 503 when it is not enough and the platform stops
   */
  async look<T>(
    find: () => T | Promise<T>,
    isEnough: (found: T) => boolean,
    wait: { topic: string; waitS: number; res: Response },
  ): Promise<T> {
    const untilMs = performance.now() + wait.waitS * 1_000;
    for (;;) {
      const found = await find();
      const leftMs = untilMs - performance.now();
      if (isEnough(found) || leftMs <= 0 || wait.res.closed) return found;
      if (this.#isStopped) throw new PlatformError(503, 'the platform is stopping: there is nothing to wait for');
      await this.#next(wait.topic, leftMs, wait.res);
    }
  }

  /** Whoever waits is told; nobody waits from now on. */
  stop(): void {
    this.#isStopped = true;
    for (const topic of this.#waiting.keys()) this.announce(topic);
  }

  #next(topic: string, timeoutMs: number, res: Response): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(topic) ?? new Set();
      this.#waiting.set(topic, waiting);
      const wake = () => {
        clearTimeout(timer);
        res.off('close', wake);
        waiting.delete(wake);
        if (waiting.size === 0 && this.#waiting.get(topic) === waiting) this.#waiting.delete(topic);
        resolve();
      };
      const timer = setTimeout(wake, timeoutMs);
      res.on('close', wake);
      waiting.add(wake);
    });
  }
}
