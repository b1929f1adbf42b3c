import type { Uuid } from '../model/ids.ts';
import type { StoredResource } from '../model/record.ts';
import type { TypeWord } from '../model/type-words.ts';
import { inTurns } from './turns.ts';

/** A resource with what the indexes know of it. */
export interface Entry {
  /** The present state; another object after each change. */
  record: StoredResource;
  word: TypeWord;
  /** Id of the owning organization (D-023); empty when what it hangs on is not there. */
  owner: Uuid;
  /** The ids that it names; undefined as long as nobody has looked. */
  references: readonly Uuid[] | undefined;
  /** Grows with each resource that comes into the world: tells apart what was created in the same millisecond. */
  order: number;
}

/** The key under which an entry stands in a list. */
export type KeyOf = (entry: Entry) => string;

/** To go through fewer than that takes next to no time. */
const MANY = 2_000;
const NO_RECORDS: readonly StoredResource[] = Object.freeze([]);

function byAge(a: Entry, b: Entry): number {
  const [atA, atB] = [a.record.created.at, b.record.created.at];
  if (atA !== atB) return atA < atB ? -1 : 1;
  return a.order - b.order;
}

/**
 * The entries under one key. A Map keeps them in the order they came in, which is nearly always their age, and gives
 * any of them up at the same cost; only when an older one came late they are sorted, when next asked for.
 */
class Bucket {
  #entries = new Map<Uuid, Entry>();
  /** Nothing here is newer. Not the entry itself, whose age may be changed by hand, or which may be gone. */
  #newestAt = '';
  #newestOrder = 0;
  #isSorted = true;
  /** Parts of it that were asked for, by what they have in common; from then on they follow it. */
  #parts: Map<KeyOf, Listing> | undefined;
  /** Grows with everything that parts have to follow. */
  #changes = 0;

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  add(entry: Entry): void {
    const { at } = entry.record.created;
    if (at < this.#newestAt || (at === this.#newestAt && entry.order < this.#newestOrder)) this.#isSorted = false;
    else {
      this.#newestAt = at;
      this.#newestOrder = entry.order;
    }
    this.#entries.set(entry.record.id, entry);
    this.#changes += 1;
    for (const [keyOf, part] of this.#parts ?? []) part.add(keyOf(entry), entry);
  }

  /** @param entry as it was when it came */
  delete(entry: Entry): void {
    this.#entries.delete(entry.record.id);
    this.#changes += 1;
    for (const [keyOf, part] of this.#parts ?? []) part.remove(keyOf(entry), entry);
  }

  /** Follows an entry that stays. */
  follow(before: Entry, after: Entry): void {
    this.#changes += 1;
    for (const [keyOf, part] of this.#parts ?? []) part.move(before, after, keyOf);
  }

  /**
   * Those of its entries that have one more key in common. Whoever asks first for such a part of many, before `prepare` has made it,
   * waits for as long as it takes to go through all.
   */
  part(keyOf: KeyOf, key: string): readonly StoredResource[] {
    this.#parts ??= new Map();
    let part = this.#parts.get(keyOf);
    if (!part) {
      part = new Listing();
      for (const entry of this.#entries.values()) part.add(keyOf(entry), entry);
      this.#parts.set(keyOf, part);
    }
    return part.list(key);
  }

  /** Makes a part of many ahead, while others have their turn. Where something changes meanwhile it is left to whoever asks. */
  async prepare(keyOf: KeyOf): Promise<void> {
    if (this.#entries.size < MANY || this.#parts?.has(keyOf)) return;
    const part = new Listing();
    const changes = this.#changes;
    await inTurns(this.#entries.values(), (entry) => part.add(keyOf(entry), entry));
    if (changes !== this.#changes) return;
    this.#parts ??= new Map();
    this.#parts.set(keyOf, part);
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

/** Lists of resources by a key, oldest first. */
export class Listing {
  readonly #buckets = new Map<string, Bucket>();

  /** What stands under a key now, oldest first. */
  list(key: string): readonly StoredResource[] {
    return this.#buckets.get(key)?.records() ?? NO_RECORDS;
  }

  /** What of that has one more key in common. */
  part(key: string, keyOf: KeyOf, within: string): readonly StoredResource[] {
    return this.#buckets.get(key)?.part(keyOf, within) ?? NO_RECORDS;
  }

  /** Makes such parts ahead, of what stands under each key. */
  async prepare(keyOf: KeyOf): Promise<void> {
    await inTurns(this.#buckets.values(), (bucket) => bucket.prepare(keyOf));
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

  /** @param entry as it was when it came */
  remove(key: string, entry: Entry): void {
    const bucket = this.#buckets.get(key);
    bucket?.delete(entry);
    if (bucket?.isEmpty) this.#buckets.delete(key);
  }

  /** Follows a change, where the key that an entry stands under may have become another one. */
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
