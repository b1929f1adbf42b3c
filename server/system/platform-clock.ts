/** The platform's clock (D-222): the machine's, ahead by the time by which root advanced it. */
export class PlatformClock {
  readonly #steadyMs: () => number;
  #aheadMs = 0;

  /** @param steadyMs elapsed milliseconds, sleep included (steadyClock in clock.ts) */
  constructor(steadyMs: () => number) {
    this.#steadyMs = steadyMs;
  }

  get aheadMs(): number {
    return this.#aheadMs;
  }

  /** Milliseconds since 1970: for times that are shown or stored. */
  readonly nowMs = (): number => Date.now() + this.#aheadMs;

  /** Elapsed milliseconds that advance with this clock, but not when the machine's is set: for lifetimes and rate limits. */
  readonly lifetimeMs = (): number => this.#steadyMs() + this.#aheadMs;

  /** @param byMs negative to move back */
  move(byMs: number): void {
    this.#aheadMs += byMs;
  }
}
