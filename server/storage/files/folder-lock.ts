import {
  type BigIntStats,
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { realpath, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { codeOf, reasonOf } from '../../model/errors.ts';
import { beginOf, isRunning, type LockHolder, lockHolder } from '../../system/processes.ts';
import { StoreError } from './files.ts';
import { readWholeFile } from './read-file.ts';

/** Number of attempts, because other processes can create, release or take over the lock at the same time. */
const ATTEMPTS = 20;
/** Number of attempts that wait for an empty lock, and their interval: the owner may be about to write to it. */
const READ_ATTEMPTS = 10;
const READ_RETRY_MS = 20;
const READ_BYTES = 64;

/** Folders with the numbers of the files that this process has open; Windows has none. */
const OPEN_FILES = ['/proc/self/fd', '/dev/fd'];

/**
 * Locks of this thread by path. A restarted container often gets the same process id, so the id alone does not mean
 * that the folder is in use.
 */
const ownLocks = new Map<string, LockFile>();

/** Locks a folder with a file of the process' id and start time, also after one that has ended. Throws StoreError if one is running. */
export async function lockFolder(dir: string): Promise<LockFile> {
  const folder = await realpath(dir);
  const path = join(folder, 'lock');
  const began = await beginOf(process.pid);
  let isTakenOver = false;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const file = claim(path, began);
    if (file) {
      file.isTakenOver = isTakenOver;
      return file;
    }
    const holder = await lockHolder(path);
    if (holder && (await isHeld(holder, path, began))) throw inUse(dir, path, holder.pid);
    if (!holder && attempt <= READ_ATTEMPTS) await wait(READ_RETRY_MS);
    else {
      if (!holder) await readWholeFile(path); // one that cannot be read can be the lock of another user's process
      await discard(path, holder, began);
      isTakenOver = true;
    }
  }
  throw new StoreError(
    dir,
    `could not be locked: ${path} is created and deleted repeatedly. Check whether another Terrarium is being started on it.`,
  );
}

/** While it is unchanged, no other process uses the folder. It stays open, so that no other file can get its inode. */
export class LockFile {
  isTakenOver = false;
  /** The resolved path of its folder, independent of links. */
  readonly dir: string;
  readonly #path: string;
  readonly #content: Buffer;
  #handle: number | undefined;

  constructor(path: string, began: string) {
    this.#content = Buffer.from(`${process.pid}\n${began}\n`);
    const file = openSync(path, 'wx', 0o600);
    try {
      writeFileSync(file, this.#content);
      this.#handle = openSync(path, 'r'); // one that is open for writing would prevent remounting its disk read-only
    } catch (failure) {
      rmSync(path); // on a full disk an empty file would be left
      throw failure;
    } finally {
      closeSync(file);
    }
    this.#path = path;
    this.dir = dirname(path);
  }

  /**
   * Returns what has changed, as a half-sentence. Synchronous, because that takes microseconds, and each durable write
   * calls it.
   */
  findLoss(): string | undefined {
    if (this.#handle === undefined) return 'it was released';
    try {
      const found = lookAt(this.#path);
      if (!found) return 'its file lock was removed';
      if (!isSameFile(found, lookAtOpen(this.#handle))) return 'its file lock was replaced';
      const read = Buffer.alloc(READ_BYTES);
      const lengthBytes = readSync(this.#handle, read, 0, READ_BYTES, 0);
      return read.subarray(0, lengthBytes).equals(this.#content) ? undefined : 'its file lock has different content';
    } catch (error) {
      return `its file lock cannot be read (${reasonOf(error)})`;
    }
  }

  /** Keeps the lock of another process. Synchronous, because others in this process must not see it half released. */
  release(): void {
    const handle = this.#handle;
    if (handle === undefined) return;
    const isOurs = this.findLoss() === undefined;
    this.#handle = undefined;
    closeSync(handle);
    if (isOurs) rmSync(this.#path, { force: true });
    if (ownLocks.get(this.#path) === this) ownLocks.delete(this.#path);
  }
}

/** Synchronous: asynchronous calls take thirty times as long for a cached file, and this is called for each durable write. */
export function lookAt(path: string): BigIntStats | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false });
}

export function lookAtOpen(fd: number): BigIntStats {
  return fstatSync(fd, { bigint: true });
}

/** One file, one of them open? An inode can be reused after closing. On Windows numbers have 64 bits, and a path can give device 0. */
export function isSameFile(found: Pick<BigIntStats, 'dev' | 'ino'>, open: Pick<BigIntStats, 'dev' | 'ino'>): boolean {
  const isDeviceKnown = found.dev !== 0n && open.dev !== 0n;
  return found.ino === open.ino && (!isDeviceKnown || found.dev === open.dev);
}

function claim(path: string, began: string): LockFile | undefined {
  if (isHeldByThisThread(path)) return undefined;
  try {
    const file = new LockFile(path, began);
    ownLocks.set(path, file); // synchronously, because others in this process would take it for stale
    return file;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return undefined;
    const isFull = codeOf(error) === 'ENOSPC' || codeOf(error) === 'EDQUOT';
    const advice = isFull
      ? 'Free some space on the disk, and start again.'
      : 'Make the folder writable for you, or choose another data folder.';
    throw new StoreError(path, `cannot be written (${codeOf(error)}). ${advice}`, { cause: error });
  }
}

function isHeldByThisThread(path: string): boolean {
  const file = ownLocks.get(path);
  return file !== undefined && file.findLoss() === undefined;
}

async function isHeld(holder: LockHolder, path: string, began: string): Promise<boolean> {
  if (holder.pid !== process.pid) return isRunning(holder);
  // The library runs each platform in a thread, and a thread that was ended from outside leaves its lock.
  return isHeldByThisThread(path) || (began !== '' && holder.began === began && isOpen(path));
}

/** True if this process has the file open, or the system does not show that. */
function isOpen(path: string): boolean {
  const folder = OPEN_FILES.find((candidate) => existsSync(candidate));
  const file = lookAt(path);
  if (!folder || !file) return true;
  return readdirSync(folder).some((handle) => {
    try {
      return isSameFile(file, lookAtOpen(Number(handle)));
    } catch {
      return false; // it was closed meanwhile
    }
  });
}

/** Removes a stale lock, holding `lock.takeover` and checking again: another process may have created a new one meanwhile. */
async function discard(path: string, stale: LockHolder | undefined, began: string): Promise<void> {
  const takeover = `${path}.takeover`;
  const ownLock = claim(takeover, began);
  if (!ownLock) {
    const holder = await lockHolder(takeover);
    // Removes what a crash during this step left behind; the next attempt tries again.
    if (holder && !(await isHeld(holder, takeover, began))) await rm(takeover, { force: true });
    else await wait(READ_RETRY_MS);
    return;
  }
  try {
    if (!stale) await wait(READ_RETRY_MS); // its owner may be about to write to it
    const found = await lockHolder(path);
    if (found?.pid === stale?.pid && found?.began === stale?.began) await rm(path, { force: true });
  } finally {
    ownLock.release();
  }
}

function inUse(dir: string, path: string, pid: number): StoreError {
  if (pid === process.pid)
    return new StoreError(
      dir,
      `is in use by process ${pid}, this one: it runs another platform with this folder. Stop that platform, or choose another data folder.`,
    );
  return new StoreError(
    dir,
    `is in use by process ${pid}. Stop that process, or choose another data folder. If process ${pid} is not a Terrarium, or this ` +
      `folder is a copy of the one that it uses, delete ${path} and start again.`,
  );
}
