/** The times between which something is valid, in milliseconds since 1970, as stored and shown. */
export interface Lifetime {
  startsAtMs: number;
  endsAtMs: number;
}

/**
 * The ends of lifetimes of one kind. They are stored as times of the wall clock, so that they are right for readers and after a restart.
 * While the platform runs, a steady clock decides: setting the machine's clock neither ends what is valid nor revives what has expired.
 */
export class Lifetimes {
  readonly lifetimeMs: number;
  readonly #nowMs: () => number;
  readonly #steadyMs: () => number;
  /** When this platform started, by both clocks. */
  readonly #start: { nowMs: number; steadyMs: number };
  /** When each lifetime that began on this platform ends, by the steady clock. */
  readonly #deadlinesMs = new Map<string, number>();

  /** @param steadyMs the clock that decides (steadyClock in clock.ts) */
  constructor(lifetimeMs: number, nowMs: () => number, steadyMs: () => number) {
    this.lifetimeMs = lifetimeMs;
    this.#nowMs = nowMs;
    this.#steadyMs = steadyMs;
    this.#start = { nowMs: nowMs(), steadyMs: steadyMs() };
  }

  begin(id: string): Lifetime {
    const startsAtMs = this.#nowMs();
    this.#deadlinesMs.set(id, this.#steadyMs() + this.lifetimeMs);
    return { startsAtMs, endsAtMs: startsAtMs + this.lifetimeMs };
  }

  /** @param endsAtMs the stored end, which decides for what began before this platform started */
  isOver(id: string, endsAtMs: number): boolean {
    return this.#steadyMs() >= (this.#deadlinesMs.get(id) ?? this.#deadlineOf(endsAtMs));
  }

  forget(id: string): void {
    this.#deadlinesMs.delete(id);
  }

  /** Returns the end by the steady clock, at most one lifetime after the start, even if the clock was set back before. */
  #deadlineOf(endsAtMs: number): number {
    return this.#start.steadyMs + Math.min(endsAtMs - this.#start.nowMs, this.lifetimeMs);
  }
}
