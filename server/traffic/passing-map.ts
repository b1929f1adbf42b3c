/** After so many additions it begins anew. */
const ADDITIONS = 1_000;

/**
 * A Map whose members come and go. V8 moves what a Map holds from table to table and has each refer to the next: a table that it has come to
 * take for long-lived keeps all that follow, with what was in them, until the whole heap is collected. Here they end with their Map.
 */
export class PassingMap<K, V> {
  #members = new Map<K, V>();
  #additions = 0;

  get size(): number {
    return this.#members.size;
  }

  get(key: K): V | undefined {
    return this.#members.get(key);
  }

  /** Oldest first, as in a Map. */
  values(): IterableIterator<V> {
    return this.#members.values();
  }

  set(key: K, value: V): void {
    this.#additions += 1;
    // No more often than as many as there are have been added: what is carried over costs each addition the same.
    if (this.#additions > Math.max(ADDITIONS, this.#members.size)) {
      this.#members = new Map(this.#members);
      this.#additions = 0;
    }
    this.#members.set(key, value);
  }

  /** Was it there? */
  delete(key: K): boolean {
    return this.#members.delete(key);
  }

  deleteOldest(): void {
    for (const oldest of this.#members.keys()) {
      this.#members.delete(oldest);
      break;
    }
  }
}
