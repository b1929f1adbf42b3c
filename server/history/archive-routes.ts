import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';
import type { ShownImport } from '../contract/history.ts';
import { causeOf } from '../model/cause.ts';
import { PlatformError } from '../model/errors.ts';
import { notSaved } from '../store/append-file.ts';
import { type ArchiveSource, archiveOf } from './archive.ts';
import { briefDifference, shownCommit } from './history-routes.ts';
import { type ArchiveTarget, planImport } from './plan-import.ts';
import { sendStream } from './send-stream.ts';
import { differenceBetween, type Undoing } from './time-machine.ts';

const ZIP_TYPE = 'application/zip';
/** Largest archive that is taken in. */
const MAX_ARCHIVE_BYTES = 1024 * 1024 * 1024;

export type ArchiveOptions = ArchiveSource & ArchiveTarget;

/** Answers with world, history, leads and results as a zip, without anything secret. */
export async function sendArchive(options: ArchiveOptions, res: Response): Promise<void> {
  const archive = await archiveOf(options);
  res.type(ZIP_TYPE).attachment('terrarium.zip');
  await sendStream(archive, res);
}

/** Makes the world what such a zip says, by one commit, and adds its leads; or only says what that would do. 400 with the reason for any other, which changes nothing. */
export async function receiveArchive(
  req: Request,
  options: ArchiveOptions,
  { isDry, ...by }: Undoing & { isDry: boolean },
): Promise<ShownImport> {
  const folder = await mkdtemp(join(tmpdir(), 'terrarium-import-'));
  try {
    const path = join(folder, 'archive.zip');
    await receive(req, path);
    const { world, seq, added, ...rest } = await planImport(path, options);
    const told = { leads: added.length, ...rest };
    const { machine, leads } = options;
    if (isDry) {
      const { resources, total } = briefDifference(await differenceBetween(machine.store.world, { resources: world }));
      return { ...told, resources, total };
    }
    const cause = causeOf(by, 'archive.import', `import of an archive of commit ${seq}`);
    const commit = await machine.become(world, cause);
    for (const { key, record } of added) await leads.put(key, record);
    return { commit: commit && shownCommit(commit), ...told };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Writes the body of a request to a file. Throws 415, 413, 400 when it breaks off, and 503 when there is no room for it. */
async function receive(req: Request, path: string): Promise<void> {
  if (!req.is(ZIP_TYPE)) throw new PlatformError(415, `send the archive as ${ZIP_TYPE} (set the Content-Type header)`);
  let sizeBytes = 0;
  const limited = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      sizeBytes += chunk.length;
      const isTooLarge = sizeBytes > MAX_ARCHIVE_BYTES;
      done(isTooLarge ? new PlatformError(413, `the archive is over ${MAX_ARCHIVE_BYTES} bytes`) : null, chunk);
    },
  });
  try {
    await pipeline(req, limited, createWriteStream(path, { mode: 0o600 }));
  } catch (error) {
    if (error instanceof PlatformError) throw error;
    if (req.complete) throw notSaved('The archive', path, error);
    throw new PlatformError(400, 'the archive broke off on its way; nothing was changed', { cause: error });
  }
}
