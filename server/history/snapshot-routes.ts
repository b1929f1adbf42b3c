import type { Router } from 'express';
import { type ShownSnapshot, snapshotRows } from '../contract/history.ts';
import { type Gate, serve } from '../http/serve.ts';
import { viaOf } from '../http/via.ts';
import { causeOf } from '../model/cause.ts';
import type { NamedSnapshots, SnapshotInfo } from '../store/named-snapshots.ts';
import { sharingRecords } from '../store/world-difference.ts';
import { type ArchiveOptions, receiveArchive, sendArchive } from './archive-routes.ts';
import { briefDifference, onlyOne, seesRecord, shownCommit, shownDifference } from './history-routes.ts';
import { differenceBetween, type TimeMachine } from './time-machine.ts';

export interface SnapshotRoutesOptions {
  snapshots: NamedSnapshots;
  machine: TimeMachine;
  archive: Omit<ArchiveOptions, 'machine' | 'store'>;
}

/** Worlds kept under a name, and the whole instance as one file. */
export function snapshotRoutes({ snapshots, machine, archive }: SnapshotRoutesOptions, gate: Gate): Router {
  const { store } = machine;
  const archived = () => ({ ...archive, machine, store });
  /** The world that was kept, ready to be compared with the present one. */
  const read = async (name: string) => {
    const { seq, resources } = await snapshots.read(name);
    return { seq, resources: await sharingRecords(resources, store.world.resources) };
  };
  return serve(snapshotRows, gate, {
    listSnapshots: async () => (await snapshots.list()).map(shownSnapshot),
    async createSnapshot({ body: { name }, res }) {
      const { history, seq, world } = store;
      const saved = await snapshots.save(name, world.id, await history.worldAt({ seq }));
      res.location(`/inspect/snapshots/${name}`);
      return shownSnapshot(saved);
    },
    async compareSnapshot({ caller, path, query: { brief, resource } }) {
      const then = await read(path.snapshot_name);
      const now = await store.history.worldAt({ seq: store.seq });
      const difference = await differenceBetween(onlyOne(then, resource), onlyOne(now, resource), {
        from: then,
        to: now,
      });
      const shown = brief
        ? briefDifference(difference)
        : shownDifference(difference, (one) => seesRecord(gate, caller, one));
      return { from: then.seq, to: now.seq, ...shown };
    },
    async restoreSnapshot({ caller, path: { snapshot_name: name }, req }) {
      const { resources } = await read(name);
      const cause = causeOf({ caller, via: viaOf(req) }, 'snapshot.restore', `restore of snapshot ${name}`);
      const commit = await machine.bringBack(resources, cause);
      return { ...(commit && { commit: shownCommit(commit) }) };
    },
    deleteSnapshot: ({ path }) => snapshots.remove(path.snapshot_name),
    exportArchive: ({ res }) => sendArchive(archived(), res),
    importArchive: ({ caller, query, req }) =>
      receiveArchive(req, archived(), { isDry: query.dryRun, caller, via: viaOf(req) }),
  });
}

function shownSnapshot({ atMs, ...rest }: SnapshotInfo): ShownSnapshot {
  return { ...rest, at: new Date(atMs).toISOString() };
}
