import { lstat, mkdir, readdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { removeIfPossible, removeTree } from '../../system/files-in-use.ts';
import { ownerHere, ownerSchema } from '../../system/owner.ts';
import { killByEnvironment } from '../../system/process-tree.ts';
import { abandonedFolders, makeTemporary, setOwner, sharedTemporary } from '../../system/temporary.ts';

const KIND = 'pipeline';
/** Time to keep caches and artifacts for later runs, from their last use. */
const KEPT_MS = 7 * 24 * 60 * 60 * 1000;

/** The process of a run, and what to clean up: the platform's address, the key that was created there, the record of the run. */
const owner = ownerSchema.extend({
  baseUrl: z.string(),
  apiKey: z.string().optional(),
  runId: z.string().optional(),
});

export type RunOwner = z.output<typeof owner>;

/** A private folder for one run. Everything in it, including secrets, is removed with the run. */
export type RunFolder = Awaited<ReturnType<typeof makeRunFolder>>;

export async function makeRunFolder(baseUrl: string) {
  const path = await makeTemporary(KIND);
  let currentOwner: RunOwner = { ...(await ownerHere(undefined)), baseUrl };
  const folder = {
    path,
    /** Variables of jobs that are files. */
    filesDir: join(path, 'files'),
    /** Notes what to clean up, in case this process ends first. */
    async note(more: Partial<RunOwner>): Promise<void> {
      currentOwner = { ...currentOwner, ...more };
      setOwner(path, currentOwner);
    },
    /** Removes the folder, and ends the processes that were started in it. */
    remove: () => removeFolder(path),
  };
  try {
    await folder.note({});
    for (const name of ['jobs', 'files', 'artifacts']) await mkdir(join(path, name));
    return folder;
  } catch (failure) {
    await removeTree(path);
    throw failure;
  }
}

/**
 * Removes what runs that were killed have left behind on this machine: their folders with all secrets, and processes. `cleanUp` returns
 * what they have on a platform.
 */
export async function sweepLeftovers(cleanUp: (owner: RunOwner) => Promise<void>): Promise<void> {
  for await (const { folder, owner: whose } of abandonedFolders(`${KIND}-`, owner)) {
    await cleanUp(whose).catch(() => undefined); // that platform may have ended, too
    await removeFolder(folder).catch(() => undefined); // another run removes it, too
  }
  // The platform also limits their size.
  await sweepStored();
}

/**
 * Removes the artifacts of commits, the caches and the variables of runs that no run has stored or used for seven days, and then the oldest ones
 * until all have a size. Their folders' times of modification tell.
 *
 * @param maxBytes the size of all projects; undefined to look at their age only
 */
export async function sweepStored(maxBytes?: number): Promise<void> {
  const parentFolder = storageRoot();
  if (parentFolder === undefined) return;
  const items = (await foldersIn(parentFolder, 3)).sort((earlier, later) => later.usedAtMs - earlier.usedAtMs);
  const oldestMs = Date.now() - KEPT_MS;
  let storedBytes = 0;
  for (const { path, usedAtMs } of items) {
    const isOld = usedAtMs < oldestMs;
    if (!isOld && maxBytes !== undefined) storedBytes += await sizeOf(path);
    // What is in use by a program of this machine is removed at a later time.
    if (isOld || storedBytes > (maxBytes ?? 0)) await removeIfPossible(path);
  }
}

/** Returns what is at a depth below a folder: below that of the platform, `PROJECT/artifacts/SHA`, `PROJECT/cache/KEY`, `PROJECT/variables/RUN`. */
async function foldersIn(folder: string, depth: number): Promise<{ path: string; usedAtMs: number }[]> {
  const paths = (await readdir(folder).catch(() => [])).map((name) => join(folder, name));
  if (depth > 1) return (await Promise.all(paths.map((path) => foldersIn(path, depth - 1)))).flat();
  const stats = await Promise.all(paths.map((path) => lstat(path).catch(() => undefined)));
  return paths.flatMap((path, index) => ({ path, usedAtMs: stats[index]?.mtimeMs ?? Date.now() }));
}

/** Returns the bytes of a file, or of all files below a folder. */
async function sizeOf(path: string): Promise<number> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  let sizeBytes = 0;
  for (const file of entries.length > 0 ? files : [path]) {
    sizeBytes += (await lstat(file).catch(() => undefined))?.size ?? 0;
  }
  return sizeBytes;
}

/** Notes that a run has stored or used something, so that it is kept for another seven days. */
export async function noteUse(path: string): Promise<void> {
  const now = new Date();
  await utimes(path, now, now).catch(() => undefined); // another run has just replaced it
}

/**
 * Folder in which runs leave artifacts and caches for later ones of the same project; undefined if another user has
 * taken the name.
 */
export const storageRoot = (): string | undefined => sharedTemporary('pipelines');

async function removeFolder(path: string): Promise<void> {
  // Each has the run's folder in its environment, wherever it moved.
  await killByEnvironment((environment) => environment.includes(`=${path}/`));
  await removeTree(path);
}
