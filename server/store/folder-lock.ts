import { readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { codeOf, StoreError } from './store-error.ts';

/** How often to try, since others may make, free or take over the lock at the same moment. */
const ATTEMPTS = 20;
/** How many of these tries leave an empty lock alone, and how far they are apart: its owner may be about to write to it. */
const PATIENT_ATTEMPTS = 10;
const PATIENCE_MS = 20;

/**
 * Folders locked by this very process. Global because a process is: the file only tells the process id, and a
 * restarted container often gets the id it had before, so "my own id" alone does not mean "in use".
 */
const lockedHere = new Set<string>();

/**
 * Claims a data folder for this process by a file named `lock`; the lock of a process that is no more is taken over.
 *
 * @returns what gives the folder free again
 * @throws StoreError when a living process has it
 */
export async function lockFolder(dir: string): Promise<() => Promise<void>> {
  const folder = await realpath(dir);
  const path = join(folder, 'lock');
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    if (await claim(path)) {
      lockedHere.add(folder);
      return async () => {
        if (lockedHere.delete(folder)) await rm(path, { force: true });
      };
    }
    const pid = await holderOf(path);
    if (pid !== undefined && isAlive(pid, folder)) throw inUse(dir, path, pid);
    if (pid === undefined && attempt <= PATIENT_ATTEMPTS) await wait(PATIENCE_MS);
    else await discard(path, pid, dir);
  }
  throw new StoreError(dir, `could not be locked: ${path} comes and goes. Is another Terrarium being started on it?`);
}

async function claim(path: string): Promise<boolean> {
  try {
    await writeFile(path, `${process.pid}\n`, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    const advice = 'Make the folder writable for you, or choose another data folder.';
    throw new StoreError(path, `cannot be written (${codeOf(error)}). ${advice}`, { cause: error });
  }
}

/** The process id in a lock; undefined when the file is gone or holds none. */
async function holderOf(path: string): Promise<number | undefined> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const pid = Number(text);
  return Number.isInteger(pid) && pid > 0 ? pid : undefined;
}

function isAlive(pid: number, folder: string): boolean {
  if (pid === process.pid) return lockedHere.has(folder);
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM'; // alive, but somebody else's
  }
}

/** Removes a stale lock. Whoever else found it stale may have made a new one meanwhile: that one is put back. */
async function discard(path: string, stalePid: number | undefined, dir: string): Promise<void> {
  const aside = `${path}.${process.pid}`;
  try {
    await rename(path, aside);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    throw error;
  }
  const pid = await holderOf(aside);
  if (pid !== undefined && pid !== stalePid) {
    await rename(aside, path);
    throw inUse(dir, path, pid);
  }
  await rm(aside, { force: true });
}

function inUse(dir: string, path: string, pid: number): StoreError {
  return new StoreError(
    dir,
    `is in use by process ${pid}. Stop that one, or choose another data folder. ` +
      `If you are sure that process ${pid} is no Terrarium, delete ${path} and start again.`,
  );
}
