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

  children(parentId: Uuid, collection?: TypeWord): readonly StoredResource[] {
    return this.#merged(this.#view.children(parentId, collection), this.#put.children(parentId, collection));
  }

  ownedBy(orgId: Uuid, collection: TypeWord): readonly StoredResource[] {
    const put = this.#put.all(collection).filter((record) => owningOrganization(this, record).id === orgId);
    return this.#merged(this.#view.ownedBy(orgId, collection), put);
  }

  all(collection: TypeWord): readonly StoredResource[] {
    return this.#merged(this.#view.all(collection), this.#put.all(collection));
  }

  named(collection: TypeWord, name: string, parentId?: Uuid): readonly StoredResource[] {
    return this.#merged(this.#view.named(collection, name, parentId), this.#put.named(collection, name, parentId));
  }

  referrers(id: string, collection?: TypeWord): readonly StoredResource[] {
    return this.#merged(this.#view.referrers(id, collection), this.#put.referrers(id, collection));
  }

  referrersOutside(orgId: Uuid, id: string, collection: TypeWord): readonly StoredResource[] {
    return this.referrers(id, collection).filter((record) => owningOrganization(this, record).id !== orgId);
  }

  #merged(present: readonly StoredResource[], put: readonly StoredResource[]): readonly StoredResource[] {
    return [...present.filter(({ id }) => !this.#changed.has(id)), ...put];
  }
}
