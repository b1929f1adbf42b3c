import { isDeepStrictEqual } from 'node:util';
import { type ErrorDetail, PlatformError } from '../../model/errors.ts';
import type { StoredResource, Uuid, WorldView } from '../../model/record.ts';
import { typeOf } from '../../model/registry.ts';
import { pathOf } from '../../model/resource-path.ts';
import type { ResourceType } from '../../model/resource-type.ts';
import { ancestors } from '../../model/rules/hierarchy.ts';
import { onDelete, withoutReference } from '../../model/rules/references.ts';
import { grantsWithout } from '../security/entitlements.ts';

/** How a DELETE was asked for (D-128, D-129). */
export interface DeletionQuery {
  force: boolean;
  /** Of a provider: its containers go along without force. */
  deleteContainers: boolean;
}

/**
 * Plans a deletion. Children and workloads keep a resource in place unless forced; then they go first, the target last (D-128,
 * D-129). Others are updated without references to what is removed (D-072, D-079). Throws 409 with the counts per type, or with the mounts.
 */
export function planDeletion(
  view: WorldView,
  target: StoredResource,
  asked: DeletionQuery,
): { removed: StoredResource[]; updated: StoredResource[] } {
  typeOf(target).release?.(target, view);
  const removed = new Map<Uuid, StoredResource>();
  collect(view, target, removed);
  requireUnmounted(view, target, removed);
  const dependants = dependantsOf(view, target);
  const takesContainers = asked.deleteContainers && typeOf(target).word === 'providers';
  const isDeletedToo = (one: StoredResource) => asked.force || (takesContainers && typeOf(one).word === 'containers');
  const inTheWay = dependants.filter((one) => !isDeletedToo(one));
  if (inTheWay.length > 0) {
    const isMounted = inTheWay.every((one) => onDelete(one, target.id) === 'unmounted');
    const state = isMounted
      ? `is mounted by ${countsOf(inTheWay)}; force=true takes the mounts away`
      : `has children: ${countsOf(inTheWay)}; force=true deletes them too`;
    throw new PlatformError('in_use', `${typeOf(target).singular} '${target.name}' ${state}`);
  }
  return { removed: [...removed.values()], updated: forgetful(view, removed) };
}

/** What goes along may be mounted only by what goes, too: development must not take secrets from production (D-133). Throws 409. */
function requireUnmounted(view: WorldView, target: StoredResource, removed: ReadonlyMap<Uuid, StoredResource>): void {
  const name = (one: StoredResource) => `${typeOf(one).singular} '${one.name}'`;
  const details: ErrorDetail[] = [];
  for (const mounted of removed.values()) {
    const mounts = view
      .referrers(mounted.id)
      .filter((one) => !removed.has(one.id) && onDelete(one, mounted.id) === 'unmounted');
    if (mounts.length === 0 || mounted === target || ![...ancestors(view, mounted)].includes(target)) continue;
    const found = mounts.map((one) => ({
      pointer: `/resources/${one.id}`,
      message: `${name(one)} (${pathOf(one, (id) => view.find(id))}) mounts its ${name(mounted)}`,
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
    .filter((one) => ['follows', 'unmounted'].includes(onDelete(one, target.id) ?? ''));
  return [...new Set([...view.children(target.id), ...holders])];
}

function collect(view: WorldView, target: StoredResource, removed: Map<Uuid, StoredResource>): void {
  if (removed.has(target.id)) return;
  removed.set(target.id, target);
  for (const one of dependantsOf(view, target)) {
    // A resource that can exist without the deleted one (a container without its volume) is updated instead.
    if (one.parent === target.id || onDelete(one, target.id) === 'follows') collect(view, one, removed);
  }
  removed.delete(target.id);
  removed.set(target.id, target);
}

function forgetful(view: WorldView, removed: ReadonlyMap<Uuid, StoredResource>): StoredResource[] {
  const updated = new Map<Uuid, StoredResource>();
  for (const gone of removed.keys()) {
    for (const referrer of view.referrers(gone)) {
      if (removed.has(referrer.id)) continue;
      const before = updated.get(referrer.id) ?? referrer;
      const { grants: _, ...record } = before;
      const properties = withoutReference(before, gone) ?? before.properties;
      const grants = grantsWithout(before, gone);
      updated.set(before.id, { ...record, properties, ...(grants && { grants }) });
    }
  }
  return [...updated.values()].filter((one) => !isDeepStrictEqual(one, view.find(one.id)));
}

function countsOf(resources: readonly StoredResource[]): string {
  const counts = new Map<ResourceType, number>();
  for (const type of resources.map(typeOf)) counts.set(type, (counts.get(type) ?? 0) + 1);
  return [...counts].map(([type, count]) => `${count} ${count === 1 ? type.singular : type.word}`).join(', ');
}
