import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Request, Router } from 'express';
import { type ImportView, type SnapshotView, snapshotRoutes } from '../../api/routes/history.ts';
import { changeSourceOf } from '../../api/server/authenticate.ts';
import { sendStream } from '../../api/server/compress.ts';
import { mountRoutes, type RouteGuard } from '../../api/server/mount-routes.ts';
import { type ChangeRequest, causeOf } from '../../model/commit.ts';
import { PlatformError } from '../../model/errors.ts';
import { notSaved } from '../../storage/files/append-file.ts';
import type { NamedSnapshots, SnapshotInfo } from '../../storage/world/named-snapshots.ts';
import { removeIfPossible } from '../../system/files-in-use.ts';
import { makeTemporary } from '../../system/temporary.ts';
import { type ArchiveSource, archiveOf } from './archive.ts';
import { briefDifference, seesRecord, toCommitView, toComparison } from './history-routes.ts';
import { differenceBetween, type HistoryService } from './history-service.ts';
import { type ArchiveTarget, planImport } from './plan-import.ts';

export function snapshotRouter(
  snapshots: NamedSnapshots,
  historyService: HistoryService,
  archive: ArchiveSource & ArchiveTarget,
  guard: RouteGuard,
): Router {
  const { store } = historyService;
  return mountRoutes(snapshotRoutes, guard, {
    listSnapshots: async () => (await snapshots.list()).map(toSnapshotView),
    async createSnapshot({ body: { name }, res }) {
      const { history, seq, world } = store;
      const saved = await snapshots.save(name, world.id, await history.worldAt({ seq }));
      res.location(`/inspect/snapshots/${name}`);
      return toSnapshotView(saved);
    },
    async compareSnapshot({ caller, path, query: { brief, resource } }) {
      const then = await snapshots.read(path.snapshot_name);
      const now = await store.history.worldAt({ seq: store.seq });
      return toComparison(then, now, { brief, resource, isSeen: (id) => seesRecord(guard, caller, id) });
    },
    async restoreSnapshot({ caller, path: { snapshot_name: name }, req }) {
      const { resources } = await snapshots.read(name);
      const cause = causeOf({ caller, via: changeSourceOf(req) }, 'snapshot.restore', `restore of snapshot ${name}`);
      const commit = await historyService.restoreTo(resources, cause);
      return { ...(commit && { commit: toCommitView(commit) }) };
    },
    deleteSnapshot: ({ path }) => snapshots.remove(path.snapshot_name),
    async exportArchive({ res }) {
      const content = await archiveOf(store, archive);
      res.type(ZIP_TYPE).attachment('terrarium.zip');
      await sendStream(content, res);
    },
    importArchive: ({ caller, query, req }) =>
      receiveArchive(req, historyService, archive, { isDry: query.dryRun, caller, via: changeSourceOf(req) }),
  });
}

function toSnapshotView({ atMs, ...rest }: SnapshotInfo): SnapshotView {
  return { ...rest, at: new Date(atMs).toISOString() };
}

const ZIP_TYPE = 'application/zip';
const MAX_ARCHIVE_BYTES = 1024 * 1024 * 1024;

/** Replaces the world in one commit and adds the records of logs; a dry run only reports. Throws 400 for an invalid archive. */
async function receiveArchive(
  req: Request,
  historyService: HistoryService,
  target: ArchiveTarget,
  { isDry, ...initiator }: ChangeRequest & { isDry: boolean },
): Promise<ImportView> {
  const folder = await makeTemporary('import');
  try {
    const path = join(folder, 'archive.zip');
    await receive(req, path);
    const { world, seq, added, ...rest } = await planImport(path, historyService.store.world.resources, target);
    const reported = { leads: added.filter(({ name }) => name === 'leads').length, ...rest };
    if (isDry) {
      const { resources, total } = briefDifference(differenceBetween(historyService.store.world.resources, world));
      return { ...reported, resources, total };
    }
    const cause = causeOf(initiator, 'archive.import', `import of an archive of commit ${seq}`);
    // Before the commit: if the disk is full, the world stays as it is, and a second import completes this one.
    for (const { log, key, record } of added) await log.put(key, record);
    const commit = await historyService.replaceWith(world, cause);
    return { commit: commit && toCommitView(commit), ...reported };
  } finally {
    await removeIfPossible(folder);
  }
}

/** Writes the body of a request to a file. Throws 415, 413, 400 when it breaks off, and 503 when there is no space for it. */
async function receive(req: Request, path: string): Promise<void> {
  if (!req.is(ZIP_TYPE))
    throw new PlatformError('unsupported_media_type', `send the archive as ${ZIP_TYPE} (set the Content-Type header)`);
  let sizeBytes = 0;
  const limited = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      sizeBytes += chunk.length;
      const isTooLarge = sizeBytes > MAX_ARCHIVE_BYTES;
      done(
        isTooLarge ? new PlatformError('body_too_large', `the archive is over ${MAX_ARCHIVE_BYTES} bytes`) : null,
        chunk,
      );
    },
  });
  try {
    await pipeline(req, limited, createWriteStream(path, { mode: 0o600 }));
  } catch (error) {
    if (error instanceof PlatformError) throw error;
    if (req.complete) throw notSaved('The archive', path, error);
    throw new PlatformError('invalid_archive', 'the upload of the archive was interrupted. Nothing was changed.', {
      cause: error,
    });
  }
}
