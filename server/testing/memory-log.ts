import type { KeyedLog } from '../model/keyed-log.ts';

/** A log in memory. */
export class MemoryLog<T> implements KeyedLog<T> {
  readonly #records = new Map<string, T>();
  /** The result of `put`; replace it to delay or fail. */
  durable: () => Promise<void> = async () => {};
  get(key: string) {
    return this.#records.get(key);
  }
  entries() {
    return this.#records.entries();
  }
  get size() {
    return this.#records.size;
  }
  /** Visible immediately, and removed if it fails. */
  async put(key: string, value: T) {
    const before = this.#records.get(key);
    this.#records.set(key, value);
    try {
      await this.durable();
    } catch (failure) {
      if (before === undefined) this.#records.delete(key);
      else this.#records.set(key, before);
      throw failure;
    }
  }
  async remove(key: string) {
    return this.#records.delete(key);
  }
}
