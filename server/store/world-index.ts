import type { Change } from '../model/commit.ts';
import type { Uuid } from '../model/ids.ts';
import type { StoredResource } from '../model/record.ts';
import { namedBy } from '../model/references.ts';
import { typeOf } from '../model/registry.ts';
import type { TypeWord } from '../model/type-words.ts';
import type { WorldView } from '../model/world-view.ts';
import { type Entry, type KeyOf, Listing } from './listing.ts';
import { inTurns } from './turns.ts';

/** Stands for "no parent" among parent ids. */
const NO_PARENT = '';

/** A change with what the registry says of it. */
interface PreparedChange {
  before: StoredResource | undefined;
  after: Omit<Entry, 'owner' | 'order'> | undefined;
}

const parentOf: KeyOf = ({ record }) => record.parent ?? NO_PARENT;
const wordOf: KeyOf = ({ word }) => word;
const ownerOf: KeyOf = ({ owner }) => owner;
const nameOf: KeyOf = ({ record }) => record.name;
const wordAndNameOf: KeyOf = ({ record, word }) => `${word}/${record.name}`;

/**
 * The world as its readers see it: every question is answered from an index that follows each commit. What a start need not know
 * of a large world is indexed when it is first asked for, or before by `complete`: lists within those of a parent or of a type, each
 * list by itself, and who names whom, all of a type at once.
 */
export class WorldIndex implements WorldView {
  readonly #entries = new Map<Uuid, Entry>();
  #nextOrder = 1;
  #revision = 0;
  /** Once it was asked for since the last change. */
  #root: StoredResource | undefined;

  readonly #byParent = new Listing();
  readonly #byWord = new Listing();
  readonly #byReference = new Listing();
  /** Types of records whose references nobody has looked at. */
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

  children(parentId: Uuid, word?: TypeWord): readonly StoredResource[] {
    return word ? this.#byParent.part(parentId, wordOf, word) : this.#byParent.list(parentId);
  }

  ownedBy(orgId: Uuid, word: TypeWord): readonly StoredResource[] {
    return this.#byWord.part(word, ownerOf, orgId);
  }

  all(word: TypeWord): readonly StoredResource[] {
    return this.#byWord.list(word);
  }

  named(word: TypeWord, name: string, parentId?: Uuid): readonly StoredResource[] {
    return parentId === undefined
      ? this.#byWord.part(word, nameOf, name)
      : this.#byParent.part(parentId, wordAndNameOf, `${word}/${name}`);
  }

  referrers(id: Uuid, word?: TypeWord): readonly StoredResource[] {
    if (word ? this.#unread.has(word) : this.#unread.size > 0) {
      for (const entry of this.#entries.values()) if (!word || entry.word === word) this.#readReferences(entry);
      if (word) this.#unread.delete(word);
      else this.#unread.clear();
    }
    const all = this.#byReference.list(id);
    return word ? all.filter((one) => this.#entries.get(one.id)?.word === word) : all;
  }

  /** Begins with the resources of a world, in their order; of an empty index. Throws for a type that is not registered. */
  begin(resources: Iterable<StoredResource>): void {
    this.#revision += 1;
    for (const record of resources) {
      const { word } = typeOf(record);
      this.#unread.add(word);
      if (this.#file(record.id, { record, word, references: undefined, owner: this.#ownerOf(record) }))
        this.#passOwnerDown(record.id);
    }
  }

  /** Indexes what `begin` has left for later, while others have their turn. */
  async complete(): Promise<void> {
    await inTurns(this.#entries.values(), (entry) => this.#readReferences(entry));
    this.#unread.clear();
    for (const keyOf of [wordOf, wordAndNameOf]) await this.#byParent.prepare(keyOf);
    await this.#byWord.prepare(ownerOf);
  }

  /**
   * Asks the registry about changed records. Apart from `apply` because a record of an unknown type must be refused
   * before anything is changed.
   */
  prepare(changes: readonly Change[]): PreparedChange[] {
    return changes.map(({ before, after }) => ({
      before,
      after: after && { record: after, word: typeOf(after).word, references: namedBy(after) },
    }));
  }

  /** Follows changes; costs as many steps as resources changed, and moved ones have below them. */
  apply(changes: readonly PreparedChange[]): void {
    const moved: Uuid[] = [];
    this.#revision += 1;
    this.#root = undefined;
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
    if (!present) {
      if (!next) return false;
      const entry = { ...next, order: this.#nextOrder++ };
      this.#entries.set(id, entry);
      this.#add(entry);
      return this.#byParent.has(id);
    }
    const before = { ...present };
    if (!next) {
      this.#entries.delete(id);
      this.#remove(before);
      return true;
    }
    const after = Object.assign(present, next);
    if (isFiledAlike(before, after)) return false;
    if (before.record.created.at !== after.record.created.at) {
      // One whose age changed (only a world from elsewhere does that) has to find a new place under each key.
      this.#remove(before);
      this.#add(after);
    } else {
      this.#byParent.move(before, after, parentOf);
      this.#byWord.move(before, after, wordOf);
      this.#moveReferences(before.references, after.references, before, after);
    }
    return before.owner !== after.owner || before.word !== after.word;
  }

  #add(entry: Entry): void {
    this.#byParent.add(parentOf(entry), entry);
    this.#byWord.add(entry.word, entry);
    this.#moveReferences([], entry.references, entry, entry);
  }

  #remove(entry: Entry): void {
    this.#byParent.remove(parentOf(entry), entry);
    this.#byWord.remove(entry.word, entry);
    this.#moveReferences(entry.references, [], entry, entry);
  }

  #readReferences(entry: Entry): void {
    if (entry.references) return;
    entry.references = namedBy(entry.record);
    this.#moveReferences([], entry.references, entry, entry);
  }

  #moveReferences(old: readonly Uuid[] = [], next: readonly Uuid[] = [], before: Entry, after: Entry): void {
    for (const id of old) if (!next.includes(id)) this.#byReference.remove(id, before);
    for (const id of next) if (!old.includes(id)) this.#byReference.add(id, after);
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
    a.references?.length === b.references?.length &&
    a.references?.every((id, i) => id === b.references?.[i]) !== false
  );
}
