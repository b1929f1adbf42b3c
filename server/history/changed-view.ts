import { owningOrganization } from '../model/hierarchy.ts';
import type { Uuid } from '../model/ids.ts';
import type { StoredResource } from '../model/record.ts';
import { namedBy } from '../model/references.ts';
import { typeOf } from '../model/registry.ts';
import type { TypeWord } from '../model/type-words.ts';
import type { WorldView } from '../model/world-view.ts';

/** The world as a few changes would leave it, seen without making them: what is checked before they are made. */
export class ChangedView implements WorldView {
  readonly #view: WorldView;
  readonly #put: readonly StoredResource[];
  readonly #changed: ReadonlyMap<Uuid, StoredResource | undefined>;

  constructor(view: WorldView, changes: { put: readonly StoredResource[]; remove: readonly Uuid[] }) {
    this.#view = view;
    this.#put = changes.put;
    this.#changed = new Map<Uuid, StoredResource | undefined>([
      ...changes.remove.map((id) => [id, undefined] as const),
      ...changes.put.map((record) => [record.id, record] as const),
    ]);
  }

  get root(): StoredResource {
    return this.find(this.#view.root.id) ?? this.#view.root;
  }

  find(id: Uuid): StoredResource | undefined {
    return this.#changed.has(id) ? this.#changed.get(id) : this.#view.find(id);
  }

  children(parentId: Uuid, word?: TypeWord): readonly StoredResource[] {
    const isOne = (one: StoredResource) => one.parent === parentId && (!word || typeOf(one).word === word);
    return this.#with(this.#view.children(parentId, word), isOne);
  }

  ownedBy(orgId: Uuid, word: TypeWord): readonly StoredResource[] {
    const isOne = (one: StoredResource) => typeOf(one).word === word && owningOrganization(this, one).id === orgId;
    return this.#with(this.#view.ownedBy(orgId, word), isOne);
  }

  all(word: TypeWord): readonly StoredResource[] {
    return this.#with(this.#view.all(word), (one) => typeOf(one).word === word);
  }

  named(word: TypeWord, name: string, parentId?: Uuid): readonly StoredResource[] {
    const isThere = (one: StoredResource) => parentId === undefined || one.parent === parentId;
    const isOne = (one: StoredResource) => one.name === name && typeOf(one).word === word && isThere(one);
    return this.#with(this.#view.named(word, name, parentId), isOne);
  }

  referrers(id: Uuid, word?: TypeWord): readonly StoredResource[] {
    const isOne = (one: StoredResource) => (!word || typeOf(one).word === word) && namedBy(one).includes(id);
    return this.#with(this.#view.referrers(id, word), isOne);
  }

  #with(present: readonly StoredResource[], isOne: (record: StoredResource) => boolean): readonly StoredResource[] {
    return [...present.filter(({ id }) => !this.#changed.has(id)), ...this.#put.filter(isOne)];
  }
}
