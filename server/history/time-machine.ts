import type { Operation } from 'fast-json-patch';
import type { Caller } from '../model/caller.ts';
import { causeOf } from '../model/cause.ts';
import type { Cause, Commit, CommitResource } from '../model/commit.ts';
import { type ErrorDetail, PlatformError } from '../model/errors.ts';
import type { Uuid } from '../model/ids.ts';
import type { StoredResource } from '../model/record.ts';
import { pathOf } from '../model/resource-path.ts';
import type { WriteLaws } from '../model/resource-type.ts';
import { USER } from '../model/type-names.ts';
import { offenceOfHostPath } from '../model/types/volume.ts';
import { planRevert } from '../store/revert.ts';
import { inTurns } from '../store/turns.ts';
import { changesBetween, changesInTurns, type WorldDifference } from '../store/world-difference.ts';
import type { Moment, PastWorld } from '../store/world-history.ts';
import { operationsBetween } from '../store/world-patch.ts';
import type { WorldStore } from '../store/world-store.ts';
import { withLastPasswords } from './last-passwords.ts';
import { offencesOf } from './world-rules.ts';

/** What an undoing writes into the history. */
export interface Undoing {
  caller: Caller;
  via: Cause['via'];
}

/** One resource that two worlds do not agree on. */
export interface ResourceDifference extends CommitResource {
  action: 'create' | 'update' | 'delete';
}

/** What leads from one world to another. */
export interface Difference {
  /** RFC 6902, on the first world. */
  ops: Operation[];
  resources: ResourceDifference[];
}

type Resources = ReadonlyMap<Uuid, StoredResource>;

/** Brings back what was: one commit undone, or a whole moment. Each is a commit itself, so it can be undone, too. */
export class TimeMachine {
  readonly store: WorldStore;
  readonly #laws: WriteLaws;

  constructor(store: WorldStore, laws: WriteLaws) {
    this.store = store;
    this.#laws = laws;
  }

  /**
   * Undoes one commit, wherever it stands in the history.
   *
   * @throws PlatformError 404 for a commit that is not kept; 409 with the pointers that later commits have changed, or
   *   where the result would be no valid world
   */
  async revert(seq: number, by: Undoing): Promise<Commit> {
    const commit = await this.store.history.get(seq);
    const left = await this.store.history.worldAt({ seq });
    const { conflicts, ...changes } = planRevert(commit, left.resources, this.store.world.resources);
    const offences = conflicts.length > 0 ? conflicts : offencesOf(this.store.view, this.#laws, changes);
    if (offences.length > 0) throw inTheWay(`commit ${seq} cannot be reverted`, offences);
    const made = await this.#commit(changes, causeOf(by, 'history.revert', `revert of commit ${seq}`));
    if (made) return made;
    const passwords = changes.put.some(({ type }) => type === USER)
      ? ', and a password that was replaced stays so (D-216)'
      : '';
    throw new PlatformError(
      409,
      `there is nothing to revert: what commit ${seq} changed is as it was before it${passwords}`,
    );
  }

  /** Brings the whole world back to a moment. Resolves to undefined when it is so already; throws 404 as the history does. */
  async restore(moment: Moment, by: Undoing): Promise<Commit | undefined> {
    const { seq, resources } = await this.store.history.worldAt(moment);
    return this.bringBack(resources, causeOf(by, 'history.restore', `restore of commit ${seq}`));
  }

  /**
   * Makes the world what it once was, in one commit; passwords stay what they are. It was a valid one, but what is allowed outside
   * of it may be less now: throws 409 then.
   */
  async bringBack(resources: Resources, cause: Cause): Promise<Commit | undefined> {
    return this.#withChanges(resources, async (changes) => {
      const details = changes.put.flatMap((record) => {
        const offence = offenceOfHostPath(record, this.#laws.allowedHostPaths);
        return offence === undefined
          ? []
          : { pointer: `/resources/${record.id}`, message: `'${record.name}' ${offence}` };
      });
      if (details.length === 0) return this.#commit(changes, cause);
      const reasons = details.map(({ message }) => message).join('; ');
      throw new PlatformError(409, `that world cannot come back: ${reasons}`, { details });
    });
  }

  /** Commits what was once, but for passwords. */
  async #commit({ put, remove }: WorldDifference, cause: Cause): Promise<Commit | undefined> {
    const { seq } = this.store;
    const kept = await withLastPasswords(this.store, put);
    if (this.store.seq === seq) return this.store.commit({ put: kept, remove }, cause);
    throw new PlatformError(409, 'somebody else changed the world meanwhile, and nothing was brought back; try again');
  }

  /** Makes the world what the records say, in one commit. */
  async become(resources: Resources, cause: Cause): Promise<Commit | undefined> {
    return this.#withChanges(resources, (changes) => this.store.commit(changes, cause));
  }

  /** Hands on what makes the present world another one, at a moment at which it does. */
  async #withChanges<T>(resources: Resources, take: (changes: WorldDifference) => Promise<T>): Promise<T> {
    const { seq, world } = this.store;
    const changes = await changesInTurns(world.resources, resources);
    return take(this.store.seq === seq ? changes : changesBetween(world.resources, resources));
  }
}

function inTheWay(what: string, details: ErrorDetail[]): PlatformError {
  const [first] = details;
  const more = details.length > 1 ? ` and ${details.length - 1} more` : '';
  return new PlatformError(409, `${what}: ${first?.pointer} ${first?.message}${more}; revert what came later first`, {
    details,
  });
}

/**
 * How two worlds differ, in an order in which the operations can be applied; others have their turn meanwhile.
 *
 * @param whole the worlds that paths are looked up in, where `from` and `to` are parts of them
 */
export async function differenceBetween(
  from: Pick<PastWorld, 'resources'>,
  to: Pick<PastWorld, 'resources'>,
  whole: { from: Pick<PastWorld, 'resources'>; to: Pick<PastWorld, 'resources'> } = { from, to },
): Promise<Difference> {
  const { put, remove } = await changesInTurns(from.resources, to.resources);
  const difference: Difference = { ops: [], resources: [] };
  const tell = (before: StoredResource | undefined, after: StoredResource | undefined, world: Resources) => {
    const record = after ?? before;
    const ops = record ? operationsBetween(record.id, before, after) : [];
    if (!record || ops.length === 0) return;
    difference.ops.push(...ops);
    const path = pathOf(record, (id) => world.get(id));
    const action = after ? (before ? 'update' : 'create') : 'delete';
    difference.resources.push({ id: record.id, type: record.type, name: record.name, path, action });
  };
  await inTurns(put, (after) => tell(from.resources.get(after.id), after, whole.to.resources));
  await inTurns(remove, (id) => tell(from.resources.get(id), undefined, whole.from.resources));
  return difference;
}
