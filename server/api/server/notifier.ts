import { EventEmitter } from 'node:events';
import type { Response } from 'express';
import { PlatformError } from '../../model/errors.ts';

export class Notifier {
  readonly #events = new EventEmitter().setMaxListeners(0);
  #isStopped = false;

  notify(topic: string): void {
    this.#events.emit(topic);
  }

  /**
   * Calls `find` until it returns enough: immediately, after each notification, and at the end of the wait, which a client that
   * disconnects and an error of `requireAccess` also end. Throws 503 if the platform stops before there is enough.
   */
  async waitFor<T>(
    find: () => T | Promise<T>,
    isEnough: (found: T) => boolean,
    wait: { topic: string; waitS: number; res: Response; requireAccess(): void },
  ): Promise<T> {
    const untilMs = performance.now() + wait.waitS * 1_000;
    for (;;) {
      wait.requireAccess();
      const found = await find();
      const leftMs = untilMs - performance.now();
      if (isEnough(found) || leftMs <= 0 || wait.res.closed) return found;
      if (this.#isStopped)
        throw new PlatformError(
          'stopping',
          'the platform is stopping, so it ended the wait. Repeat the request when the platform is running again.',
        );
      await this.#next(wait.topic, leftMs, wait.res);
    }
  }

  /** Ends all waits, and refuses new ones. */
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
