import { isDeepStrictEqual } from 'node:util';
import type { Operation } from 'fast-json-patch';
import type { DifferenceView } from '../../api/routes/history.ts';
import { type Cause, type ChangeRequest, type Commit, causeOf } from '../../model/commit.ts';
import { type ErrorDetail, PlatformError } from '../../model/errors.ts';
import { memberOf } from '../../model/json.ts';
import { pointerTo, segmentsOf } from '../../model/patch/pointer.ts';
import type { ResourcesById, StoredResource, Uuid, WorldView } from '../../model/record.ts';
import { typeOf } from '../../model/registry.ts';
import { describeResource, pathOf } from '../../model/resource-path.ts';
import type { WriteConstraints } from '../../model/resource-type.ts';
import { namedBy } from '../../model/rules/references.ts';
import { USER } from '../../model/type-names.ts';
import { violationInHostPath } from '../../model/types/volume.ts';
import { planRevert } from '../../storage/world/revert.ts';
import type { Moment } from '../../storage/world/world-history.ts';
import { WorldIndex } from '../../storage/world/world-index.ts';
import { changeBetween, changesBetween, type WorldDifference } from '../../storage/world/world-patch.ts';
import type { WorldStore } from '../../storage/world/world-store.ts';

export interface Difference {
  /** RFC 6902, on the first world. */
  ops: Operation[];
  resources: DifferenceView['resources'];
}

/** Reverts a commit, or restores the world to a moment. Each adds a new commit, which can be undone as well. */
export class HistoryService {
  readonly store: WorldStore;
  readonly #constraints: WriteConstraints;

  constructor(store: WorldStore, constraints: WriteConstraints) {
    this.store = store;
    this.#constraints = constraints;
  }

  /** Undoes one commit. Throws 404 if it is not kept; 409 with what was changed since, or why the result would be no valid world. */
  async revert(seq: number, initiator: ChangeRequest): Promise<Commit> {
    const commit = await this.store.history.get(seq);
    const worldAfter = await this.store.history.worldAt({ seq });
    const { store } = this;
    const asOf = store.seq;
    const { conflicts, ...changes } = planRevert(commit, worldAfter.resources, store.world.resources);
    const reverted = new Map(changes.put.map((record) => [record.id, record]));
    const find = (id: Uuid) => store.view.find(id) ?? worldAfter.resources.get(id) ?? reverted.get(id);
    const nameOf: NameOf = (id) => {
      const record = find(id);
      return record ? `${typeOf(record).singular} ${pathOf(record, find)}` : id;
    };
    const violations = conflicts.length > 0 ? conflicts : violationsIn(store, this.#constraints, changes, nameOf);
    if (violations.length > 0) throw inTheWay(`commit ${seq} cannot be reverted`, violations, nameOf);
    const revertCommit = await this.#commit(
      changes,
      causeOf(initiator, 'history.revert', `revert of commit ${seq}`),
      asOf,
    );
    if (revertCommit) return revertCommit;
    const passwords = changes.put.some(({ type }) => type === USER)
      ? ', and a replaced password is not restored (D-216)'
      : '';
    throw new PlatformError(
      'invalid_state',
      `nothing to revert: the changes of commit ${seq} are already undone${passwords}`,
    );
  }

  /** Brings the whole world back to a moment. Resolves to undefined when it is so already; throws 404 as the history does. */
  async restore(moment: Moment, initiator: ChangeRequest): Promise<Commit | undefined> {
    const { seq, resources } = await this.store.history.worldAt(moment);
    return this.restoreTo(resources, causeOf(initiator, 'history.restore', `restore of commit ${seq}`));
  }

