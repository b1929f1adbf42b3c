import { isDeepStrictEqual } from 'node:util';
import type { Router } from 'express';
import { resetRoutes } from '../../api/routes/history.ts';
import type { BodyOf } from '../../api/routes/route.ts';
import { changeSourceOf } from '../../api/server/authenticate.ts';
import { mountRoutes, type RouteGuard } from '../../api/server/mount-routes.ts';
import { causeOf } from '../../model/commit.ts';
import type { ResourcesById, StoredResource, Uuid } from '../../model/record.ts';
import { pathOf } from '../../model/resource-path.ts';
import { briefDifference } from './history-routes.ts';
import { differenceBetween, type HistoryService, withOtherIds } from './history-service.ts';

/** Makes the world that a first start with the seed would have. Throws PlatformError when the seed cannot be used. */
export type FreshWorld = (seed: BodyOf<typeof resetRoutes.resetWorld>['seed']) => Promise<ResourcesById>;

/** Replaces the world with a seed, in one commit. The root user and all that is outside the world (keys, leads, history ...) are kept. */
export function resetRouter(
  historyService: HistoryService,
  freshWorld: FreshWorld,
  onReset: () => void,
  guard: RouteGuard,
): Router {
  return mountRoutes(resetRoutes, guard, {
    async resetWorld({ caller, body: { seed, dryRun }, req }) {
      const fresh = await freshWorld(seed);
      const { view, world: present } = historyService.store;
      const world = asContinuation(fresh, present.resources, view.root);
      const { resources, total } = briefDifference(differenceBetween(present.resources, world));
      const cause = causeOf({ caller, via: changeSourceOf(req) }, 'world.reset', `reset to the seed '${seed}'`);
      const commit = dryRun ? undefined : await historyService.replaceWith(world, cause);
      if (!dryRun) onReset();
      return { resources, total, ...(commit && { commit: commit.seq }) };
    },
  });
}

/** A new world in which resources with a counterpart at the same path keep its id, history and creation. */
function asContinuation(fresh: ResourcesById, present: ResourcesById, root: StoredResource): ResourcesById {
  const now = new Map([...present.values()].map((record) => [identityOf(record, present), record]));
  const presentIds = new Map<Uuid, Uuid>();
  for (const record of fresh.values()) {
    const counterpart = record.parent === null ? root : now.get(identityOf(record, fresh));
    if (counterpart) presentIds.set(record.id, counterpart.id);
  }
  const world = new Map<Uuid, StoredResource>();
  for (const record of fresh.values()) {
    const renamed = withOtherIds(record, presentIds);
    const before = present.get(renamed.id);
    const isKept = before && (renamed.id === root.owner || isSame(before, renamed));
    world.set(renamed.id, isKept ? before : { ...renamed, created: before?.created ?? renamed.created });
  }
  return world;
}

/** The type and path, by which a user recognizes the same resource. */
function identityOf(record: StoredResource, world: ResourcesById): string {
  return `${record.type} ${pathOf(record, (id) => world.get(id))}`;
}

/** True if the records are the same apart from when and by whom they were written. */
function isSame(record: StoredResource, other: StoredResource): boolean {
  const { created, modified } = record;
  return isDeepStrictEqual(record, { ...other, created, modified });
}
