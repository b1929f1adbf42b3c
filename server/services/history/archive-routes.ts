import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';
import type { ImportView } from '../../api/routes/history.ts';
import { sendStream } from '../../api/server/compress.ts';
import { causeOf } from '../../model/cause.ts';
import { PlatformError } from '../../model/errors.ts';
import { notSaved } from '../../storage/files/append-file.ts';
import type { WorldStore } from '../../storage/world/world-store.ts';
import { removeIfPossible } from '../../system/files-in-use.ts';
import { makeTemporary } from '../../system/temporary.ts';
import { type ArchiveSource, archiveOf } from './archive.ts';
import { briefDifference, toCommitView } from './history-routes.ts';
import { differenceBetween, type HistoryService, type Undoing } from './history-service.ts';
import { type ArchiveTarget, planImport } from './plan-import.ts';

const ZIP_TYPE = 'application/zip';
const MAX_ARCHIVE_BYTES = 1024 * 1024 * 1024;

/** Sends world, history and archived logs as a ZIP archive without secrets. */
export async function sendArchive(store: WorldStore, source: ArchiveSource, res: Response): Promise<void> {
  const archive = await archiveOf(store, source);
  res.type(ZIP_TYPE).attachment('terrarium.zip');
  await sendStream(archive, res);
}

/** Replaces the world in one commit and adds the records of logs; a dry run only reports. Throws 400 for an invalid archive. */
export async function receiveArchive(
  req: Request,
  historyService: HistoryService,
  target: ArchiveTarget,
  { isDry, ...initiator }: Undoing & { isDry: boolean },
): Promise<ImportView> {
  const folder = await makeTemporary('import');
  try {
    const path = join(folder, 'archive.zip');
    await receive(req, path);
    const { world, seq, added, ...rest } = await planImport(path, historyService.store.world.resources, target);
    const reported = { leads: added.filter(({ name }) => name === 'leads').length, ...rest };
    if (isDry) {
      const { resources, total } = briefDifference(differenceBetween(historyService.store.world, { resources: world }));
      return { ...reported, resources, total };
    }
    const cause = causeOf(initiator, 'archive.import', `import of an archive of commit ${seq}`);
    const commit = await historyService.replaceWith(world, cause);
    for (const { log, key, record } of added) await log.put(key, record);
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
