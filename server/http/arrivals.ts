import { EventEmitter } from 'node:events';
import type { Response } from 'express';
import { PlatformError } from '../model/errors.ts';

/** Lets requests wait for what has not come yet (long polling). */
export class Arrivals {
  /** By their topics. */
  readonly #events = new EventEmitter().setMaxListeners(0);
  #isStopped = false;

  /** Something of this topic is here. */
  announce(topic: string): void {
    this.#events.emit(topic);
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
    for (const topic of this.#events.eventNames()) this.#events.emit(topic);
  }

  #next(topic: string, timeoutMs: number, res: Response): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        res.off('close', wake);
        this.#events.off(topic, wake);
        resolve();
      };
      const timer = setTimeout(wake, timeoutMs);
      res.on('close', wake);
      this.#events.on(topic, wake);
    });
  }
}
