/** Cleanup steps of what was started, to run in reverse order. */
export class CleanupStack {
  readonly #steps: (() => unknown)[] = [];

  add(step: () => unknown): void {
    this.#steps.unshift(step);
  }

  /** Runs every step, even after a failure; throws the first failure at the end. */
  async run(): Promise<void> {
    const failures: unknown[] = [];
    for (const step of this.#steps.splice(0)) {
      try {
        await step();
      } catch (failure) {
        failures.push(failure);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
