import { PlatformError } from '../../model/errors.ts';

const WINDOW_MS = 60_000;
/** Longest possible user name (D-031); longer ones share the counter of their first characters. */
const MAX_NAME_LENGTH = 255;
/** More than the users of one machine; guessed names displace the oldest ones. */
const MAX_USERS = 10_000;
/**
 * Maximum number of addresses of one user: addresses displace only others of the same user, because one user of a
 * machine has millions of loopback addresses.
 */
const MAX_ADDRESSES = 100;

interface Window {
  startedAtMs: number;
  count: number;
}

/** For each failed attempt from other addresses, and at most. */
const SLOWER_MS = 50;
const SLOWEST_MS = 5_000;

/** An attempt to sign in under way: it counts as failed until it is known to have succeeded. */
export interface Attempt {
  succeeded(): void;
  /** Returns the delay before a failure is reported: the more attempts from other addresses failed, the longer. */
  failureDelayMs(): number;
}

/**
 * Counts failed attempts to sign in per user and client address, in windows of a minute that begin with the first one (D-171,
 * D-185). Attempts from other addresses do not lock out a user with the correct password, but failures are reported later then: one user of
 * a machine has millions of loopback addresses.
 */
export class AttemptLimiter {
  readonly #limitPerMinute: number;
  readonly #nowMs: () => number;
  /** In the order in which the windows started: of each user at all addresses, and of each user and address. */
  readonly #users = new Map<string, Window & { addresses: Map<string, Window> }>();

  constructor(limitPerMinute: number, nowMs: () => number) {
    this.#limitPerMinute = limitPerMinute;
    this.#nowMs = nowMs;
  }

  /** Begins an attempt. Throws 429 when there were too many (D-171). */
  begin(user: string, address: string | undefined): Attempt {
    const nowMs = this.#nowMs();
    const name = user.slice(0, MAX_NAME_LENGTH);
    const newWindow = { startedAtMs: nowMs, count: 0 };
    const addresses = this.#users.get(name)?.addresses ?? new Map<string, Window>();
    const ofUser = open(this.#users, name, { ...newWindow, addresses }, MAX_USERS);
    const window = open(addresses, address?.replace(/^::ffff:/i, '') ?? '', newWindow, MAX_ADDRESSES);
    if (window.count >= this.#limitPerMinute) {
      const waitS = Math.ceil((window.startedAtMs + WINDOW_MS - nowMs) / 1000);
      throw new PlatformError('too_many_attempts', `too many failed attempts, wait ${waitS} seconds`, {
        headers: { 'Retry-After': String(waitS) },
      });
    }
    // Counted before it is checked: of many at once no more than the limit are.
    window.count++;
    ofUser.count++;
    return {
      succeeded() {
        window.count--;
        ofUser.count--;
      },
      failureDelayMs: () => Math.min((ofUser.count - window.count) * SLOWER_MS, SLOWEST_MS),
    };
  }
}

/** The window of a key; drops those that are long over, and the oldest if there are too many. */
function open<One extends Window>(windows: Map<string, One>, key: string, newWindow: One, max: number): One {
  const found = windows.get(key);
  if (found && isOpen(found, newWindow.startedAtMs)) return found;
  for (const [old, window] of windows) {
    // A minute longer than needed, for the addresses of a user that began later.
    if (isOpen(window, newWindow.startedAtMs - WINDOW_MS) && windows.size < max) break;
    windows.delete(old);
  }
  windows.delete(key);
  windows.set(key, newWindow);
  return newWindow;
}

function isOpen({ startedAtMs }: Window, nowMs: number): boolean {
  // A window that starts much later is from before the clock moved back (D-222).
  return nowMs >= startedAtMs - WINDOW_MS && nowMs < startedAtMs + WINDOW_MS;
}
