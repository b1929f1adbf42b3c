import { readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { codeOf, StoreError } from './store-error.ts';

/** How often to try, since others may make, free or take over the lock at the same moment. */
const ATTEMPTS = 20;
/** How many of these tries leave an empty lock alone, and how far they are apart: its owner may be about to write to it. */
const PATIENT_ATTEMPTS = 10;
const PATIENCE_MS = 20;

/**
 * Locks held by this very process. Global because a process is: the file only tells the process id, and a
 * restarted container often gets the id it had before, so "my own id" alone does not mean "in use".
 */
const claimedHere = new Set<string>();

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
      let isHeld = true;
      return async () => {
        if (!isHeld) return;
        isHeld = false;
        await release(path);
      };
    }
    const pid = await holderOf(path);
    if (pid !== undefined && isAlive(pid, path)) throw inUse(dir, path, pid);
    if (pid === undefined && attempt <= PATIENT_ATTEMPTS) await wait(PATIENCE_MS);
    else await discard(path, pid);
  }
  throw new StoreError(dir, `could not be locked: ${path} comes and goes. Is another Terrarium being started on it?`);
}

async function claim(path: string): Promise<boolean> {
  if (claimedHere.has(path)) return false;
  claimedHere.add(path); // before the file is there, or others in this process would take it for stale
  try {
    await writeFile(path, `${process.pid}\n`, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    claimedHere.delete(path);
    if (codeOf(error) === 'EEXIST') return false;
    const advice = 'Make the folder writable for you, or choose another data folder.';
    throw new StoreError(path, `cannot be written (${codeOf(error)}). ${advice}`, { cause: error });
  }
}

async function release(path: string): Promise<void> {
  await rm(path, { force: true });
  claimedHere.delete(path);
}

/** The process id in a lock; undefined when the file is gone or holds none. */
async function holderOf(path: string): Promise<number | undefined> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const pid = Number(text);
  return Number.isInteger(pid) && pid > 0 ? pid : undefined;
}

function isAlive(pid: number, path: string): boolean {
  if (pid === process.pid) return claimedHere.has(path);
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM'; // alive, but somebody else's
  }
}

/**
 * Removes a stale lock. Whoever does it holds `lock.takeover` meanwhile and looks again first: so it is always the stale lock
 * that goes, and never one that somebody else has made since.
 */
async function discard(path: string, stalePid: number | undefined): Promise<void> {
  const takeover = `${path}.takeover`;
  if (!(await claim(takeover))) {
    const pid = await holderOf(takeover);
    // What a crash in the middle of this leaves behind goes; the next attempt tries again.
    if (pid !== undefined && !isAlive(pid, takeover)) await rm(takeover, { force: true });
    else await wait(PATIENCE_MS);
    return;
  }
  try {
    if (stalePid === undefined) await wait(PATIENCE_MS); // its owner may be about to write to it
    if ((await holderOf(path)) === stalePid) await rm(path, { force: true });
  } finally {
    await release(takeover);
  }
}

function inUse(dir: string, path: string, pid: number): StoreError {
  return new StoreError(
    dir,
    `is in use by process ${pid}. Stop that one, or choose another data folder. ` +
      `If you are sure that process ${pid} is no Terrarium, delete ${path} and start again.`,
  );
}
