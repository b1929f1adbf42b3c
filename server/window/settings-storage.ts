import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** How much of the disk one part takes. */
export interface PartSize {
  files: number;
  sizeBytes: number;
}

/** What a data folder is made of, by the names at its top; whatever is not named here is `other`. */
const PARTS = {
  'world.json': 'world',
  'journal.jsonl': 'history',
  history: 'history',
  snapshots: 'snapshots',
  records: 'records',
  'leads.jsonl': 'leads',
  'results.jsonl': 'results',
  lambdas: 'packages',
  'scm.jsonl': 'scm',
  'pipelines.jsonl': 'pipelines',
  'api-keys.jsonl': 'credentials',
  'tokens.jsonl': 'credentials',
  'root-api-key.json': 'credentials',
} as const;
export type StoredPart = (typeof PARTS)[keyof typeof PARTS] | 'other';
const partsByName = new Map<string, StoredPart>(Object.entries(PARTS));

/** Packages of lambdas may bring tens of thousands of files; nobody waits for the sizes of more. */
const MAX_FILES = 50_000;

export interface FolderSizes {
  parts: ReadonlyMap<StoredPart, PartSize>;
  /** Were there more files than were looked at? Then all sizes are at least what they say. */
  isCut: boolean;
}

/**
 * Sizes of what a data folder holds. Files come and go meanwhile: what is gone counts nothing. Links are not followed.
 *
 * @param dir the data folder
 */
export async function folderSizes(dir: string): Promise<FolderSizes> {
  const parts = new Map<StoredPart, PartSize>();
  let looked = 0;
  const measure = async (folder: string, partOf: (name: string) => StoredPart): Promise<void> => {
    for (const entry of await entriesOf(folder)) {
      if (looked >= MAX_FILES) return;
      const part = partOf(entry.name);
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        await measure(path, () => part);
        continue;
      }
      looked += 1;
      const size = await lstat(path).then(
        (stats) => stats.size,
        () => 0,
      );
      const { files, sizeBytes } = parts.get(part) ?? { files: 0, sizeBytes: 0 };
      parts.set(part, { files: files + 1, sizeBytes: sizeBytes + size });
    }
  };
  await measure(dir, (name) => partsByName.get(name.replace(/\.tmp$/, '')) ?? 'other');
  return { parts, isCut: looked >= MAX_FILES };
}

function entriesOf(folder: string): Promise<Dirent[]> {
  return readdir(folder, { withFileTypes: true }).catch(() => []);
}
