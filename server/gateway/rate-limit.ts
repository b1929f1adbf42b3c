import { PlatformError } from '../model/errors.ts';

const WINDOW_MS = 60_000;

/** How much of a limit is used. */
export interface LimitUse {
  perMinute: number;
  used: number;
  /** When the window ends that is open now, epoch milliseconds; undefined when none is. */
  endsAtMs: number | undefined;
}

/**
 * The limit of one endpoint, over all its callers (D-155): at most `perMinute` calls are let through in a window of 60 s
 * that begins with its first counted call.
 */
export class RateLimit {
  readonly perMinute: number;
  #windowStartMs = Number.NEGATIVE_INFINITY;
  #counted = 0;

  /** @param perMinute an integer, at least 1 */
  constructor(perMinute: number) {
    this.perMinute = perMinute;
  }

  /** Counts a call at a time in epoch milliseconds; throws 429 with Retry-After, without counting it, when none is left. */
  count(nowMs: number): void {
    if (!this.#isInWindow(nowMs)) {
      this.#windowStartMs = nowMs;
      this.#counted = 0;
    }
    if (this.#counted >= this.perMinute) {
      const seconds = Math.ceil((this.#windowStartMs + WINDOW_MS - nowMs) / 1000);
      throw new PlatformError(429, 'API rate limit exceeded', { headers: { 'Retry-After': String(seconds) } });
    }
    this.#counted++;
  }

  /** Calls left in the window of that time. */
  remaining(nowMs: number): number {
    return this.#isInWindow(nowMs) ? this.perMinute - this.#counted : this.perMinute;
  }

  /** How it stands at that time. */
  use(nowMs: number): LimitUse {
    const { perMinute } = this;
    const endsAtMs = this.#isInWindow(nowMs) ? this.#windowStartMs + WINDOW_MS : undefined;
    return { perMinute, used: perMinute - this.remaining(nowMs), endsAtMs };
  }

  /** A clock that was set back ends the window too, so that it never lasts longer than it says. */
  #isInWindow(nowMs: number): boolean {
    return nowMs >= this.#windowStartMs && nowMs < this.#windowStartMs + WINDOW_MS;
  }
}
