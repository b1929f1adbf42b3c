/** The newest of something, up to a number: what is older is forgotten. Adding costs the same however many there are. */
export class Recent<T> {
  readonly #max: number;
  readonly #items: { seq: number; item: T }[] = [];
  #next = 1;

  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return Math.min(this.#items.length, this.#max);
  }

  add(item: T): void {
    this.#items.push({ seq: this.#next++, item });
    // Not at every one: moving an array's rest along has its price.
    if (this.#items.length >= this.#max * 2) this.#items.splice(0, this.#items.length - this.#max);
  }

  /** Newest first, older than a place that an earlier page ended at. */
  page(
    limit: number,
    before: number | undefined,
    isWanted: (item: T) => boolean,
  ): { items: T[]; next: number | undefined } {
    const items: T[] = [];
    const oldest = Math.max(0, this.#items.length - this.#max);
    for (let at = this.#items.length - 1; at >= oldest; at--) {
      const entry = this.#items[at];
      if (!entry || (before !== undefined && entry.seq >= before) || !isWanted(entry.item)) continue;
      if (items.length === limit) return { items, next: entry.seq + 1 };
      items.push(entry.item);
    }
    return { items, next: undefined };
  }

  find(isWanted: (item: T) => boolean): T | undefined {
    return this.page(1, undefined, isWanted).items[0];
  }
}
