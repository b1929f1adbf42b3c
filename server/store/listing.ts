import type { Uuid } from '../model/ids.ts';
import type { StoredResource } from '../model/record.ts';
import type { TypeWord } from '../model/type-words.ts';

/** A resource with what the indexes know of it. Never changed in place. */
export interface Entry {
  record: StoredResource;
  word: TypeWord;
  /** Id of the owning organization (D-023); empty when what it hangs on is not there. */
  owner: Uuid;
  /** The ids that it names in its properties. */
  references: readonly Uuid[];
  /** Grows with each resource that comes into the world: tells apart what was created in the same millisecond. */
  order: number;
}

const NONE: readonly StoredResource[] = Object.freeze([]);

function byAge(a: Entry, b: Entry): number {
  if (a.record.created.at !== b.record.created.at) return a.record.created.at < b.record.created.at ? -1 : 1;
  return a.order - b.order;
}

/**
 * The entries under one key. A Map keeps them in the order they came in, which is nearly always their age, and gives
 * any of them up at the same cost; only when an older one came late they are sorted, when next asked for.
 */
class Bucket {
  #entries = new Map<Uuid, Entry>();
  #newest: Entry | undefined;
  #isSorted = true;
  #records: readonly StoredResource[] | undefined;

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  set(entry: Entry): void {
    const present = this.#entries.get(entry.record.id);
    if (!present) {
      if (this.#newest && byAge(entry, this.#newest) < 0) this.#isSorted = false;
      else this.#newest = entry;
    } else if (present.record.created.at !== entry.record.created.at) {
      this.#isSorted = false;
    }
    this.#entries.set(entry.record.id, entry);
    this.#records = undefined;
  }

  delete(id: Uuid): void {
    this.#entries.delete(id);
    this.#records = undefined;
  }

  records(): readonly StoredResource[] {
    if (!this.#isSorted) {
      const sorted = [...this.#entries.values()].sort(byAge);
      this.#entries = new Map(sorted.map((entry) => [entry.record.id, entry]));
      this.#newest = sorted.at(-1);
      this.#isSorted = true;
    }
    this.#records ??= Array.from(this.#entries.values(), ({ record }) => record);
    return this.#records;
  }
}

/** An index: lists of resources by a key, oldest first. */
export class Listing {
  readonly #keysOf: (entry: Entry) => readonly string[];
  readonly #buckets = new Map<string, Bucket>();

  /** @param keysOf the keys under which an entry stands */
  constructor(keysOf: (entry: Entry) => readonly string[]) {
    this.#keysOf = keysOf;
  }

  /** Follows one change; costs as many steps as the entry has keys. */
  update(before: Entry | undefined, after: Entry | undefined): void {
    const keys = new Set(after && this.#keysOf(after));
    if (before) {
      for (const key of this.#keysOf(before)) if (!keys.has(key)) this.#remove(key, before.record.id);
    }
    if (after) for (const key of keys) this.#bucket(key).set(after);
  }

  /** What stands under a key, oldest first. The array stays as it is when the world goes on. */
  list(key: string): readonly StoredResource[] {
    return this.#buckets.get(key)?.records() ?? NONE;
  }

  #remove(key: string, id: Uuid): void {
    const bucket = this.#buckets.get(key);
    bucket?.delete(id);
    if (bucket?.isEmpty) this.#buckets.delete(key);
  }

  #bucket(key: string): Bucket {
    const present = this.#buckets.get(key);
    if (present) return present;
    const bucket = new Bucket();
    this.#buckets.set(key, bucket);
    return bucket;
  }
}
