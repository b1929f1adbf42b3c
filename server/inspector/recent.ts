export interface RecentOptions<T> {
  maxItems: number;
  /** Of what is kept of all items; when they come to more, the oldest are thinned. */
  maxBytes: number;
  sizeOf(item: T): number;
  /** The item without what takes much room. */
  thin(item: T): T;
  /** By which it is found; later ones win. */
  keyOf(item: T): string | undefined;
}

/** One item and its place: numbers grow without gaps. */
export interface Placed<T> {
  seq: number;
  item: T;
}

export interface PageWish<T> {
  limit: number;
  /** Only those older than this place. */
  before?: number | undefined;
  /** Only those newer than this place. */
  after?: number | undefined;
  isWanted(placed: Placed<T>): boolean;
  /** Looks at no more than so many; the page then ends early. */
  maxLooked: number;
}

/**
 * The newest of something, up to a number: what is older is forgotten. Of these the older ones lose their weight when all together
 * weigh too much. Adding costs the same however many there are.
 */
export class Recent<T> {
  readonly #options: RecentOptions<T>;
  readonly #ring: ({ item: T; sizeBytes: number; key: string | undefined } | undefined)[] = [];
  readonly #byKey = new Map<string, number>();
  #next = 1;
  /** Everything before this place is thinned. */
  #thinnedUntil = 1;
  #sizeBytes = 0;

  constructor(options: RecentOptions<T>) {
    this.#options = options;
  }

  get size(): number {
    return Math.min(this.#next - 1, this.#options.maxItems);
  }

  /** About so much memory is held. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Place of the newest; 0 when there is none. */
  get newest(): number {
    return this.#next - 1;
  }

  get #oldest(): number {
    return Math.max(1, this.#next - this.#options.maxItems);
  }

  add(item: T): void {
    const { maxItems, maxBytes, sizeOf, keyOf } = this.#options;
    const seq = this.#next++;
    const slot = seq % maxItems;
    const old = this.#ring[slot];
    if (old) {
      this.#sizeBytes -= old.sizeBytes;
      if (old.key !== undefined && this.#byKey.get(old.key) === seq - maxItems) this.#byKey.delete(old.key);
    }
    const [sizeBytes, key] = [sizeOf(item), keyOf(item)];
    this.#ring[slot] = { item, sizeBytes, key };
    this.#sizeBytes += sizeBytes;
    if (key !== undefined) this.#byKey.set(key, seq);
    this.#thinnedUntil = Math.max(this.#thinnedUntil, this.#oldest);
    while (this.#sizeBytes > maxBytes && this.#thinnedUntil < this.#next) this.#thin(this.#thinnedUntil++);
  }

  /** Newest first. `next` leads on, as `before`, when older ones may follow. */
  page({ limit, before = this.#next, after = 0, isWanted, maxLooked }: PageWish<T>): {
    items: Placed<T>[];
    next: number | undefined;
  } {
    const items: Placed<T>[] = [];
    const until = Math.max(this.#oldest, after + 1);
    let looked = 0;
    for (let seq = Math.min(before, this.#next) - 1; seq >= until; seq--) {
      if (items.length === limit || looked++ === maxLooked) return { items, next: seq + 1 };
      const entry = this.#ring[seq % this.#options.maxItems];
      if (!entry) continue;
      const placed = { seq, item: entry.item };
      if (isWanted(placed)) items.push(placed);
    }
    return { items, next: undefined };
  }

  /** The newest one of that key, while it is kept. */
  find(key: string): Placed<T> | undefined {
    const seq = this.#byKey.get(key);
    return seq === undefined ? undefined : this.at(seq);
  }

  /** The one at a place, while it is kept. */
  at(seq: number): Placed<T> | undefined {
    if (seq < this.#oldest || seq >= this.#next) return undefined;
    const entry = this.#ring[seq % this.#options.maxItems];
    return entry && { seq, item: entry.item };
  }

  #thin(seq: number): void {
    const entry = this.#ring[seq % this.#options.maxItems];
    if (!entry) return;
    entry.item = this.#options.thin(entry.item);
    const sizeBytes = this.#options.sizeOf(entry.item);
    this.#sizeBytes -= entry.sizeBytes - sizeBytes;
    entry.sizeBytes = sizeBytes;
  }
}
