import type { Uuid } from '../model/ids.ts';
import type { StoredResource } from '../model/record.ts';
import type { TypeWord } from '../model/type-words.ts';

/** A resource with what the indexes know of it. */
export interface Entry {
  /** The present state; another object after each change. */
  record: StoredResource;
  word: TypeWord;
  /** Id of the owning organization (D-023); empty when what it hangs on is not there. */
  owner: Uuid;
  /** The ids that it names. */
  references: readonly Uuid[];
  /** Grows with each resource that comes into the world: tells apart what was created in the same millisecond. */
  order: number;
}

const NO_RECORDS: readonly StoredResource[] = Object.freeze([]);
const NO_KEYS: readonly string[] = Object.freeze([]);

interface Age {
  createdAt: string;
  order: number;
}

function ageOf({ record, order }: Entry): Age {
  return { createdAt: record.created.at, order };
}

function byAge(a: Age, b: Age): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? -1 : 1;
  return a.order - b.order;
}

/**
 * The entries under one key. A Map keeps them in the order they came in, which is nearly always their age, and gives
 * any of them up at the same cost; only when an older one came late they are sorted, when next asked for.
 */
class Bucket {
  #entries = new Map<Uuid, Entry>();
  /** Nothing here is newer. Not the entry itself, whose age may be changed by hand, or which may be gone. */
  #newest: Age | undefined;
  #isSorted = true;

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  add(entry: Entry): void {
    const age = ageOf(entry);
    if (this.#newest && byAge(age, this.#newest) < 0) this.#isSorted = false;
    else this.#newest = age;
    this.#entries.set(entry.record.id, entry);
  }

  delete(id: Uuid): void {
    this.#entries.delete(id);
  }

  records(): StoredResource[] {
    if (!this.#isSorted) {
      const sorted = [...this.#entries.values()].sort((a, b) => byAge(ageOf(a), ageOf(b)));
      this.#entries = new Map(sorted.map((entry) => [entry.record.id, entry]));
      this.#isSorted = true;
    }
    return Array.from(this.#entries.values(), ({ record }) => record);
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

  /** Takes an entry from the keys that it had before a change, and puts it under those that it has now. */
  move(before: Entry | undefined, after: Entry | undefined): void {
    const oldKeys = before ? this.#keysOf(before) : NO_KEYS;
    const newKeys = after ? this.#keysOf(after) : NO_KEYS;
    if (before) for (const key of without(oldKeys, newKeys)) this.#remove(key, before.record.id);
    if (after) for (const key of without(newKeys, oldKeys)) this.#add(key, after);
  }

  /** What stands under a key now, oldest first. */
  list(key: string): readonly StoredResource[] {
    return this.#buckets.get(key)?.records() ?? NO_RECORDS;
  }

  #remove(key: string, id: Uuid): void {
    const bucket = this.#buckets.get(key);
    bucket?.delete(id);
    if (bucket?.isEmpty) this.#buckets.delete(key);
  }

  #add(key: string, entry: Entry): void {
    const bucket = this.#buckets.get(key) ?? new Bucket();
    if (bucket.isEmpty) this.#buckets.set(key, bucket);
    bucket.add(entry);
  }
}

function without(keys: readonly string[], others: readonly string[]): readonly string[] {
  if (others.length === 0) return keys;
  const excluded = new Set(others);
  return keys.filter((key) => !excluded.has(key));
}
