import { isDeepStrictEqual } from 'node:util';
import { PlatformError } from '../model/errors.ts';
import type { Uuid } from '../model/ids.ts';
import type { StoredResource } from '../model/record.ts';
import { typeOf } from '../model/registry.ts';
import type { ResourceType } from '../model/resource-type.ts';
import type { WorldView } from '../model/world-view.ts';
import { grantsWithout } from '../security/entitlements.ts';

/** How a DELETE was asked for (D-128, D-129). */
export interface DeletionWish {
  force: boolean;
  /** Of a provider: its containers go along without force. */
  deleteContainers: boolean;
}

/** What one DELETE does to the world, all in one commit. */
export interface Deletion {
  /** The target and what goes with it, the target last. */
  removed: StoredResource[];
  /** Others that mentioned a removed one, now without that mention. */
  updated: StoredResource[];
}

/**
 * Plans a deletion: children and workloads keep a resource in place unless forced; forced, they go first (D-128, D-129).
 * Whoever merely mentions what is gone forgets it (D-072, D-079). Throws 409 with the counts per type.
 */
export function planDeletion(view: WorldView, target: StoredResource, wish: DeletionWish): Deletion {
  typeOf(target).release?.(target, view);
  const dependants = dependantsOf(view, target);
  const takesContainers = wish.deleteContainers && typeOf(target).word === 'providers';
  const goesAlong = (one: StoredResource) => wish.force || (takesContainers && typeOf(one).word === 'containers');
  const inTheWay = dependants.filter((one) => !goesAlong(one));
  if (inTheWay.length > 0) {
    const isMounted = inTheWay.every((one) => typeOf(one).forget?.(one, target.id));
    const state = isMounted
      ? `is mounted by ${countsOf(inTheWay)}; force=true takes the mounts away`
      : `has children: ${countsOf(inTheWay)}; force=true deletes them too`;
    throw new PlatformError(409, `${typeOf(target).noun} '${target.name}' ${state}`);
  }
  const removed = new Map<Uuid, StoredResource>();
  collect(view, target, removed);
  return { removed: [...removed.values()], updated: forgetful(view, removed) };
}

/** Children, and the workloads that name it: what stands in the way of an unforced deletion. */
function dependantsOf(view: WorldView, target: StoredResource): StoredResource[] {
  const holders = view
    .referrers(target.id)
    .filter((one) => typeOf(one).holds && (typeOf(one).references?.(one) ?? []).includes(target.id));
  return [...new Set([...view.children(target.id), ...holders])];
}

function collect(view: WorldView, target: StoredResource, removed: Map<Uuid, StoredResource>): void {
  if (removed.has(target.id)) return;
  removed.set(target.id, target);
  for (const one of dependantsOf(view, target)) {
    // A holder that can live without it (a container whose volume goes) is mended instead.
    if (one.parent === target.id || typeOf(one).forget?.(one, target.id) === undefined) collect(view, one, removed);
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
      const properties = typeOf(before).forget?.(before, gone) ?? before.properties;
      const grants = grantsWithout(before, gone);
      updated.set(before.id, { ...record, properties, ...(grants && { grants }) });
    }
  }
  return [...updated.values()].filter((one) => !isDeepStrictEqual(one, view.find(one.id)));
}

/** "2 containers, 1 lambda" */
function countsOf(resources: readonly StoredResource[]): string {
  const counts = new Map<ResourceType, number>();
  for (const type of resources.map(typeOf)) counts.set(type, (counts.get(type) ?? 0) + 1);
  return [...counts].map(([type, count]) => `${count} ${count === 1 ? type.noun : type.word}`).join(', ');
}
