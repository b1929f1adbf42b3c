import { closeSync, fstatSync, openSync, readSync, rmSync, type Stats, statSync, writeFileSync } from 'node:fs';
import { readFile, realpath, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { isAlive } from '../machine/processes.ts';
import { codeOf, reasonOf } from '../model/reason.ts';
import { StoreError } from './store-error.ts';

/** How often to try, since others may make, free or take over the lock at the same moment. */
const ATTEMPTS = 20;
/** How many of these tries leave an empty lock alone, and how far they are apart: its owner may be about to write to it. */
const PATIENT_ATTEMPTS = 10;
const PATIENCE_MS = 20;
/** Longer than any lock of ours. */
const READ_BYTES = 64;

/**
 * Locks held by this very process, by path. Global because a process is: the file only tells the process id, and a
 * restarted container often gets the id it had before, so "my own id" alone does not mean "in use".
 */
const heldHere = new Map<string, LockFile>();

/**
 * Claims a data folder for this process by a file named `lock`; the lock of a process that is no more is taken over.
 *
 * @throws StoreError when a living process has it
 */
export async function lockFolder(dir: string): Promise<LockFile> {
  const folder = await realpath(dir);
  const path = join(folder, 'lock');
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const file = claim(path);
    if (file) return file;
    const pid = await holderOf(path);
    if (pid !== undefined && isHeld(pid, path)) throw inUse(dir, path, pid);
    if (pid === undefined && attempt <= PATIENT_ATTEMPTS) await wait(PATIENCE_MS);
    else await discard(path, pid);
  }
  throw new StoreError(dir, `could not be locked: ${path} comes and goes. Is another Terrarium being started on it?`);
}

/**
 * A lock file that this process has made: as long as nothing has become of it, nobody else has its folder, and that is the same one.
 * It is kept open, so that no other file can ever get its inode.
 */
export class LockFile {
  readonly #path: string;
  readonly #content = Buffer.from(`${process.pid}\n`);
  #handle: number | undefined;

  /** Throws the error of the system, such as EEXIST. */
  constructor(path: string) {
    writeFileSync(path, this.#content, { flag: 'wx', mode: 0o600 });
    this.#handle = openSync(path, 'r'); // one that is open for writing would keep its disk from becoming read-only
    this.#path = path;
  }

  /** Its folder itself, whatever links lead there and wherever these point later. */
  get dir(): string {
    return dirname(this.#path);
  }

  /**
   * What has become of it, as a half-sentence; undefined when it is where it was made, the same file with the same content. Not
   * asynchronous, because it takes a few microseconds that way and a hundred the other, and is asked for each durable write.
   */
  findLoss(): string | undefined {
    if (this.#handle === undefined) return 'it was given free';
    try {
      const found = statSync(this.#path, { throwIfNoEntry: false });
      if (!found) return 'its file lock is gone';
      if (!isSameFile(found, fstatSync(this.#handle))) return 'its file lock is another one now';
      const read = Buffer.alloc(READ_BYTES);
      const lengthBytes = readSync(this.#handle, read, 0, READ_BYTES, 0);
      return read.subarray(0, lengthBytes).equals(this.#content) ? undefined : 'its file lock holds something else now';
    } catch (error) {
      return `its file lock cannot be looked at (${reasonOf(error)})`;
    }
  }

  /** Gives the folder free. The lock of somebody else stays. In one go, or others in this process could find it half given free. */
  release(): void {
    const handle = this.#handle;
    if (handle === undefined) return;
    const isOurs = this.findLoss() === undefined;
    this.#handle = undefined;
    closeSync(handle);
    if (isOurs) rmSync(this.#path, { force: true });
    if (heldHere.get(this.#path) === this) heldHere.delete(this.#path);
  }
}

/** Are these two looks at one file, one of them at a file that is open? Once closed its inode may become another's. */
export function isSameFile(found: Stats, open: Stats): boolean {
  return found.dev === open.dev && found.ino === open.ino;
}

function claim(path: string): LockFile | undefined {
  if (isHeldHere(path)) return undefined;
  try {
    const file = new LockFile(path);
    heldHere.set(path, file); // without a wait in between, or others in this process would take it for stale
    return file;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return undefined;
    const advice = 'Make the folder writable for you, or choose another data folder.';
    throw new StoreError(path, `cannot be written (${codeOf(error)}). ${advice}`, { cause: error });
  }
}

/** Does this process have the lock at a path, and is that still the one it made? */
function isHeldHere(path: string): boolean {
  const file = heldHere.get(path);
  return file !== undefined && file.findLoss() === undefined;
}

/** The process id in a lock; undefined when the file is gone or holds none. */
async function holderOf(path: string): Promise<number | undefined> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const pid = Number(text);
  return Number.isInteger(pid) && pid > 0 ? pid : undefined;
}

/** Does the process that holds a lock live? */
function isHeld(pid: number, path: string): boolean {
  return pid === process.pid ? isHeldHere(path) : isAlive(pid);
}

/**
 * Removes a stale lock. Whoever does it holds `lock.takeover` meanwhile and looks again first: so it is always the stale lock
 * that goes, and never one that somebody else has made since.
 */
async function discard(path: string, stalePid: number | undefined): Promise<void> {
  const takeover = `${path}.takeover`;
  const ours = claim(takeover);
  if (!ours) {
    const pid = await holderOf(takeover);
    // What a crash in the middle of this leaves behind goes; the next attempt tries again.
    if (pid !== undefined && !isHeld(pid, takeover)) await rm(takeover, { force: true });
    else await wait(PATIENCE_MS);
    return;
  }
  try {
    if (stalePid === undefined) await wait(PATIENCE_MS); // its owner may be about to write to it
    if ((await holderOf(path)) === stalePid) await rm(path, { force: true });
  } finally {
    ours.release();
  }
}

function inUse(dir: string, path: string, pid: number): StoreError {
  return new StoreError(
    dir,
    `is in use by process ${pid}. Stop that one, or choose another data folder. ` +
      `If you are sure that process ${pid} is no Terrarium, delete ${path} and start again.`,
  );
}
