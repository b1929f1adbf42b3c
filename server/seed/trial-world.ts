import { isDeepStrictEqual } from 'node:util';
import type { Change } from '../model/commit.ts';
import type { Uuid } from '../model/ids.ts';
import type { StoredResource } from '../model/record.ts';
import type { WorldView } from '../model/world-view.ts';
import { WorldIndex } from '../store/world-index.ts';
import type { CommitRequest, WorldStore } from '../store/world-store.ts';

/** A copy of a world to try changes on: commits change the copy only, and what they come to can be read off in the end. */
export class TrialWorld implements Pick<WorldStore, 'view' | 'commit'> {
  readonly #index = new WorldIndex();
  readonly #before: ReadonlyMap<Uuid, StoredResource>;
  readonly #touched = new Set<Uuid>();

  /** @param resources of the world to copy; its records are shared, since records never change in place */
  constructor(resources: ReadonlyMap<Uuid, StoredResource>) {
    this.#before = new Map(resources);
    this.#index.apply(this.#index.prepare(Array.from(resources.values(), (after) => ({ after }))));
  }

  get view(): WorldView {
    return this.#index;
  }

  async commit({ put = [], remove = [] }: CommitRequest): Promise<undefined> {
    const changes: Change[] = [
      ...put.map((after) => this.#change(after.id, after)),
      ...remove.map((id) => this.#change(id)),
    ];
    this.#index.apply(this.#index.prepare(changes));
  }

  /** A resource as it was in the world that was copied. */
  before(id: Uuid): StoredResource | undefined {
    return this.#before.get(id);
  }

  /** What it takes to make the copied world what the copy has become, each resource in the order of its first change. */
  difference(): { put: StoredResource[]; remove: Uuid[] } {
    const changed = [...this.#touched].filter((id) => !isDeepStrictEqual(this.#before.get(id), this.view.find(id)));
    return {
      put: changed.flatMap((id) => this.view.find(id) ?? []),
      remove: changed.filter((id) => !this.view.find(id)),
    };
  }

  #change(id: Uuid, after?: StoredResource): Change {
    const before = this.view.find(id);
    this.#touched.add(id);
    return { ...(before && { before }), ...(after && { after }) };
  }
}
