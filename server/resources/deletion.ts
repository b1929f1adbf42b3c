import { isDeepStrictEqual } from 'node:util';
import { PlatformError } from '../model/errors.ts';
import { lineage } from '../model/hierarchy.ts';
import type { Uuid } from '../model/ids.ts';
import type { StoredResource } from '../model/record.ts';
import { whenGone, withoutMention } from '../model/references.ts';
import { typeOf } from '../model/registry.ts';
import { pathOf } from '../model/resource-path.ts';
import type { ResourceType } from '../model/resource-type.ts';
import type { WorldView } from '../model/world-view.ts';
import { grantsWithout } from '../security/entitlements.ts';

/** How a DELETE was asked for (D-128, D-129). */
export interface DeletionQuery {
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
 * Whoever merely mentions what is gone forgets it (D-072, D-079). Throws 409 with the counts per type, or with what others mount.
 */
export function planDeletion(view: WorldView, target: StoredResource, asked: DeletionQuery): Deletion {
  typeOf(target).release?.(target, view);
  const removed = new Map<Uuid, StoredResource>();
  collect(view, target, removed);
  demandUnmounted(view, target, removed);
  const dependants = dependantsOf(view, target);
  const takesContainers = asked.deleteContainers && typeOf(target).word === 'providers';
  const goesAlong = (one: StoredResource) => asked.force || (takesContainers && typeOf(one).word === 'containers');
  const inTheWay = dependants.filter((one) => !goesAlong(one));
  if (inTheWay.length > 0) {
    const isMounted = inTheWay.every((one) => whenGone(one, target.id) === 'unmounted');
    const state = isMounted
      ? `is mounted by ${countsOf(inTheWay)}; force=true takes the mounts away`
      : `has children: ${countsOf(inTheWay)}; force=true deletes them too`;
    throw new PlatformError(409, `${typeOf(target).noun} '${target.name}' ${state}`);
  }
  return { removed: [...removed.values()], updated: forgetful(view, removed) };
}

/**
 * What stands in a place that goes may be mounted only by what goes with it: deleting development must not take the secrets from
 * production, forced or not (D-133). Throws 409 that names each mount.
 */
function demandUnmounted(view: WorldView, target: StoredResource, removed: ReadonlyMap<Uuid, StoredResource>): void {
  const name = (one: StoredResource) => `${typeOf(one).noun} '${one.name}'`;
  const inside = [...removed.values()].filter((one) => one !== target && [...lineage(view, one)].includes(target));
  const details = inside.flatMap((mounted) =>
    view
      .referrers(mounted.id)
      .filter((one) => !removed.has(one.id) && whenGone(one, mounted.id) === 'unmounted')
      .map((one) => ({
        pointer: `/resources/${one.id}`,
        message: `${name(one)} (${pathOf(one, (id) => view.find(id))}) mounts its ${name(mounted)}`,
      })),
  );
  if (details.length === 0) return;
  const mounts = details.map(({ message }) => message).join(', ');
  const advice = 'take these mounts away first, or give them one of their own';
  throw new PlatformError(409, `${name(target)} cannot be deleted: ${mounts}; ${advice}`, { details });
}

/** Children, and the workloads that name it: what stands in the way of an unforced deletion. */
function dependantsOf(view: WorldView, target: StoredResource): StoredResource[] {
  const holders = view
    .referrers(target.id)
    .filter((one) => ['follows', 'unmounted'].includes(whenGone(one, target.id) ?? ''));
  return [...new Set([...view.children(target.id), ...holders])];
}

function collect(view: WorldView, target: StoredResource, removed: Map<Uuid, StoredResource>): void {
  if (removed.has(target.id)) return;
  removed.set(target.id, target);
  for (const one of dependantsOf(view, target)) {
    // What can live without it (a container whose volume goes) is mended instead.
    if (one.parent === target.id || whenGone(one, target.id) === 'follows') collect(view, one, removed);
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
      const properties = withoutMention(before, gone) ?? before.properties;
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
