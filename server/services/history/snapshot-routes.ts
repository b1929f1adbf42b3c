import type { Router } from 'express';
import { type SnapshotView, snapshotRoutes } from '../../api/routes/history.ts';
import { changeSourceOf } from '../../api/server/change-source.ts';
import { mountRoutes, type RouteGuard } from '../../api/server/mount-routes.ts';
import { causeOf } from '../../model/cause.ts';
import type { NamedSnapshots, SnapshotInfo } from '../../storage/world/named-snapshots.ts';
import { sharingRecords } from '../../storage/world/world-difference.ts';
import type { ArchiveSource } from './archive.ts';
import { receiveArchive, sendArchive } from './archive-routes.ts';
import { briefDifference, onlyOne, seesRecord, toCommitView, toDifferenceView } from './history-routes.ts';
import { differenceBetween, type HistoryService } from './history-service.ts';
import type { ArchiveTarget } from './plan-import.ts';

export function snapshotRouter(
  snapshots: NamedSnapshots,
  historyService: HistoryService,
  archive: ArchiveSource & ArchiveTarget,
  guard: RouteGuard,
): Router {
  const { store } = historyService;
  /** The saved world, prepared for a comparison with the current one. */
  const read = async (name: string) => {
    const { seq, resources } = await snapshots.read(name);
    return { seq, resources: sharingRecords(resources, store.world.resources) };
  };
  return mountRoutes(snapshotRoutes, guard, {
    listSnapshots: async () => (await snapshots.list()).map(toSnapshotView),
    async createSnapshot({ body: { name }, res }) {
      const { history, seq, world } = store;
      const saved = await snapshots.save(name, world.id, await history.worldAt({ seq }));
      res.location(`/inspect/snapshots/${name}`);
      return toSnapshotView(saved);
    },
    async compareSnapshot({ caller, path, query: { brief, resource } }) {
      const then = await read(path.snapshot_name);
      const now = await store.history.worldAt({ seq: store.seq });
      const difference = differenceBetween(onlyOne(then, resource), onlyOne(now, resource), {
        from: then,
        to: now,
      });
      const view = brief
        ? briefDifference(difference)
        : toDifferenceView(difference, (resourceId) => seesRecord(guard, caller, resourceId));
      return { from: then.seq, to: now.seq, ...view };
    },
    async restoreSnapshot({ caller, path: { snapshot_name: name }, req }) {
      const { resources } = await read(name);
      const cause = causeOf({ caller, via: changeSourceOf(req) }, 'snapshot.restore', `restore of snapshot ${name}`);
      const commit = await historyService.restoreTo(resources, cause);
      return { ...(commit && { commit: toCommitView(commit) }) };
    },
    deleteSnapshot: ({ path }) => snapshots.remove(path.snapshot_name),
    exportArchive: ({ res }) => sendArchive(store, archive, res),
    importArchive: ({ caller, query, req }) =>
      receiveArchive(req, historyService, archive, { isDry: query.dryRun, caller, via: changeSourceOf(req) }),
  });
}

function toSnapshotView({ atMs, ...rest }: SnapshotInfo): SnapshotView {
  return { ...rest, at: new Date(atMs).toISOString() };
}
