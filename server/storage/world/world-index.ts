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

/** The keys under which a list has an entry. */
type KeysOf = (entry: Entry) => readonly string[];

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
  }

  delete(id: Uuid): void {
    this.#entries.delete(id);
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

/** The entries by one kind of key. */
class Listing {
  readonly #keysOf: KeysOf;
  readonly #buckets = new Map<string, Bucket>();

  constructor(keysOf: KeysOf) {
    this.#keysOf = keysOf;
  }

  list(key: string): readonly StoredResource[] {
    return this.#buckets.get(key)?.records() ?? NO_RECORDS;
  }

  count(key: string): number {
    return this.#buckets.get(key)?.size ?? 0;
  }

  /** @param before as it was filed; undefined for a new entry. @param after undefined for one that is removed */
  file(before: Entry | undefined, after: Entry | undefined): void {
    const [oldKeys, newKeys] = [before ? this.#keysOf(before) : [], after ? this.#keysOf(after) : []];
    // If the age changed (only in an imported world), it needs a new position under each key.
    const isOther = before?.record.created.at !== after?.record.created.at;
    for (const key of oldKeys) if (before && (isOther || !newKeys.includes(key))) this.#remove(key, before.record.id);
    for (const key of newKeys) if (after && (isOther || !oldKeys.includes(key))) this.#add(key, after);
  }

  #add(key: string, entry: Entry): void {
    let bucket = this.#buckets.get(key);
    if (!bucket) {
      bucket = new Bucket();
      this.#buckets.set(key, bucket);
    }
    bucket.add(entry);
  }

  #remove(key: string, id: Uuid): void {
    const bucket = this.#buckets.get(key);
    bucket?.delete(id);
    if (bucket?.size === 0) this.#buckets.delete(key);
  }
}

const NO_PARENT = '';

const parentKeys: KeysOf = ({ record }) => [record.parent ?? NO_PARENT];
const typeBelowParentKeys: KeysOf = ({ record, collection }) => [`${record.parent}/${collection}`];
const nameBelowParentKeys: KeysOf = ({ record, collection }) => [`${record.parent}/${collection}/${record.name}`];
const typeKeys: KeysOf = ({ collection }) => [collection];
const ownerKeys: KeysOf = ({ collection, owner }) => [`${collection}/${owner}`];
const nameKeys: KeysOf = ({ collection, record }) => [`${collection}/${record.name}`];
const referenceKeys: KeysOf = ({ references = [] }) => references;
const referenceAndOwnerKeys: KeysOf = ({ references = [], owner }) => references.map((id) => `${id}/${owner}`);

/** Indexes that each commit updates. */
export class WorldIndex implements WorldView {
  readonly #entries = new Map<Uuid, Entry>();
  #nextOrder = 1;
  #revision = 0;
  #root: StoredResource | undefined;

  readonly #byParent = new Listing(parentKeys);
  readonly #listings = new Map([[parentKeys, this.#byParent]]);
  /** Types of resources whose references have not been read. */
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
    return collection
      ? this.#listingOf(typeBelowParentKeys).list(`${parentId}/${collection}`)
      : this.#byParent.list(parentId);
  }

  ownedBy(orgId: Uuid, collection: TypeWord): readonly StoredResource[] {
    return this.#listingOf(ownerKeys).list(`${collection}/${orgId}`);
  }

  all(collection: TypeWord): readonly StoredResource[] {
    return this.#listingOf(typeKeys).list(collection);
  }

  named(collection: TypeWord, name: string, parentId?: Uuid): readonly StoredResource[] {
    return parentId === undefined
      ? this.#listingOf(nameKeys).list(`${collection}/${name}`)
      : this.#listingOf(nameBelowParentKeys).list(`${parentId}/${collection}/${name}`);
  }

  referrers(id: string, collection?: TypeWord): readonly StoredResource[] {
    this.#readReferencesOf(collection);
    const all = this.#listingOf(referenceKeys).list(id);
    return collection ? all.filter((referrer) => this.#entries.get(referrer.id)?.collection === collection) : all;
  }

  referrersOutside(orgId: Uuid, id: string, collection: TypeWord): readonly StoredResource[] {
    this.#readReferencesOf(collection);
    if (this.#listingOf(referenceKeys).count(id) === this.#listingOf(referenceAndOwnerKeys).count(`${id}/${orgId}`))
      return [];
    return this.referrers(id, collection).filter((referrer) => this.#entries.get(referrer.id)?.owner !== orgId);
  }

  /** An index of the resources of a world, in their order. Throws for a type that is not registered. */
  static indexOf(resources: Iterable<StoredResource>): WorldIndex {
    const index = new WorldIndex();
    for (const record of resources) {
      const { collection } = typeOf(record);
      index.#unread.add(collection);
      if (index.#file(record.id, { record, collection, references: undefined, owner: index.#ownerOf(record) }))
        index.#propagateOwner(record.id);
    }
    return index;
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
      this.#fileInAll(undefined, entry);
      return this.#byParent.count(id) > 0;
    }
    if (!next) {
      this.#entries.delete(id);
      this.#fileInAll(present, undefined);
      return true;
    }
    const before = { ...present };
    const after = Object.assign(present, next);
    if (isFiledAlike(before, after)) return false;
    this.#fileInAll(before, after);
    return before.owner !== after.owner || before.collection !== after.collection;
  }

  #fileInAll(before: Entry | undefined, after: Entry | undefined): void {
    for (const listing of this.#listings.values()) listing.file(before, after);
  }

  /** Made on first use, and updated from then on. */
  #listingOf(keysOf: KeysOf): Listing {
    let listing = this.#listings.get(keysOf);
    if (!listing) {
      listing = new Listing(keysOf);
      for (const entry of this.#entries.values()) listing.file(undefined, entry);
      this.#listings.set(keysOf, listing);
    }
    return listing;
  }

  #readReferencesOf(collection: TypeWord | undefined): void {
    if (collection ? !this.#unread.has(collection) : this.#unread.size === 0) return;
    for (const entry of this.#entries.values()) {
      if (entry.references || (collection && entry.collection !== collection)) continue;
      const before = { ...entry };
      entry.references = foundBy(entry.record);
      for (const keysOf of [referenceKeys, referenceAndOwnerKeys]) this.#listings.get(keysOf)?.file(before, entry);
    }
    if (collection) this.#unread.delete(collection);
    else this.#unread.clear();
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
