import type { Change } from '../../model/commit.ts';
import type { StoredResource, Uuid, WorldView } from '../../model/record.ts';
import { typeOf } from '../../model/registry.ts';
import { foundBy } from '../../model/rules/references.ts';
import type { TypeWord } from '../../model/type-words.ts';

interface Entry {
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

type KeyOf = (entry: Entry) => string;

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

class Listing {
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

const NO_PARENT = '';

const parentOf: KeyOf = ({ record }) => record.parent ?? NO_PARENT;
const collectionOf: KeyOf = ({ collection }) => collection;
const ownerOf: KeyOf = ({ owner }) => owner;
const nameOf: KeyOf = ({ record }) => record.name;
const collectionAndNameOf: KeyOf = ({ record, collection }) => `${collection}/${record.name}`;

/** Indexes that each commit updates. Those that a start does not need are created on first use. */
export class WorldIndex implements WorldView {
  readonly #entries = new Map<Uuid, Entry>();
  #nextOrder = 1;
  #revision = 0;
  #root: StoredResource | undefined;

  readonly #byParent = new Listing();
  readonly #byWord = new Listing();
  readonly #byReference = new Listing();
  readonly #unread = new Set<TypeWord>();

  get root(): StoredResource {
    if (!this.#root) [this.#root] = this.#byParent.list(NO_PARENT);
    if (!this.#root) throw new Error('this world has no root organization');
    return this.#root;
  }

  get revision(): number {
    return this.#revision;
  }

  find(id: Uuid): StoredResource | undefined {
    return this.#entries.get(id)?.record;
  }

  children(parentId: Uuid, collection?: TypeWord): readonly StoredResource[] {
    return collection ? this.#byParent.part(parentId, collectionOf, collection) : this.#byParent.list(parentId);
  }

  ownedBy(orgId: Uuid, collection: TypeWord): readonly StoredResource[] {
    return this.#byWord.part(collection, ownerOf, orgId);
  }

  all(collection: TypeWord): readonly StoredResource[] {
    return this.#byWord.list(collection);
  }

  named(collection: TypeWord, name: string, parentId?: Uuid): readonly StoredResource[] {
    return parentId === undefined
      ? this.#byWord.part(collection, nameOf, name)
      : this.#byParent.part(parentId, collectionAndNameOf, `${collection}/${name}`);
  }

  referrers(id: string, collection?: TypeWord): readonly StoredResource[] {
    this.#readReferencesOf(collection);
    const all = this.#byReference.list(id);
    return collection ? all.filter((referrer) => this.#entries.get(referrer.id)?.collection === collection) : all;
  }

  referrersOutside(orgId: Uuid, id: string, collection: TypeWord): readonly StoredResource[] {
    this.#readReferencesOf(collection);
    if (this.#byReference.isWithin(id, ownerOf, orgId)) return [];
    return this.referrers(id, collection).filter((referrer) => this.#entries.get(referrer.id)?.owner !== orgId);
  }

  static indexOf(resources: Iterable<StoredResource>): WorldIndex {
    const index = new WorldIndex();
    index.begin(resources);
    return index;
  }

  /** Adds the resources of a world in their order to an empty index. Throws for a type that is not registered. */
  begin(resources: Iterable<StoredResource>): void {
    this.#revision += 1;
    for (const record of resources) {
      const { collection } = typeOf(record);
      this.#unread.add(collection);
      if (this.#file(record.id, { record, collection, references: undefined, owner: this.#ownerOf(record) }))
        this.#propagateOwner(record.id);
    }
  }

  /**
   * Applies changes; the cost depends on the number of changed resources and of descendants of moved ones. Throws for a type that is not
   * registered, and changes nothing then.
   */
  apply(changes: readonly Change[]): void {
    const prepared = changes.map(({ before, after }) => ({
      id: (after ?? before)?.id ?? '',
      next: after && {
        record: after,
        collection: typeOf(after).collection,
        references: hasSameReferences(before, after) ? this.#entries.get(after.id)?.references : foundBy(after),
      },
    }));
    this.#revision += 1;
    this.#root = undefined;
    const moved: Uuid[] = [];
    // The loop includes what is added to the list meanwhile.
    for (const [index, { id, next }] of prepared.entries()) {
      const parent = next?.record.parent;
      // Within one commit a child can come before its parent. It waits for that, because its owner depends on it.
      if (parent && !this.#entries.has(parent) && index < changes.length) prepared.push({ id, next });
      else if (this.#file(id, next && { ...next, owner: this.#ownerOf(next.record) })) moved.push(id);
    }
    for (const id of moved) this.#propagateOwner(id);
  }

  /** Updates the index of a resource, or removes it. Returns whether the organization of its descendants can have changed. */
  #file(id: Uuid, next: Omit<Entry, 'order'> | undefined): boolean {
    const present = this.#entries.get(id);
    if (!present) {
      if (!next) return false;
      const entry = { ...next, order: this.#nextOrder++ };
      this.#entries.set(id, entry);
      this.#add(entry);
      return this.#byParent.has(id);
    }
    if (!next) {
      this.#entries.delete(id);
      this.#remove(present);
      return true;
    }
    const before = { ...present };
    const after = Object.assign(present, next);
    if (isFiledAlike(before, after)) return false;
    if (before.record.created.at !== after.record.created.at) {
      // If the age changed (only in an imported world), the resource needs a new position under each key.
      this.#remove(before);
      this.#add(after);
    } else {
      this.#byParent.move(before, after, parentOf);
      this.#byWord.move(before, after, collectionOf);
      this.#moveReferences(before.references, after.references, before, after);
    }
    return before.owner !== after.owner || before.collection !== after.collection;
  }

  #add(entry: Entry): void {
    this.#byParent.add(parentOf(entry), entry);
    this.#byWord.add(entry.collection, entry);
    this.#moveReferences([], entry.references, entry, entry);
  }

  #remove(entry: Entry): void {
    this.#byParent.remove(parentOf(entry), entry);
    this.#byWord.remove(entry.collection, entry);
    this.#moveReferences(entry.references, [], entry, entry);
  }

  #readReferencesOf(collection: TypeWord | undefined): void {
    if (collection ? !this.#unread.has(collection) : this.#unread.size === 0) return;
    for (const entry of this.#entries.values())
      if (!collection || entry.collection === collection) this.#readReferences(entry);
    if (collection) this.#unread.delete(collection);
    else this.#unread.clear();
  }

  #readReferences(entry: Entry): void {
    if (entry.references) return;
    entry.references = foundBy(entry.record);
    this.#moveReferences([], entry.references, entry, entry);
  }

  #moveReferences(old: readonly string[] = [], next: readonly string[] = [], before: Entry, after: Entry): void {
    for (const id of old) if (!next.includes(id)) this.#byReference.remove(id, before);
    for (const id of next) {
      if (old.includes(id)) this.#byReference.move(before, after, () => id);
      else this.#byReference.add(id, after);
    }
  }

  /** D-023: the organization at or above the parent; root owns itself. */
  #ownerOf(record: StoredResource): Uuid {
    if (record.parent === null) return record.id;
    const parent = this.#entries.get(record.parent);
    if (!parent) return '';
    return parent.collection === 'orgs' ? parent.record.id : parent.owner;
  }

  #propagateOwner(id: Uuid): void {
    for (const child of this.#byParent.list(id)) {
      const entry = this.#entries.get(child.id);
      const owner = this.#ownerOf(child);
      if (entry && entry.owner !== owner && this.#file(child.id, { ...entry, owner })) this.#propagateOwner(child.id);
    }
  }
}

/** Reading the references of a record takes longer than the rest of a small change. */
function hasSameReferences(before: StoredResource | undefined, after: StoredResource): boolean {
  return (
    before?.type === after.type &&
    before.parent === after.parent &&
    before.properties === after.properties &&
    before.grants === after.grants
  );
}

function isFiledAlike(a: Entry, b: Entry): boolean {
  return (
    a.owner === b.owner &&
    a.collection === b.collection &&
    a.record.parent === b.record.parent &&
    a.record.name === b.record.name &&
    a.record.created.at === b.record.created.at &&
    a.references?.length === b.references?.length &&
    a.references?.every((id, i) => id === b.references?.[i]) !== false
  );
}
