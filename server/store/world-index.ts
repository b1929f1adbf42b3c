import type { Change } from '../model/commit.ts';
import type { Uuid } from '../model/ids.ts';
import type { StoredResource } from '../model/record.ts';
import { namedBy } from '../model/references.ts';
import { typeOf } from '../model/registry.ts';
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

/** How the store finds its way in a world of this platform's types. */
const ofRegistry: Indexing = { wordOf: (type) => typeOf({ type }).word, references: namedBy };

/** Stands for "no parent" among parent ids. */
const NO_PARENT = '';

/** A change with what the registry says of it. */
interface PreparedChange {
  before: StoredResource | undefined;
  after: Omit<Entry, 'owner' | 'order'> | undefined;
}

/** The world as its readers see it: every question is answered from an index that follows each commit. */
export class WorldIndex implements WorldView {
  readonly #indexing: Indexing;
  readonly #entries = new Map<Uuid, Entry>();
  #nextOrder = 1;
  #revision = 0;

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

  constructor(options: { indexing?: Indexing | undefined } = {}) {
    this.#indexing = options.indexing ?? ofRegistry;
  }

  get root(): StoredResource {
    const [root] = this.#byParent.list(NO_PARENT);
    if (!root) throw new Error('this world has no root organization');
    return root;
  }

  get revision(): number {
    return this.#revision;
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
  prepare(changes: readonly Change[]): PreparedChange[] {
    return changes.map(({ before, after }) => ({
      before,
      after: after && {
        record: after,
        word: this.#indexing.wordOf(after.type),
        references: this.#indexing.references(after),
      },
    }));
  }

  /** Follows changes; costs as many steps as resources changed, and moved ones have below them. */
  apply(changes: readonly PreparedChange[]): void {
    const moved: Uuid[] = [];
    this.#revision += 1;
    for (const { before, after } of changes) {
      const id = after?.record.id ?? before?.id ?? '';
      if (this.#file(id, after && { ...after, owner: this.#ownerOf(after.record) })) moved.push(id);
    }
    // Only when all are in their places: within one commit a child may stand before its parent.
    for (const id of moved) this.#passOwnerDown(id);
  }

  /** Files a resource anew, or takes it out. Returns whether what is below it may belong to another organization now. */
  #file(id: Uuid, next: Omit<Entry, 'order'> | undefined): boolean {
    const present = this.#entries.get(id);
    const before = present && { ...present };
    const after = next && (present ? Object.assign(present, next) : { ...next, order: this.#nextOrder++ });
    if (after) this.#entries.set(id, after);
    else this.#entries.delete(id);
    if (before && after && isFiledAlike(before, after)) return false;
    // One whose age changed (only operations by hand do that) has to find a new place under each key.
    const isSameAge = before?.record.created.at === after?.record.created.at;
    for (const listing of this.#listings) {
      if (!isSameAge) listing.move(before, undefined);
      listing.move(isSameAge ? before : undefined, after);
    }
    return before?.owner !== after?.owner || before?.word !== after?.word;
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
      if (entry && entry.owner !== owner && this.#file(child.id, { ...entry, owner })) this.#passOwnerDown(child.id);
    }
  }
}

/** Do both stand under the same keys, in the same place? */
function isFiledAlike(a: Entry, b: Entry): boolean {
  return (
    a.owner === b.owner &&
    a.word === b.word &&
    a.record.parent === b.record.parent &&
    a.record.name === b.record.name &&
    a.record.created.at === b.record.created.at &&
    a.references.length === b.references.length &&
    a.references.every((id, i) => id === b.references[i])
  );
}
