import { heldBytes } from '../../model/held-bytes.ts';
import type { KeyedLog } from '../../model/keyed-log.ts';

export interface Caps {
  maxItems: number;
  maxBytes: number;
}

/** The newest records of a log, up to a number and a total size: the oldest are removed when one is added, but never the new one. */
export class CappedLog<T> implements KeyedLog<T> {
  readonly #log: KeyedLog<T>;
  readonly #caps: Caps;
  readonly #sizes = new Map<string, number>();
  #sizeBytes = 0;

  constructor(log: KeyedLog<T>, caps: Caps) {
    this.#log = log;
    this.#caps = caps;
    for (const [key, record] of log.entries()) this.#count(key, heldBytes(record));
  }

  get size(): number {
    return this.#log.size;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  get(key: string): T | undefined {
    return this.#log.get(key);
  }

  entries(): IterableIterator<[string, T]> {
    return this.#log.entries();
  }

  async put(key: string, record: T): Promise<void> {
    const before = this.#sizes.get(key);
    this.#count(key, heldBytes(record));
    try {
      await this.#log.put(key, record);
    } catch (failure) {
      this.#count(key, before);
      throw failure;
    }
    // The new record is saved. A failed removal of an old one is not reported to the client, and retried with the next.
    await Promise.allSettled(this.#surplus(key).map((oldest) => this.remove(oldest)));
  }

  async remove(key: string): Promise<boolean> {
    const before = this.#sizes.get(key);
    this.#count(key, undefined);
    try {
      return await this.#log.remove(key);
    } catch (failure) {
      this.#count(key, before);
      throw failure;
    }
  }

  #surplus(newest: string): string[] {
    const { maxItems, maxBytes } = this.#caps;
    const keys: string[] = [];
    let [items, bytes] = [this.size, this.#sizeBytes];
    for (const [key] of this.#log.entries()) {
      if (items <= maxItems && bytes <= maxBytes) break;
      if (key === newest) continue;
      keys.push(key);
      items -= 1;
      bytes -= this.#sizes.get(key) ?? 0;
    }
    return keys;
  }

  #count(key: string, sizeBytes: number | undefined): void {
    this.#sizeBytes += (sizeBytes ?? 0) - (this.#sizes.get(key) ?? 0);
    if (sizeBytes === undefined) this.#sizes.delete(key);
    else this.#sizes.set(key, sizeBytes);
  }
}