  /** Restores an earlier world in one commit, except for passwords. Throws 409 if the current configuration no longer allows it. */
  async restoreTo(resources: ResourcesById, cause: Cause): Promise<Commit | undefined> {
    const { store } = this;
    const asOf = store.seq;
    const changes = changesBetween(store.world.resources, resources);
    const details = changes.put.flatMap((record) => {
      const violation = violationInHostPath(record, this.#constraints.allowedHostPaths);
      return violation === undefined
        ? []
        : { pointer: `/resources/${record.id}`, message: `'${record.name}' ${violation}` };
    });
    if (details.length === 0) return this.#commit(changes, cause, asOf);
    const reasons = details.map(({ message }) => message).join('; ');
    throw new PlatformError('not_restorable', `the world cannot be restored: ${reasons}`, { details });
  }

  async #commit({ put, remove }: WorldDifference, cause: Cause, asOf: number): Promise<Commit | undefined> {
    const records = await withLastPasswords(this.store, put);
    if (this.store.seq === asOf) return this.store.commit({ put: records, remove }, cause);
    throw new PlatformError(
      'changed_meanwhile',
      'the world changed during the restore. Nothing was changed; try again.',
    );
  }

  async replaceWith(resources: ResourcesById, cause: Cause): Promise<Commit | undefined> {
    return this.store.commit(changesBetween(this.store.world.resources, resources), cause);
  }
}

/** The type and path of a resource, by which a user recognizes it; its id if it is in no known world. */
type NameOf = (id: Uuid) => string;

function inTheWay(operation: string, details: ErrorDetail[], nameOf: NameOf): PlatformError {
  const [first] = details;
  const [, id = '', ...member] = segmentsOf(first?.pointer ?? '');
  const reason = [nameOf(id), pointerTo(member), first?.message].filter(Boolean).join(': ');
  const more = details.length > 1 ? ` and ${details.length - 1} more` : '';
  return new PlatformError('not_restorable', `${operation}: ${reason}${more}; revert the later commits first`, {
    details,
  });
}

/** Returns how two worlds, or only one resource of them, differ, in an order in which the operations can be applied. */
export function differenceBetween(from: ResourcesById, to: ResourcesById, onlyId?: Uuid): Difference {
  const { put, remove } = onlyId === undefined ? changesBetween(from, to) : { put: [], remove: [onlyId] };
  const difference: Difference = { ops: [], resources: [] };
  for (const id of [...put.map((record) => record.id), ...remove]) {
    const [before, after] = [from.get(id), to.get(id)];
    const [changed, record] = [changeBetween(id, before, after), after ?? before];
    if (!changed || !record) continue;
    difference.ops.push(...changed.ops);
    const action = after ? (before ? 'update' : 'create') : 'delete';
    const world = after ? to : from;
    difference.resources.push({ ...describeResource(record, (ancestorId) => world.get(ancestorId)), action });
  }
  return difference;
}

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;

/** A record with other ids, wherever they are in it. */
export function withOtherIds(record: StoredResource, otherIds: ReadonlyMap<Uuid, Uuid>): StoredResource {
  // One id for another leaves it a record.
  return JSON.parse(JSON.stringify(record).replace(UUID, (id) => otherIds.get(id) ?? id));
}

/** A stored value that matches no password, for users whose last password is no longer in the history. */
const NO_PASSWORD = 'none';

/** Users get their current or last password, so a replaced one never returns (D-216). Omits records that would then not change. */
async function withLastPasswords(
  { world, history }: Pick<WorldStore, 'world' | 'history'>,
  put: readonly StoredResource[],
): Promise<StoredResource[]> {
  const present = world.resources;
  const restoredUsers = put.filter(({ id, type }) => type === USER && !present.has(id));
  const last = await lastPasswordsOf(restoredUsers, history);
  return put.flatMap((record) => {
    if (record.type !== USER) return [record];
    const now = present.get(record.id);
    const password = now ? now.properties.password : (last.get(record.id) ?? NO_PASSWORD);
    if (password === record.properties.password) return [record];
    const restored = { ...record, properties: { ...record.properties, ...(password !== undefined && { password }) } };
    return now && isDeepStrictEqual({ ...restored, modified: now.modified }, now) ? [] : [restored];
  });
}

