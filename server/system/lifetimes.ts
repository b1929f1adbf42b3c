/** The times between which something is valid, in milliseconds since 1970, as stored and shown. */
export interface Lifetime {
  startsAtMs: number;
  endsAtMs: number;
}

/** Shortest difference between a stored and an actual end that is corrected: adjusting the clock shifts it by less. */
const SHORTEST_STEP_MS = 2_000;

/** The ends of lifetimes of one kind, stored by the wall clock for readers and restarts. While the platform runs, a steady clock decides. */
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
    return this.#leftMs(id, endsAtMs) <= 0;
  }

  /**
   * Moves ends forward that are stored later than they are, because the clock was set back: the next start compares the stored ends with
   * the wall clock, and would revive what has ended. Ends are never moved back.
   *
   * @param log the records, by the ids of their lifetimes
   * @param member access to the end of a record, in milliseconds since 1970; undefined for one without
   */
  async settle<T>(
    log: { entries(): Iterable<[string, T]>; put(id: string, record: T): Promise<void> },
    member: { read(record: T): number | undefined; replace(record: T, endsAtMs: number): T },
  ): Promise<void> {
    const nowMs = this.#nowMs();
    const corrections: Promise<void>[] = [];
    for (const [id, record] of [...log.entries()]) {
      const storedMs = member.read(record);
      const actualMs = storedMs === undefined ? undefined : nowMs + this.#leftMs(id, storedMs);
      if (storedMs === undefined || actualMs === undefined || storedMs - actualMs < SHORTEST_STEP_MS) continue;
      corrections.push(log.put(id, member.replace(record, Math.trunc(actualMs))));
    }
    await Promise.all(corrections);
  }

  forget(id: string): void {
    this.#deadlinesMs.delete(id);
  }

  #leftMs(id: string, endsAtMs: number): number {
    return (this.#deadlinesMs.get(id) ?? this.#deadlineOf(endsAtMs)) - this.#steadyMs();
  }

  /** Returns the end by the steady clock, at most one lifetime after the start, even if the clock was set back before. */
  #deadlineOf(endsAtMs: number): number {
    return this.#start.steadyMs + Math.min(endsAtMs - this.#start.nowMs, this.lifetimeMs);
  }
}
