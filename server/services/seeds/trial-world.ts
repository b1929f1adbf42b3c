import { isDeepStrictEqual } from 'node:util';
import type { Change } from '../../model/commit.ts';
import type { StoredResource, Uuid, WorldView } from '../../model/record.ts';
import { WorldIndex } from '../../storage/world/world-index.ts';
import { applyChanges, type WorldDifference } from '../../storage/world/world-patch.ts';
import type { CommitRequest, WorldStore } from '../../storage/world/world-store.ts';

/** A copy of a world to try changes on: commits change the copy only, and what they come to can be read off in the end. */
export class TrialWorld implements Pick<WorldStore, 'view' | 'commit'> {
  readonly #index: WorldIndex;
  readonly #present: Map<Uuid, StoredResource>;
  /** The changes, relative to the copied world. */
  readonly #before = new Map<Uuid, StoredResource | undefined>();

  /** @param resources of the world to copy; its records are shared, since records never change in place */
  constructor(resources: ReadonlyMap<Uuid, StoredResource>) {
    this.#present = new Map(resources);
    this.#index = WorldIndex.indexOf(resources.values());
  }

  get view(): WorldView {
    return this.#index;
  }

  async commit({ put = [], remove = [] }: CommitRequest): Promise<undefined> {
    this.#apply(put, remove);
  }

  before(id: Uuid): StoredResource | undefined {
    return this.#before.has(id) ? this.#before.get(id) : this.#present.get(id);
  }

  /** The changes that turn the copied world into the current copy, each resource in the order of its first change. */
  difference(): WorldDifference {
    const put: StoredResource[] = [];
    const remove: Uuid[] = [];
    for (const [id, before] of this.#before) {
      const after = this.#present.get(id);
      if (isDeepStrictEqual(before, after)) continue;
      if (after) put.push(after);
      else remove.push(id);
    }
    return { put, remove };
  }

  #apply(put: readonly StoredResource[], remove: readonly Uuid[]): void {
    const changes = [...put.map((after) => this.#change(after.id, after)), ...remove.map((id) => this.#change(id))];
    this.#index.apply(this.#index.prepare(changes));
    applyChanges(this.#present, changes);
  }

  #change(id: Uuid, after?: StoredResource): Change {
    const before = this.#present.get(id);
    if (!this.#before.has(id)) this.#before.set(id, before);
    return { ...(before && { before }), ...(after && { after }) };
  }
}
