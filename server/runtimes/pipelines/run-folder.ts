import { lstat, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { removeTree } from '../../system/files-in-use.ts';
import { ownerHere, ownerSchema } from '../../system/owner.ts';
import { killByEnvironment } from '../../system/process-tree.ts';
import { abandonedFolders, makeTemporary, setOwner, sharedTemporary } from '../../system/temporary.ts';

const KIND = 'pipeline';
/** Time to keep caches and artifacts for later runs. */
const KEPT_MS = 7 * 24 * 60 * 60 * 1000;

/** The process of a run, and what to clean up: the platform's address, the key that was created there, the record of the run. */
const owner = ownerSchema.extend({
  baseUrl: z.string(),
  apiKey: z.string().optional(),
  runId: z.string().optional(),
});

export type RunOwner = z.output<typeof owner>;

/** A private folder for one run. Everything in it, including secrets, is removed with the run. */
export class RunFolder {
  readonly path: string;
  #owner: RunOwner;

  private constructor(path: string, whose: RunOwner) {
    this.path = path;
    this.#owner = whose;
  }

  static async make(baseUrl: string): Promise<RunFolder> {
    const path = await makeTemporary(KIND);
    try {
      const folder = new RunFolder(path, { ...(await ownerHere(undefined)), baseUrl });
      await folder.note({});
      for (const name of ['jobs', 'files', 'artifacts']) await mkdir(join(path, name));
      return folder;
    } catch (failure) {
      await removeTree(path);
      throw failure;
    }
  }

  /** Notes what to clean up, in case this process ends first. */
  async note(more: Partial<RunOwner>): Promise<void> {
    this.#owner = { ...this.#owner, ...more };
    setOwner(this.path, this.#owner);
  }

  /** Removes the folder, and ends the processes that were started in it. */
  async remove(): Promise<void> {
    await removeFolder(this.path);
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
  const parentFolder = storageRoot();
  for (const name of parentFolder === undefined ? [] : await readdir(parentFolder)) {
    const path = join(parentFolder ?? '', name);
    const { mtimeMs } = await lstat(path).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs > KEPT_MS) await removeTree(path);
  }
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
