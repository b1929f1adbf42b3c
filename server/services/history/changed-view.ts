import type { StoredResource, Uuid, WorldView } from '../../model/record.ts';
import { owningOrganization } from '../../model/rules/hierarchy.ts';
import type { TypeWord } from '../../model/type-words.ts';
import { WorldIndex } from '../../storage/world/world-index.ts';

/** The world as some changes would leave it, without applying them: for checks before the changes. */
export class ChangedView implements WorldView {
  readonly #view: WorldView;
  readonly #put = new WorldIndex();
  readonly #changed: ReadonlyMap<Uuid, StoredResource | undefined>;

  constructor(view: WorldView, changes: { put: readonly StoredResource[]; remove: readonly Uuid[] }) {
    this.#view = view;
    this.#put.begin(changes.put);
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
    return this.#with(this.#view.children(parentId, word), this.#put.children(parentId, word));
  }

  ownedBy(orgId: Uuid, word: TypeWord): readonly StoredResource[] {
    const put = this.#put.all(word).filter((one) => owningOrganization(this, one).id === orgId);
    return this.#with(this.#view.ownedBy(orgId, word), put);
  }

  all(word: TypeWord): readonly StoredResource[] {
    return this.#with(this.#view.all(word), this.#put.all(word));
  }

  named(word: TypeWord, name: string, parentId?: Uuid): readonly StoredResource[] {
    return this.#with(this.#view.named(word, name, parentId), this.#put.named(word, name, parentId));
  }

  referrers(id: string, word?: TypeWord): readonly StoredResource[] {
    return this.#with(this.#view.referrers(id, word), this.#put.referrers(id, word));
  }

  referrersOutside(orgId: Uuid, id: string, word: TypeWord): readonly StoredResource[] {
    return this.referrers(id, word).filter((one) => owningOrganization(this, one).id !== orgId);
  }

  #with(present: readonly StoredResource[], put: readonly StoredResource[]): readonly StoredResource[] {
    return [...present.filter(({ id }) => !this.#changed.has(id)), ...put];
  }
}
