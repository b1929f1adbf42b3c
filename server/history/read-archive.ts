import { createHash } from 'node:crypto';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { PlatformError } from '../model/errors.ts';
import type { Uuid } from '../model/ids.ts';
import { isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { reasonOf } from '../model/reason.ts';

import { parseForeignWorld } from '../store/world-file.ts';
import type { PastWorld } from '../store/world-history.ts';
import { LEADS, MANIFEST, manifestSchema, WORLD } from './archive.ts';

/** More than any world that one would carry about, and less than would hurt. */
const MAX_WORLD_BYTES = 512 * 1024 * 1024;
const MAX_MANIFEST_BYTES = 1024 * 1024;
const MAX_FILES = 100;

/** What an archive brings along. */
export interface ArchiveContent {
  world: PastWorld;
  /** By their ids; not checked yet. */
  leads: { key: Uuid; record: JsonObject }[];
}

/**
 * Reads an archive from the disk and checks that it is whole.
 *
 * @throws PlatformError 400 with the reason, for a file that is damaged or that Terrarium has not made
 */
export async function readArchive(path: string): Promise<ArchiveContent> {
  const zip = await openPromise(path, { autoClose: false }).catch((error: unknown) => {
    throw refused('it is no zip file, or its end is missing', error);
  });
  try {
    return await readZip(zip);
  } catch (error) {
    if (error instanceof PlatformError) throw error;
    throw refused(reasonOf(error), error);
  } finally {
    zip.close();
  }
}

async function readZip(zip: ZipFile): Promise<ArchiveContent> {
  if (zip.entryCount > MAX_FILES) throw refused(`it has ${zip.entryCount} files, ours have a handful`);
  const entries = new Map<string, Entry>();
  for await (const entry of zip.eachEntry()) {
    if (entries.has(entry.fileName)) throw refused(`${entry.fileName} is in it twice`);
    entries.set(entry.fileName, entry);
  }
  const manifestEntry = entries.get(MANIFEST);
  if (!manifestEntry) throw refused(`it has no ${MANIFEST}, so it is no archive of Terrarium`);
  const { content } = await readEntry(zip, manifestEntry, MAX_MANIFEST_BYTES);
  const manifest = manifestSchema.safeParse(JSON.parse(content.toString('utf8')));
  if (!manifest.success) throw refused(`its ${MANIFEST} is not that of an archive of this version of Terrarium`);
  entries.delete(MANIFEST);

  const { files } = manifest.data;
  const missing = Object.keys(files).find((name) => !entries.has(name));
  if (missing !== undefined) throw refused(`${missing} is missing`);
  const wanted = new Map<string, Buffer>();
  for (const [name, entry] of entries) {
    const expected = Object.hasOwn(files, name) ? files[name] : undefined;
    if (!expected) throw refused(`${name} is not in its manifest`);
    const isWanted = name === WORLD || name === LEADS;
    const { sha256, content } = await readEntry(zip, entry, isWanted ? MAX_WORLD_BYTES : 0);
    if (sha256 !== expected.sha256) throw refused(`${name} is damaged: its SHA-256 is not the one in the manifest`);
    if (isWanted) wanted.set(name, content);
  }
  const world = wanted.get(WORLD);
  if (!world) throw refused(`it has no ${WORLD}`);
  return { world: await worldIn(world), leads: leadsIn(wanted.get(LEADS) ?? Buffer.alloc(0)) };
}

/** Reads a file of the zip to its end. @param keepBytes how much of it may be kept in memory; 0 keeps nothing of it */
async function readEntry(zip: ZipFile, entry: Entry, keepBytes: number): Promise<{ sha256: string; content: Buffer }> {
  if (keepBytes > 0 && entry.uncompressedSize > keepBytes) {
    throw refused(`${entry.fileName} is over ${keepBytes / 1024 / 1024} MiB`);
  }
  const hash = createHash('sha256');
  // Each piece is put in its place as it comes: putting all of them together at the end would be one long turn. yauzl sees to it that
  // they are as long as the zip says.
  const content = Buffer.allocUnsafe(keepBytes > 0 ? entry.uncompressedSize : 0);
  let at = 0;
  for await (const chunk of await zip.openReadStreamPromise(entry)) {
    hash.update(chunk);
    if (keepBytes > 0) at += chunk.copy(content, at);
  }
  return { sha256: hash.digest('hex'), content };
}

async function worldIn(content: Buffer): Promise<PastWorld> {
  try {
    return await parseForeignWorld(content);
  } catch (error) {
    throw refused(`${WORLD} is no world: ${reasonOf(error)}`, error);
  }
}

function leadsIn(content: Buffer): ArchiveContent['leads'] {
  const lines = content.toString('utf8').split('\n').filter(Boolean);
  return lines.map((line) => {
    const value: Json = JSON.parse(line);
    if (!isJsonObject(value) || typeof value.key !== 'string' || !isJsonObject(value.record)) {
      throw refused(`a line of ${LEADS} is no lead`);
    }
    return { key: value.key, record: value.record };
  });
}

function refused(reason: string, cause?: unknown): PlatformError {
  return new PlatformError(400, `the archive cannot be imported: ${reason}. Nothing was changed.`, { cause });
}
