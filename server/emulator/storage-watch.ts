/** How often to look without being asked. */
const LOOK_EVERY_MS = 1000;

export interface StorageWatchOptions {
  /** What is wrong with the storage at this moment, a sentence each. */
  failures(): readonly string[];
  /** Told once when something has begun to be wrong, and once when all is well again. */
  tell(message: string): void;
}

/**
 * Says on the terminal that nothing can be saved, and when it can be again: whoever has removed a data folder, or filled a
 * disk, may sit in front of it, while the clients that are refused are far away.
 */
export class StorageWatch {
  readonly #options: StorageWatchOptions;
  readonly #timer: NodeJS.Timeout;
  readonly #told = new Set<string>();

  constructor(options: StorageWatchOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.look(), LOOK_EVERY_MS).unref();
  }

  /** What is wrong now, each once (D-015). */
  look(): string[] {
    const failures = new Set(this.#options.failures());
    for (const failure of failures) if (!this.#told.has(failure)) this.#options.tell(failure);
    if (failures.size === 0 && this.#told.size > 0) this.#options.tell('The data folder can be written to again.');
    this.#told.clear();
    for (const failure of failures) this.#told.add(failure);
    return [...failures];
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
