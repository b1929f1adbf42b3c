import { createWriteStream } from 'node:fs';
import { mkdir, realpath, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { type Entry, openPromise, type ZipFile } from 'yauzl';

const MAX_ENTRIES = 50_000;
const MAX_UNPACKED_BYTES = 500_000_000;
/** Of a link's target. */
const MAX_LINK_BYTES = 4_096;
/** Up to here a file is written in one piece: packages consist of small ones. */
const WHOLE_BYTES = 256 * 1024;
/** Files that are written at the same time; a few, so that others get at the disk, too. */
const AT_A_TIME = 8;
/** Which kind of file a Unix mode is of, and that of a link. */
const KIND = 0o170000;
const LINK = 0o120000;

/**
 * Unpacks a zip archive into an existing folder, with its links and execution bits (D-057). Throws for an archive that is damaged,
 * that has a name or a link leading out of the folder (yauzl refuses `..`, absolute and backslash names), more than 50,000 entries
 * or more than 500 MB inside (D-185).
 */
export async function unzip(archive: string, folder: string): Promise<void> {
  const zip = await openPromise(archive);
  const underWay = new Set<Promise<void>>();
  try {
    if (zip.entryCount > MAX_ENTRIES) {
      throw new Error(`the archive has ${zip.entryCount} entries; at most ${MAX_ENTRIES} are allowed`);
    }
    let unpackedBytes = 0;
    const links = new Map<string, string>();
    const folders = new Set<string>();
    for await (const entry of zip.eachEntry()) {
      // What an entry declares is what it may unpack to: yauzl ends the stream with an error at the first byte more.
      unpackedBytes += entry.uncompressedSize;
      if (unpackedBytes > MAX_UNPACKED_BYTES) {
        throw new Error(`the archive unpacks to more than ${MAX_UNPACKED_BYTES / 1e6} MB`);
      }
      if (isFolder(entry)) continue;
      const file = path.join(folder, entry.fileName);
      const place = path.dirname(file);
      if (!folders.has(place)) await mkdir(place, { recursive: true, mode: 0o700 });
      folders.add(place);
      const written = write(zip, entry, file, links).finally(() => underWay.delete(written));
      underWay.add(written);
      if (underWay.size >= AT_A_TIME) await Promise.race(underWay);
    }
    await Promise.all(underWay);
    await makeLinks(folder, links);
  } finally {
    await Promise.allSettled(underWay);
    zip.close();
  }
}

/** A file is written, a link noted. */
async function write(zip: ZipFile, entry: Entry, file: string, links: Map<string, string>): Promise<void> {
  const mode = entry.externalFileAttributes >>> 16;
  const isLink = (mode & KIND) === LINK;
  if (isLink && entry.uncompressedSize > MAX_LINK_BYTES) throw new Error(`the link ${entry.fileName} is too long`);
  const content = await zip.openReadStreamPromise(entry);
  const access = { mode: 0o600 | (mode & 0o100) };
  if (isLink) links.set(entry.fileName, await text(content));
  else if (entry.uncompressedSize > WHOLE_BYTES) await pipeline(content, createWriteStream(file, access));
  else await writeFile(file, await buffer(content), access);
}

function isFolder(entry: Entry): boolean {
  return entry.fileName.endsWith('/');
}

/** Last of all, so that nothing is written through them; where they lead is known only when all are there. */
async function makeLinks(folder: string, links: ReadonlyMap<string, string>): Promise<void> {
  for (const [name, target] of links) await symlink(target, path.join(folder, name));
  const root = await realpath(folder);
  for (const [name, target] of links) {
    const file = path.join(root, name);
    // One that leads to nothing leads to where its text says.
    const place = await realpath(file).catch(() => path.resolve(path.dirname(file), target));
    if (place !== root && !place.startsWith(root + path.sep)) {
      throw new Error(`the link ${name} leads out of the package, to ${target}`);
    }
  }
}
