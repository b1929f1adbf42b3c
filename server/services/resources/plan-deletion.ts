import { isDeepStrictEqual } from 'node:util';
import { type ErrorDetail, PlatformError } from '../../model/errors.ts';
import type { StoredResource, Uuid, WorldView } from '../../model/record.ts';
import { typeOf } from '../../model/registry.ts';
import { currentPathOf } from '../../model/resource-path.ts';
import type { ResourceType } from '../../model/resource-type.ts';
import { ancestors } from '../../model/rules/hierarchy.ts';
import { onDelete, withoutReference } from '../../model/rules/references.ts';
import { grantsWithout } from '../security/entitlements.ts';

/** Options of a DELETE request (D-128, D-129). */
export interface DeletionQuery {
  force: boolean;
  /** Set for a provider: its containers are deleted with it, even without force. */
  deleteContainers: boolean;
}

/**
 * Plans a deletion. Children and workloads keep a resource in place unless forced; then they go first, the target last (D-128,
 * D-129). Others are updated without references to what is removed (D-072, D-079). Throws 409 with the counts per type, or with the mounts.
 */
export function planDeletion(
  view: WorldView,
  target: StoredResource,
  query: DeletionQuery,
): { removed: StoredResource[]; updated: StoredResource[] } {
  typeOf(target).release?.(target, view);
  const removed = new Map<Uuid, StoredResource>();
  collect(view, target, removed);
  requireUnmounted(view, target, removed);
  const dependants = dependantsOf(view, target);
  const takesContainers = query.deleteContainers && typeOf(target).collection === 'providers';
  const isDeletedToo = (dependant: StoredResource) =>
    query.force || (takesContainers && typeOf(dependant).collection === 'containers');
  const inTheWay = dependants.filter((dependant) => !isDeletedToo(dependant));
  if (inTheWay.length > 0) {
    const isMounted = inTheWay.every((dependant) => onDelete(dependant, target.id) === 'unmounted');
    const state = isMounted
      ? `is mounted by ${countsOf(inTheWay)}; force=true takes the mounts away`
      : `has children: ${countsOf(inTheWay)}; force=true deletes them too`;
    throw new PlatformError('in_use', `${typeOf(target).singular} '${target.name}' ${state}`);
  }
  return { removed: [...removed.values()], updated: forgetful(view, removed) };
}

/**
 * Throws 409 if a resource that is deleted too is mounted by one that stays: development must not take secrets from
 * production (D-133).
 */
function requireUnmounted(view: WorldView, target: StoredResource, removed: ReadonlyMap<Uuid, StoredResource>): void {
  const name = (resource: StoredResource) => `${typeOf(resource).singular} '${resource.name}'`;
  const details: ErrorDetail[] = [];
  for (const mounted of removed.values()) {
    const mounts = view
      .referrers(mounted.id)
      .filter((referrer) => !removed.has(referrer.id) && onDelete(referrer, mounted.id) === 'unmounted');
    if (mounts.length === 0 || mounted === target || ![...ancestors(view, mounted)].includes(target)) continue;
    const found = mounts.map((mount) => ({
      pointer: `/resources/${mount.id}`,
      message: `${name(mount)} (${currentPathOf(view, mount)}) mounts its ${name(mounted)}`,
    }));
    details.push(...found);
  }
  if (details.length === 0) return;
  const mounts = details.map(({ message }) => message).join(', ');
  const advice = 'remove these mounts first, or replace them';
  throw new PlatformError('in_use', `${name(target)} cannot be deleted: ${mounts}; ${advice}`, { details });
}

/** Children, and the workloads that name it: what is in the way of an unforced deletion. */
function dependantsOf(view: WorldView, target: StoredResource): StoredResource[] {
  const holders = view
    .referrers(target.id)
    .filter((referrer) => ['follows', 'unmounted'].includes(onDelete(referrer, target.id) ?? ''));
  return [...new Set([...view.children(target.id), ...holders])];
}

function collect(view: WorldView, target: StoredResource, removed: Map<Uuid, StoredResource>): void {
  if (removed.has(target.id)) return;
  removed.set(target.id, target);
  for (const dependant of dependantsOf(view, target)) {
    // A resource that can exist without the deleted one (a container without its volume) is updated instead.
    if (dependant.parent === target.id || onDelete(dependant, target.id) === 'follows')
      collect(view, dependant, removed);
  }
  removed.delete(target.id);
  removed.set(target.id, target);
}

function forgetful(view: WorldView, removed: ReadonlyMap<Uuid, StoredResource>): StoredResource[] {
  const updated = new Map<Uuid, StoredResource>();
  for (const removedId of removed.keys()) {
    for (const referrer of view.referrers(removedId)) {
      if (removed.has(referrer.id)) continue;
      const before = updated.get(referrer.id) ?? referrer;
      const { grants: _, ...record } = before;
      const properties = withoutReference(before, removedId) ?? before.properties;
      const grants = grantsWithout(before, removedId);
      updated.set(before.id, { ...record, properties, ...(grants && { grants }) });
    }
  }
  return [...updated.values()].filter((resource) => !isDeepStrictEqual(resource, view.find(resource.id)));
}

function countsOf(resources: readonly StoredResource[]): string {
  const counts = new Map<ResourceType, number>();
  for (const type of resources.map(typeOf)) counts.set(type, (counts.get(type) ?? 0) + 1);
  return [...counts].map(([type, count]) => `${count} ${count === 1 ? type.singular : type.collection}`).join(', ');
}
