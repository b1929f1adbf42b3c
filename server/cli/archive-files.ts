import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline as passOn, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type ImportView, snapshotRoutes } from '../api/routes/history.ts';
import { reasonOf } from '../model/errors.ts';
import { UserError } from '../platform/config.ts';
import { removeIfPossible, renameFile } from '../system/files-in-use.ts';
import { draftOf } from '../system/write-whole.ts';
import { ExitWith, NO } from './exit-with.ts';
import type { PlatformClient } from './platform-client.ts';
import type { Terminal } from './terminal.ts';

const PATH = '/inspect/archive';
const ZIP_TYPE = 'application/zip';
const TRANSFER_TIMEOUT_MS = 3_600_000;
const PROGRESS_EVERY_MS = 1_000;

/**
 * Saves the whole instance in a file: world, history, leads, results. The file appears only when it is complete.
 *
 * @param file absolute path
 */
export async function saveArchive(client: PlatformClient, file: string, terminal: Terminal): Promise<void> {
  const archive = await client.stream('GET', PATH, { accept: ZIP_TYPE, timeoutMs: TRANSFER_TIMEOUT_MS });
  const draft = draftOf(file);
  try {
    await pipeline(archive, progress(terminal), createWriteStream(draft, { mode: 0o600, flags: 'wx' }));
    await renameFile(draft, file);
  } catch (failure) {
    throw isOfFile(failure) ? failure : new ExitWith(NO, `${client.baseUrl}${PATH}: ${reasonOf(failure)}`);
  } finally {
    await removeIfPossible(draft);
  }
}

/**
 * Replaces the instance with the contents of an archive.
 *
 * @throws UserError, or the error of the file system, when it cannot be read
 */
export async function sendArchive(client: PlatformClient, file: string, terminal: Terminal): Promise<ImportView> {
  if (!(await stat(file)).isFile())
    throw new UserError(`${file} is not a file: give the path of a ZIP archive that export has written`);
  // An error while reading the file is passed on to the stream that the request sends.
  const content = passOn(createReadStream(file), progress(terminal), () => {});
  const imported = await client.ask(snapshotRoutes.importArchive, {
    body: { type: ZIP_TYPE, content },
    timeoutMs: TRANSFER_TIMEOUT_MS,
  });
  return { ...imported, runs: imported.runs ?? [] };
}

/** Is it an error of the file system? Those name the file. */
function isOfFile(failure: unknown): boolean {
  return failure instanceof Error && 'path' in failure;
}

/** Passes bytes on, and prints their number once a second. */
function progress(terminal: Pick<Terminal, 'nowMs' | 'complain'>): Transform {
  let sizeBytes = 0;
  let printedAtMs = terminal.nowMs();
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      sizeBytes += chunk.length;
      if (terminal.nowMs() - printedAtMs >= PROGRESS_EVERY_MS) {
        printedAtMs = terminal.nowMs();
        terminal.complain(`${(sizeBytes / 1024 ** 2).toFixed(1)} MiB ...`);
      }
      done(null, chunk);
    },
  });
}
