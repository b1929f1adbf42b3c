import { PlatformError } from '../model/errors.ts';

const WINDOW_MS = 60_000;
/** Longest user name that can exist (D-031); longer ones share a counter with what they begin with. */
const MAX_NAME_LENGTH = 255;
/** More than one machine's users; whoever guesses at names pushes out the oldest. */
const MAX_WINDOWS = 10_000;

interface Window {
  startedAtMs: number;
  count: number;
}

/** An attempt to sign in under way: it counts as failed until it is known to have succeeded. */
export interface Attempt {
  succeeded(): void;
}

/**
 * Counts failed attempts to sign in per user and client address, in windows of a minute that begin with the first one (D-171,
 * D-185). Whoever has the right password is not kept out by what others try from elsewhere.
 */
export class AttemptLimiter {
  readonly #limitPerMinute: number;
  readonly #nowMs: () => number;
  /** In the order in which the windows began. */
  readonly #windows = new Map<string, Window>();

  constructor(limitPerMinute: number, nowMs: () => number) {
    this.#limitPerMinute = limitPerMinute;
    this.#nowMs = nowMs;
  }

  /** Begins an attempt. @returns the seconds to wait, 1 or more, when there were too many */
  begin(user: string, address: string | undefined): Attempt | { waitS: number } {
    const nowMs = this.#nowMs();
    const key = JSON.stringify([user.slice(0, MAX_NAME_LENGTH), address?.replace(/^::ffff:/i, '')]);
    const window = this.#open(key, nowMs);
    if (window.count >= this.#limitPerMinute) {
      return { waitS: Math.ceil((window.startedAtMs + WINDOW_MS - nowMs) / 1000) };
    }
    // Counted before it is checked: of many at once no more than the limit are.
    window.count++;
    return { succeeded: () => void window.count-- };
  }

  #open(key: string, nowMs: number): Window {
    const found = this.#windows.get(key);
    if (found && isOpen(found, nowMs)) return found;
    for (const [old, window] of this.#windows) {
      if (isOpen(window, nowMs) && this.#windows.size < MAX_WINDOWS) break;
      this.#windows.delete(old);
    }
    const window = { startedAtMs: nowMs, count: 0 };
    this.#windows.delete(key);
    this.#windows.set(key, window);
    return window;
  }
}

/** One that began in the future is over: the clock was set back, and nobody knows when it would end. */
function isOpen({ startedAtMs }: Window, nowMs: number): boolean {
  return startedAtMs <= nowMs && nowMs < startedAtMs + WINDOW_MS;
}

/** What whoever has to wait is told (D-171). */
export function tooManyAttempts(waitS: number): PlatformError {
  return new PlatformError(429, `too many failed attempts, wait ${waitS} seconds`, {
    headers: { 'Retry-After': String(waitS) },
  });
}
