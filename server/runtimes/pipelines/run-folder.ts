import { lstat, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { removeTree } from '../../system/files-in-use.ts';
import { killByEnvironment } from '../../system/process-tree.ts';
import { beginOf, lifeOfProcess } from '../../system/processes.ts';
import { makeTemporary, ownFolders, sharedTemporary } from '../../system/temporary.ts';

const KIND = 'pipeline';
const OWNER = 'owner.json';
/** Time to keep caches and artifacts for later runs. */
const KEPT_MS = 7 * 24 * 60 * 60 * 1000;

const owner = z.object({
  pid: z.int(),
  startedAt: z.string(),
  /** What to clean up: the platform's address, the key that was created there, the record of the run. */
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
      const folder = new RunFolder(path, { pid: process.pid, startedAt: await beginOf(process.pid), baseUrl });
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
    await writeFile(join(this.path, OWNER), JSON.stringify(this.#owner), { mode: 0o600 });
  }

  /** Removes the folder, and ends the processes that were started in it. */
  async remove(): Promise<void> {
    await removeFolder(this.path);
  }
}

/**
 * Removes what runs that were killed have left behind on this machine: their folders with all secrets, and processes. `giveBack` receives the platform resources that they must return.
 */
export async function sweepLeftovers(cleanUp: (owner: RunOwner) => Promise<void>): Promise<void> {
  for (const path of await ownFolders(`terrarium-${KIND}-`)) {
    try {
      const { success, data } = owner.safeParse(JSON.parse(await readFile(join(path, OWNER), 'utf8')));
      if (!success || (await lifeOfProcess(data.pid, data.startedAt)) !== 'gone') continue;
      await cleanUp(data).catch(() => undefined); // that platform may have ended, too
      await removeFolder(path);
    } catch {
      // Another run's that has just begun or ended.
    }
  }
  const kept = keptFolder();
  for (const name of kept === undefined ? [] : await readdir(kept)) {
    const path = join(kept ?? '', name);
    const { mtimeMs } = await lstat(path).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs > KEPT_MS) await removeTree(path);
  }
}

/** Where runs leave artifacts and caches for later ones of the same project; undefined if another user has taken the name. */
export const keptFolder = (): string | undefined => sharedTemporary('pipelines');

async function removeFolder(path: string): Promise<void> {
  // Each has the run's folder in its environment, wherever it moved.
  await killByEnvironment((environment) => environment.includes(`=${path}/`));
  await removeTree(path);
}
