import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Entry, openPromise } from 'yauzl';

const MAX_ENTRIES = 20_000;
const MAX_UNPACKED_BYTES = 512 * 1024 * 1024;

/**
 * Unpacks a zip archive into an existing folder. Throws for an archive that is damaged, that has a name leading out of the
 * folder (yauzl refuses `..`, absolute and backslash names), more than 20,000 entries or more than 512 MiB inside.
 */
export async function unzip(archive: string, folder: string): Promise<void> {
  const zip = await openPromise(archive);
  try {
    if (zip.entryCount > MAX_ENTRIES) {
      throw new Error(`the archive has ${zip.entryCount} entries; at most ${MAX_ENTRIES} are allowed`);
    }
    let unpackedBytes = 0;
    for await (const entry of zip.eachEntry()) {
      // What an entry declares is what it may unpack to: yauzl ends the stream with an error at the first byte more.
      unpackedBytes += entry.uncompressedSize;
      if (unpackedBytes > MAX_UNPACKED_BYTES) {
        throw new Error(`the archive unpacks to more than ${MAX_UNPACKED_BYTES / 1024 / 1024} MiB`);
      }
      if (isFolder(entry)) continue;
      const file = path.join(folder, entry.fileName);
      await mkdir(path.dirname(file), { recursive: true });
      await pipeline(await zip.openReadStreamPromise(entry), createWriteStream(file));
    }
  } finally {
    zip.close();
  }
}

function isFolder(entry: Entry): boolean {
  return entry.fileName.endsWith('/');
}
