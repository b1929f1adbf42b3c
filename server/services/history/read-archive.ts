import { createHash } from 'node:crypto';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { PlatformError, reasonOf } from '../../model/errors.ts';
import { isJsonObject, type JsonObject, jsonIn } from '../../model/json.ts';
import type { Uuid } from '../../model/record.ts';

import { parseForeignWorld } from '../../storage/world/world-file.ts';
import type { PastWorld } from '../../storage/world/world-history.ts';
import { fileOf, MANIFEST, manifestSchema, WORLD } from './archive.ts';

/** More than any world that one would carry about, and less than would hurt. */
const MAX_WORLD_BYTES = 512 * 1024 * 1024;
const MAX_MANIFEST_BYTES = 1024 * 1024;
const MAX_FILES = 100;

export interface ArchiveContent {
  world: PastWorld;
  /** Records by the names of their logs; not checked yet. */
  records: ReadonlyMap<string, { key: Uuid; record: JsonObject }[]>;
}

/** Reads an archive and checks that it is whole. Throws 400 if it is damaged or foreign. @param logs names of those that are wanted */
export async function readArchive(path: string, logs: readonly string[]): Promise<ArchiveContent> {
  const zip = await openPromise(path, { autoClose: false }).catch((error: unknown) => {
    throw refused('the file is not a ZIP archive, or it is incomplete', error);
  });
  try {
    return await readZip(zip, logs);
  } catch (error) {
    if (error instanceof PlatformError) throw error;
    throw refused(reasonOf(error), error);
  } finally {
    zip.close();
  }
}

async function readZip(zip: ZipFile, logs: readonly string[]): Promise<ArchiveContent> {
  if (zip.entryCount > MAX_FILES)
    throw refused(`it has too many files (${zip.entryCount}) and was not created by Terrarium`);
  const entries = new Map<string, Entry>();
  for await (const entry of zip.eachEntry()) {
    if (entries.has(entry.fileName)) throw refused(`${entry.fileName} is in it twice`);
    entries.set(entry.fileName, entry);
  }
  const manifestEntry = entries.get(MANIFEST);
  if (!manifestEntry) throw refused(`it has no ${MANIFEST}, so it was not created by Terrarium`);
  const { content } = await readEntry(zip, manifestEntry, MAX_MANIFEST_BYTES);
  const manifest = manifestSchema.safeParse(jsonIn(content.toString('utf8')));
  if (!manifest.success) throw refused(`its ${MANIFEST} does not match this version of Terrarium`);
  entries.delete(MANIFEST);

  const { files } = manifest.data;
  const missing = Object.keys(files).find((name) => !entries.has(name));
  if (missing !== undefined) throw refused(`${missing} is missing`);
  const extracted = new Map<string, Buffer>();
  for (const [name, entry] of entries) {
    const expected = Object.hasOwn(files, name) ? files[name] : undefined;
    if (!expected) throw refused(`${name} is not in its manifest`);
    const isWanted = name === WORLD || logs.some((log) => name === fileOf(log));
    const { sha256, content } = await readEntry(zip, entry, isWanted ? MAX_WORLD_BYTES : 0);
    if (sha256 !== expected.sha256) throw refused(`${name} is damaged: its SHA-256 differs from the manifest`);
    if (isWanted) extracted.set(name, content);
  }
  const world = extracted.get(WORLD);
  if (!world) throw refused(`it has no ${WORLD}`);
  return {
    world: worldIn(world),
    records: new Map(logs.map((log) => [log, recordsIn(log, extracted.get(fileOf(log)))])),
  };
}

/** Reads a file of the ZIP archive. @param keepBytes how many of its bytes may be kept in memory; 0 discards all */
async function readEntry(zip: ZipFile, entry: Entry, keepBytes: number): Promise<{ sha256: string; content: Buffer }> {
  if (keepBytes > 0 && entry.uncompressedSize > keepBytes) {
    throw refused(`${entry.fileName} is over ${keepBytes / 1024 / 1024} MiB`);
  }
  const hash = createHash('sha256');
  // Each chunk is copied when it arrives, because joining all of them at the end would block the event loop. yauzl checks their total
  // length.
  const content = Buffer.allocUnsafe(keepBytes > 0 ? entry.uncompressedSize : 0);
  let at = 0;
  for await (const chunk of await zip.openReadStreamPromise(entry)) {
    hash.update(chunk);
    if (keepBytes > 0) at += chunk.copy(content, at);
  }
  return { sha256: hash.digest('hex'), content };
}

function worldIn(content: Buffer): PastWorld {
  try {
    return parseForeignWorld(content);
  } catch (error) {
    throw refused(`${WORLD} is not a valid world: ${reasonOf(error)}`, error);
  }
}

function recordsIn(log: string, content: Buffer = Buffer.alloc(0)) {
  const lines = content.toString('utf8').split('\n').filter(Boolean);
  return lines.map((line) => {
    const value = jsonIn(line);
    if (!isJsonObject(value) || typeof value.key !== 'string' || !isJsonObject(value.record)) {
      throw refused(`a line of ${fileOf(log)} is not a valid record`);
    }
    return { key: value.key, record: value.record };
  });
}

function refused(reason: string, cause?: unknown): PlatformError {
  return new PlatformError('invalid_archive', `the archive cannot be imported: ${reason}. Nothing was changed.`, {
    cause,
  });
}
