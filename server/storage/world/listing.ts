import type { StoredResource, Uuid } from '../../model/record.ts';
import type { TypeWord } from '../../model/type-words.ts';

export interface Entry {
  /** The current state; a new object after each change. */
  record: StoredResource;
  collection: TypeWord;
  /** Id of the owning organization (D-023); empty if an ancestor is missing. */
  owner: Uuid;
  /** The target ids of its references, and its keys; undefined until they are needed. */
  references: readonly string[] | undefined;
  /** Grows with each created resource: distinguishes resources of the same millisecond. */
  order: number;
}

export type KeyOf = (entry: Entry) => string;

const NO_RECORDS: readonly StoredResource[] = Object.freeze([]);

function byAge(a: Entry, b: Entry): number {
  const [atA, atB] = [a.record.created.at, b.record.created.at];
  if (atA !== atB) return atA < atB ? -1 : 1;
  return a.order - b.order;
}

/** The entries of a key, nearly always in the order of age. An older one that was added late is sorted on the next read. */
class Bucket {
  #entries = new Map<Uuid, Entry>();
  /** No entry is newer. The value and not the entry itself, whose age can change and which can be removed. */
  #newestAt = '';
  #newestOrder = 0;
  #isSorted = true;
  /** Parts of the list that were requested, by their second key; they are updated from then on. */
  #parts: Map<KeyOf, Listing> | undefined;

  get size(): number {
    return this.#entries.size;
  }

  add(entry: Entry): void {
    const { at } = entry.record.created;
    if (at < this.#newestAt || (at === this.#newestAt && entry.order < this.#newestOrder)) this.#isSorted = false;
    else {
      this.#newestAt = at;
      this.#newestOrder = entry.order;
    }
    this.#entries.set(entry.record.id, entry);
    for (const [keyOf, part] of this.#parts ?? []) part.add(keyOf(entry), entry);
  }

  /** @param entry as it was when it was added */
  delete(entry: Entry): void {
    this.#entries.delete(entry.record.id);
    for (const [keyOf, part] of this.#parts ?? []) part.remove(keyOf(entry), entry);
  }

  follow(before: Entry, after: Entry): void {
    for (const [keyOf, part] of this.#parts ?? []) part.move(before, after, keyOf);
  }

  /** The entries by a second key. The first request for a part of a long list scans the whole list. */
  part(keyOf: KeyOf): Listing {
    this.#parts ??= new Map();
    let part = this.#parts.get(keyOf);
    if (!part) {
      part = new Listing();
      for (const entry of this.#entries.values()) part.add(keyOf(entry), entry);
      this.#parts.set(keyOf, part);
    }
    return part;
  }

  records(): StoredResource[] {
    if (!this.#isSorted) {
      const sorted = [...this.#entries.values()].sort(byAge);
      this.#entries = new Map(sorted.map((entry) => [entry.record.id, entry]));
      this.#isSorted = true;
    }
    const records: StoredResource[] = [];
    for (const entry of this.#entries.values()) records.push(entry.record);
    return records;
  }
}

export class Listing {
  readonly #buckets = new Map<string, Bucket>();

  list(key: string): readonly StoredResource[] {
    return this.#buckets.get(key)?.records() ?? NO_RECORDS;
  }

  part(key: string, keyOf: KeyOf, within: string): readonly StoredResource[] {
    return this.#buckets.get(key)?.part(keyOf).list(within) ?? NO_RECORDS;
  }

  isWithin(key: string, keyOf: KeyOf, within: string): boolean {
    const bucket = this.#buckets.get(key);
    return bucket === undefined || bucket.part(keyOf).#buckets.get(within)?.size === bucket.size;
  }

  has(key: string): boolean {
    return this.#buckets.has(key);
  }

  add(key: string, entry: Entry): void {
    let bucket = this.#buckets.get(key);
    if (!bucket) {
      bucket = new Bucket();
      this.#buckets.set(key, bucket);
    }
    bucket.add(entry);
  }

  /** @param entry as it was when it was added */
  remove(key: string, entry: Entry): void {
    const bucket = this.#buckets.get(key);
    bucket?.delete(entry);
    if (bucket?.size === 0) this.#buckets.delete(key);
  }

  move(before: Entry, after: Entry, keyOf: KeyOf): void {
    const [oldKey, newKey] = [keyOf(before), keyOf(after)];
    if (oldKey === newKey) {
      this.#buckets.get(newKey)?.follow(before, after);
      return;
    }
    this.remove(oldKey, before);
    this.add(newKey, after);
  }
}
