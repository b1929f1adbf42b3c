import type { KeyedLog } from '../model/keyed-log.ts';

/** A log in memory; its writes fail while `failure` is set. */
export class MemoryLog<T> implements KeyedLog<T> {
  readonly #records = new Map<string, T>();
  failure: Error | undefined;
  get = (key: string) => this.#records.get(key);
  entries = () => this.#records.entries();
  get size() {
    return this.#records.size;
  }
  async put(key: string, record: T) {
    if (this.failure) throw this.failure;
    this.#records.set(key, record);
  }
  remove = async (key: string) => this.#records.delete(key);
}
