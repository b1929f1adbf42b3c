import { createWriteStream } from 'node:fs';
import { mkdir, realpath, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { makeLink } from '../../../system/files-in-use.ts';
import { SYSTEM, type System } from '../../../system/this-system.ts';

const MAX_ENTRIES = 50_000;
const MAX_UNPACKED_BYTES = 500_000_000;
const MAX_LINK_BYTES = 4_096;
/** Up to here a file is written in one piece: packages consist of small ones. */
const WHOLE_BYTES = 256 * 1024;
/** Files that are written at the same time; a few, so that others get at the disk, too. */
const AT_A_TIME = 8;
const KIND = 0o170000;
const LINK = 0o120000;

/**
 * Unpacks a zip archive into an existing folder, with its links and execution bits (D-057). Throws for an archive that is damaged,
 * that has a name or a link leading out of the folder (yauzl refuses `..`, absolute and backslash names), more than 50,000 entries
 * or more than 500 MB inside (D-185).
 */
export async function unzip(archive: string, folder: string, system = SYSTEM): Promise<void> {
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
      // An entry cannot unpack to more than its declared size: yauzl ends the stream with an error at the first byte beyond it.
      unpackedBytes += entry.uncompressedSize;
      if (unpackedBytes > MAX_UNPACKED_BYTES) {
        throw new Error(`the archive unpacks to more than ${MAX_UNPACKED_BYTES / 1e6} MB`);
      }
      if (entry.fileName.endsWith('/')) continue; // a folder
      const file = path.join(folder, entry.fileName);
      const parent = path.dirname(file);
      if (!folders.has(parent)) await mkdir(parent, { recursive: true, mode: 0o700 });
      folders.add(parent);
      const written = write(zip, entry, file, links).finally(() => underWay.delete(written));
      underWay.add(written);
      if (underWay.size >= AT_A_TIME) await Promise.race(underWay);
    }
    await Promise.all(underWay);
    await makeLinks(folder, links, system);
  } finally {
    await Promise.allSettled(underWay);
    zip.close();
  }
}

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

/** Last of all, so that nothing is written through them; where they lead is known only when all are there. */
async function makeLinks(folder: string, links: ReadonlyMap<string, string>, system: System): Promise<void> {
  const root = await realpath(folder);
  const check = async ([name, target]: [string, string]) => {
    const targetPath = path.resolve(path.dirname(path.join(root, name)), target);
    // One that leads to nothing leads to where its text says.
    const found = await realpath(system === 'win32' ? targetPath : path.join(root, name)).catch(() => targetPath);
    if (found !== root && !found.startsWith(root + path.sep)) {
      throw new Error(`the link ${name} leads out of the package, to ${target}`);
    }
  };
  let remainingLinks = [...links];
  for (let hasProgress = true; hasProgress && remainingLinks.length > 0; ) {
    hasProgress = false;
    for (const link of remainingLinks) {
      // A copy does not show where it comes from.
      if (system === 'win32') await check(link);
      if (!(await makeLink(link[1], path.join(root, link[0]), system))) continue;
      remainingLinks = remainingLinks.filter((candidate) => candidate !== link);
      hasProgress = true;
    }
  }
  if (system !== 'win32') for (const link of links) await check(link);
}
