import { PlatformError } from '../model/errors.ts';

const WINDOW_MS = 60_000;

export interface LimitUse {
  perMinute: number;
  used: number;
  endsAtMs: number | undefined;
}

/** One endpoint's limit over all callers (D-155): calls in a window of 60 s that starts with its first counted call. */
export class RateLimit {
  readonly perMinute: number;
  #windowStartMs = Number.NEGATIVE_INFINITY;
  #counted = 0;

  constructor(perMinute: number) {
    this.perMinute = perMinute;
  }

  /** Counts a call at a time of a steady clock, in milliseconds. Throws 429 with Retry-After, without counting the call, if the limit is used up. */
  count(nowMs: number): void {
    if (!this.#isInWindow(nowMs)) {
      this.#windowStartMs = nowMs;
      this.#counted = 0;
    }
    if (this.#counted >= this.perMinute) {
      const seconds = Math.ceil((this.#windowStartMs + WINDOW_MS - nowMs) / 1000);
      throw new PlatformError('rate_limited', 'API rate limit exceeded', {
        headers: { 'Retry-After': String(seconds) },
      });
    }
    this.#counted++;
  }

  remaining(nowMs: number): number {
    return this.#isInWindow(nowMs) ? this.perMinute - this.#counted : this.perMinute;
  }

  use(nowMs: number): LimitUse {
    const { perMinute } = this;
    const endsAtMs = this.#isInWindow(nowMs) ? this.#windowStartMs + WINDOW_MS : undefined;
    return { perMinute, used: perMinute - this.remaining(nowMs), endsAtMs };
  }

  #isInWindow(nowMs: number): boolean {
    return nowMs < this.#windowStartMs + WINDOW_MS;
  }
}
