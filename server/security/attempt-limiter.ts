const WINDOW_MS = 60_000;

/** Counts attempts per name in windows of a minute that begin with a name's first attempt (D-185). */
export class AttemptLimiter {
  readonly #limitPerMinute: number;
  readonly #nowMs: () => number;
  /** In the order in which the windows began. */
  readonly #windows = new Map<string, { startedAtMs: number; count: number }>();

  constructor(limitPerMinute: number, nowMs: () => number) {
    this.#limitPerMinute = limitPerMinute;
    this.#nowMs = nowMs;
  }

  /** Counts an attempt, unless the name's limit is reached: then false. */
  admit(name: string): boolean {
    const nowMs = this.#nowMs();
    this.#dropEnded(nowMs);
    const window = this.#windows.get(name) ?? { startedAtMs: nowMs, count: 0 };
    if (window.count >= this.#limitPerMinute) return false;
    window.count++;
    this.#windows.set(name, window);
    return true;
  }

  #dropEnded(nowMs: number): void {
    for (const [name, window] of this.#windows) {
      if (window.startedAtMs + WINDOW_MS > nowMs) return;
      this.#windows.delete(name);
    }
  }
}
