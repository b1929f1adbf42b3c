import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { beginOf } from '../machine/processes.ts';

const PREFIX = 'terrarium-pipeline-';
const OWNER = 'owner.json';
/** What a run leaves for the next one - caches, artifacts - is kept so long. */
const KEPT_MS = 7 * 24 * 60 * 60 * 1000;
/** An engine that says nothing. */
const ENGINE_TIMEOUT_MS = 30_000;

const owner = z.object({
  pid: z.int(),
  startedAt: z.string(),
  /** What it has to give back: the platform's address, the key that was made there, the record of the run. */
  baseUrl: z.string(),
  apiKey: z.string().optional(),
  runId: z.string().optional(),
  /** The command of the container engine that runs its jobs. */
  engine: z.string().optional(),
});

export type RunOwner = z.output<typeof owner>;

/** A folder for one run, for our eyes only: what is in it - secrets, too - goes with the run. */
export class RunFolder {
  readonly path: string;
  #owner: RunOwner;

  private constructor(path: string, whose: RunOwner) {
    this.path = path;
    this.#owner = whose;
  }

  static async make(baseUrl: string): Promise<RunFolder> {
    const path = await mkdtemp(join(tmpdir(), PREFIX));
    try {
      const folder = new RunFolder(path, { pid: process.pid, startedAt: await beginOf(process.pid), baseUrl });
      await folder.note({});
      for (const name of ['jobs', 'files', 'artifacts']) await mkdir(join(path, name));
      return folder;
    } catch (failure) {
      await rm(path, { recursive: true, force: true });
      throw failure;
    }
  }

  /** Marks what the run has in a container engine. */
  get mark(): string {
    return basename(this.path);
  }

  /** Remembers what is to be given back, should this process not come to do it. */
  async note(more: Partial<RunOwner>): Promise<void> {
    this.#owner = { ...this.#owner, ...more };
    await writeFile(join(this.path, OWNER), JSON.stringify(this.#owner), { mode: 0o600 });
  }

  /**
   * Removes it, and ends what was started in it and is still there. Where the engine is gone for now, what is left in it is noted
   * for the next run.
   */
  async remove(): Promise<void> {
    await removeFolder(this.path, this.#owner);
  }
}

/**
 * Removes what runs that were killed have left behind on this machine: their folders with all secrets, processes, containers and
 * networks. What they have to give back to the platform is told to `giveBack`.
 */
export async function sweepLeftovers(giveBack: (owner: RunOwner) => Promise<void>): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  for (const name of names.filter((one) => one.startsWith(PREFIX))) {
    const path = join(tmpdir(), name);
    try {
      if ((await stat(path)).uid !== userInfo().uid) continue;
      const { success, data } = owner.safeParse(JSON.parse(await readFile(join(path, OWNER), 'utf8')));
      if (!success || (await beginOf(data.pid)) === data.startedAt) continue;
      await giveBack(data).catch(() => undefined); // that platform may be gone, too
      await removeFolder(path, data);
    } catch {
      // Another run's that has just begun or ended.
    }
  }
  const kept = keptFolder();
  for (const name of await readdir(kept).catch(() => [])) {
    const path = join(kept, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs > KEPT_MS) await rm(path, { recursive: true, force: true });
  }
}

/** Where runs leave artifacts and caches for later ones of the same project. */
export function keptFolder(): string {
  return join(tmpdir(), `terrarium-pipelines-of-${userInfo().username.replace(/\W/g, '-')}`);
}

async function removeFolder(path: string, whose: RunOwner): Promise<void> {
  await endProcessesOf(path);
  const isEngineClean = await removeFromEngine(basename(path), whose.engine);
  if (isEngineClean) return rm(path, { recursive: true, force: true, maxRetries: 5 });
  for (const name of await readdir(path)) {
    if (name !== OWNER) await rm(join(path, name), { recursive: true, force: true, maxRetries: 5 });
  }
  // With the platform all is settled.
  const { apiKey: _key, runId: _run, ...rest } = whose;
  await writeFile(join(path, OWNER), JSON.stringify(rest), { mode: 0o600 });
}

/** Ends every process that was started for a run, wherever it has gone to: each has the run's folder in its environment. */
async function endProcessesOf(folder: string): Promise<void> {
  const pids = (await readdir('/proc').catch(() => [])).filter(
    (name) => /^\d+$/.test(name) && Number(name) !== process.pid,
  );
  for (const pid of pids) {
    const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
    if (!environment.includes(`=${folder}/`)) continue;
    try {
      process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It has ended.
    }
  }
}

/** Label of what a run has in a container engine. */
export const ENGINE_LABEL = 'terrarium.pipeline';

/** Removes containers, with their volumes, and networks of a run; false where the engine that it had does not answer. */
async function removeFromEngine(mark: string, program: string | undefined): Promise<boolean> {
  if (program === undefined) return true;
  const run = (args: readonly string[]) => promisify(execFile)(program, [...args], { timeout: ENGINE_TIMEOUT_MS });
  const filter = `label=${ENGINE_LABEL}=${mark}`;
  try {
    const list = async (...args: string[]) => (await run(args)).stdout.split('\n').filter(Boolean);
    const containers = await list('ps', '--all', '--quiet', '--filter', filter);
    if (containers.length > 0) await run(['rm', '--force', '--volumes', ...containers]);
    const networks = await list('network', 'ls', '--quiet', '--filter', filter);
    if (networks.length > 0) await run(['network', 'rm', ...networks]);
    return true;
  } catch (failure) {
    // With its command an engine is gone for good.
    return Object(failure).code === 'ENOENT';
  }
}
