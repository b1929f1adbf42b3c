import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { pipeline as passOn, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { UserError } from '../config.ts';
import { type ShownImport, snapshotRows } from '../contract/history.ts';
import { brokenOff, type PlatformClient } from './platform-client.ts';
import type { Terminal } from './terminal.ts';

const PATH = '/inspect/archive';
const ZIP_TYPE = 'application/zip';
/** How long an archive may take on its way. */
const TRANSFER_TIMEOUT_MS = 3_600_000;
/** How often is said how far it has got. */
const PROGRESS_EVERY_MS = 1_000;

/**
 * Keeps the whole instance in a file: world, history, leads, results. It appears whole or not at all.
 *
 * @param file absolute path
 */
export async function saveArchive(client: PlatformClient, file: string, terminal: Terminal): Promise<void> {
  const archive = await client.stream('GET', PATH, { accept: ZIP_TYPE, timeoutMs: TRANSFER_TIMEOUT_MS });
  const draft = `${file}.${terminal.pid}.tmp`;
  try {
    await pipeline(archive, progress(terminal), createWriteStream(draft, { mode: 0o600 }));
    await rename(draft, file);
  } catch (failure) {
    throw isOfFile(failure) ? failure : brokenOff(failure);
  } finally {
    await rm(draft, { force: true });
  }
}

/**
 * Makes the instance what a file says.
 *
 * @throws UserError, or the error of the file system, when it cannot be read
 */
export async function sendArchive(client: PlatformClient, file: string, terminal: Terminal): Promise<ShownImport> {
  if (!(await stat(file)).isFile()) throw new UserError(`${file} is no file: give the zip that export has written`);
  // An error of the file becomes one of the stream behind it, which whoever sends it hears of.
  const content = passOn(createReadStream(file), progress(terminal), () => {});
  const imported = await client.ask(snapshotRows.importArchive, {
    body: { type: ZIP_TYPE, content },
    timeoutMs: TRANSFER_TIMEOUT_MS,
  });
  return { ...imported, runs: imported.runs ?? [] };
}

/** Is it an error of the file system, which names the file? */
function isOfFile(failure: unknown): boolean {
  return failure instanceof Error && 'path' in failure;
}

/** Passes bytes on, and says now and then how many. */
function progress(terminal: Pick<Terminal, 'nowMs' | 'complain'>): Transform {
  let sizeBytes = 0;
  let saidAtMs = terminal.nowMs();
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      sizeBytes += chunk.length;
      if (terminal.nowMs() - saidAtMs >= PROGRESS_EVERY_MS) {
        saidAtMs = terminal.nowMs();
        terminal.complain(`${(sizeBytes / 1024 ** 2).toFixed(1)} MiB ...`);
      }
      done(null, chunk);
    },
  });
}