/** The last passwords of deleted accounts, as far as the history reaches. */
async function lastPasswordsOf(
  users: readonly StoredResource[],
  history: WorldStore['history'],
): Promise<Map<Uuid, string>> {
  const passwords = new Map<Uuid, string>();
  const missingPaths = new Set(users.map(({ id }) => `/resources/${id}`));
  if (missingPaths.size === 0) return passwords;
  for await (const { inverse } of history.commits()) {
    for (const operation of inverse) {
      if (operation.op !== 'add' || !missingPaths.delete(operation.path)) continue;
      const password = memberOf(memberOf(operation.value, 'properties'), 'password');
      if (typeof password === 'string') passwords.set(operation.path.slice('/resources/'.length), password);
    }
    if (missingPaths.size === 0) break;
  }
  return passwords;
}

/**
 * Returns why changes would leave an invalid world: something is missing, a name is taken, or the rules of a type
 * reject a record.
 */
function violationsIn(
  { view, world }: Pick<WorldStore, 'view' | 'world'>,
  constraints: WriteConstraints,
  { put, remove }: WorldDifference,
  nameOf: NameOf,
): ErrorDetail[] {
  const resources = new Map(world.resources);
  for (const id of remove) resources.delete(id);
  for (const record of put) resources.set(record.id, record);
  const after = WorldIndex.indexOf(resources.values());
  const violations = remove.flatMap((id) => violationsInRemoval(view, after, id));
  // Nothing can be checked in a world without its root.
  if (!resources.has(view.root.id)) return violations;
  for (const record of put)
    violations.push(...violationsInRecord(record, { previous: view.find(record.id), after, constraints, nameOf }));
  return violations;
}

function violationsInRemoval(view: WorldView, after: WorldView, id: Uuid): ErrorDetail[] {
  const pointer = `/resources/${id}`;
  if (id === view.root.id || id === view.root.owner) {
    return [{ pointer, message: 'the root organization and the root user cannot be deleted' }];
  }
  const name = (resource: StoredResource) => `${typeOf(resource).singular} '${resource.name}'`;
  return [
    ...after.children(id).map((child) => ({ pointer, message: `${name(child)} is below it` })),
    ...after.referrers(id).map((referrer) => ({ pointer, message: `${name(referrer)} names it` })),
  ];
}

function violationsInRecord(
  record: StoredResource,
  {
    previous,
    after,
    constraints,
    nameOf,
  }: { previous: StoredResource | undefined; after: WorldView; constraints: WriteConstraints; nameOf: NameOf },
): ErrorDetail[] {
  const pointer = `/resources/${record.id}`;
  const type = typeOf(record);
  const violations: ErrorDetail[] = [];

  const parent = after.find(record.parent ?? '');
  if (!parent && record.parent !== null) {
    return [{ pointer: `${pointer}/parent`, message: `its parent ${nameOf(record.parent ?? '')} does not exist` }];
  }
  const scope = type.nameScope === 'world' ? undefined : (record.parent ?? undefined);
  const namesakes = after.named(type.collection, record.name, scope).filter(({ id }) => id !== record.id);
  if (namesakes.length > 0) {
    violations.push({
      pointer: `${pointer}/name`,
      message: `the name '${record.name}' is taken by another ${type.singular}`,
    });
  }
  const named = new Set(previous && namedBy(previous));
  const missing = namedBy(record).filter((id) => !named.has(id) && !after.find(id));
  for (const id of new Set(missing))
    violations.push({ pointer, message: `it names ${nameOf(id)}, which does not exist` });
  if (violations.length > 0 || !parent) return violations;

  if (previous && isDeepStrictEqual(previous.properties, record.properties) && previous.name === record.name) return [];
  try {
    type.validate?.(record, { ...constraints, view: after, parent, ...(previous && { previous }) });
    return [];
  } catch (error) {
    if (error instanceof PlatformError) return [{ pointer, message: error.message }];
    throw error;
  }
}
