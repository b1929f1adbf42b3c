import type { Change } from '../model/commit.ts';
import type { Uuid } from '../model/ids.ts';
import type { StoredResource } from '../model/record.ts';
import type { TypeWord } from '../model/type-words.ts';
import type { WorldView } from '../model/world-view.ts';
import { type Entry, Listing } from './listing.ts';

/** What the registry of types tells the indexes. */
export interface Indexing {
  /** The path word of a full type name; throws for a type that is not registered. */
  wordOf(type: string): TypeWord;
  /** The ids of the resources that a record names in its properties. */
  references(record: StoredResource): readonly Uuid[];
}

/** Stands for "no parent" among parent ids. */
const NO_PARENT = '';

/** What an index needs to know of a change before anything is changed: made by `prepare`, which may throw. */
type Prepared = { id: Uuid; after: Omit<Entry, 'owner' | 'order'> | undefined };

/** The world as its readers see it: every question is answered from an index that follows each commit. */
export class WorldIndex implements WorldView {
  readonly #indexing: Indexing;
  readonly #entries = new Map<Uuid, Entry>();
  #nextOrder = 1;

  readonly #byParent = new Listing(({ record }) => [record.parent ?? NO_PARENT]);
  readonly #byParentAndWord = new Listing(({ record, word }) => [`${record.parent}/${word}`]);
  readonly #byOwner = new Listing(({ owner, word }) => [`${owner}/${word}`]);
  readonly #byWord = new Listing(({ word }) => [word]);
  readonly #byName = new Listing(({ record, word }) => [`${word}/${record.name}`]);
  readonly #byParentAndName = new Listing(({ record, word }) => [`${record.parent}/${word}/${record.name}`]);
  readonly #byReference = new Listing(({ references }) => references);
  readonly #listings = [
    this.#byParent,
    this.#byParentAndWord,
    this.#byOwner,
    this.#byWord,
    this.#byName,
    this.#byParentAndName,
    this.#byReference,
  ];

  constructor(indexing: Indexing) {
    this.#indexing = indexing;
  }

  get root(): StoredResource {
    const [root] = this.#byParent.list(NO_PARENT);
    if (!root) throw new Error('this world has no root organization');
    return root;
  }

  find(id: Uuid): StoredResource | undefined {
    return this.#entries.get(id)?.record;
  }

  children(parentId: Uuid, word?: TypeWord): readonly StoredResource[] {
    return word ? this.#byParentAndWord.list(`${parentId}/${word}`) : this.#byParent.list(parentId);
  }

  ownedBy(orgId: Uuid, word: TypeWord): readonly StoredResource[] {
    return this.#byOwner.list(`${orgId}/${word}`);
  }

  all(word: TypeWord): readonly StoredResource[] {
    return this.#byWord.list(word);
  }

  named(word: TypeWord, name: string, parentId?: Uuid): readonly StoredResource[] {
    return parentId === undefined
      ? this.#byName.list(`${word}/${name}`)
      : this.#byParentAndName.list(`${parentId}/${word}/${name}`);
  }

  referrers(id: Uuid): readonly StoredResource[] {
    return this.#byReference.list(id);
  }

  /**
   * Asks the registry about changed records. Apart from `apply` because a record of an unknown type must be refused
   * before anything is changed.
   */
  prepare(changes: readonly Change[]): Prepared[] {
    return changes.flatMap(({ before, after }) => {
      const id = (after ?? before)?.id;
      if (id === undefined) return [];
      return {
        id,
        after: after && {
          record: after,
          word: this.#indexing.wordOf(after.type),
          references: this.#indexing.references(after),
        },
      };
    });
  }

  /** Follows changes; costs as many steps as resources changed, and moved ones have below them. */
  apply(prepared: readonly Prepared[]): void {
    const moved: Uuid[] = [];
    for (const { id, after } of prepared) {
      const before = this.#entries.get(id);
      const entry = after && {
        ...after,
        owner: this.#ownerOf(after.record),
        order: before?.order ?? this.#nextOrder++,
      };
      this.#replace(before, entry);
      if (before?.owner !== entry?.owner || before?.word !== entry?.word) moved.push(id);
    }
    // Only when all are in their places: within one commit a child may stand before its parent.
    for (const id of moved) this.#passOwnerDown(id);
  }

  #replace(before: Entry | undefined, after: Entry | undefined): void {
    if (after) this.#entries.set(after.record.id, after);
    else if (before) this.#entries.delete(before.record.id);
    for (const listing of this.#listings) listing.update(before, after);
  }

  /** D-023: the organization at or above the parent; root is its own. */
  #ownerOf(record: StoredResource): Uuid {
    if (record.parent === null) return record.id;
    const parent = this.#entries.get(record.parent);
    if (!parent) return '';
    return parent.word === 'orgs' ? parent.record.id : parent.owner;
  }

  #passOwnerDown(id: Uuid): void {
    for (const child of this.#byParent.list(id)) {
      const entry = this.#entries.get(child.id);
      const owner = this.#ownerOf(child);
      if (!entry || entry.owner === owner) continue;
      this.#replace(entry, { ...entry, owner });
      this.#passOwnerDown(child.id);
    }
  }
}
