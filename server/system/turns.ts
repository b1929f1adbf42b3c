/** Lets a few tasks run at a time; the others wait in line. */
export class Turns {
  readonly #maxRunning: number;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(maxRunning: number) {
    this.#maxRunning = maxRunning;
  }

  get waitingCount(): number {
    return this.#waiting.length;
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    // A task that ends hands its turn to the next in line, so that no later caller can take it.
    if (this.#running >= this.#maxRunning) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running += 1;
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running -= 1;
    }
  }
}
