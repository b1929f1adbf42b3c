import { type BigIntStats, closeSync, constants, openSync, readSync } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, realpath, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf, reasonOf } from '../../model/errors.ts';
import { renameFile } from '../../system/files-in-use.ts';
import { makeFolder } from '../../system/make-folder.ts';
import { SYSTEM } from '../../system/this-system.ts';
import { READ_AT_ONCE } from '../../system/write-whole.ts';
import { type AppendHandle, type Chunks, FolderLost, type ReadHandle, StoreError, type StoreFiles } from './files.ts';
import { isSameFile, type LockFile, lockFolder, lookAt, lookAtOpen } from './folder-lock.ts';
import { openFile, readWholeFile, unreadable } from './read-file.ts';

/** Readable only by the owner: worlds contain passwords and tokens of the services that a developer works with. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
const STICKY = 0o1000;
const APPEND_ONLY = constants.O_WRONLY | constants.O_APPEND;
const APPEND = APPEND_ONLY | constants.O_CREAT;
/** A write resolves when its bytes are on the disk, without fdatasync. Other systems than Linux lack that or guarantee less. */
const WRITE_THROUGH = SYSTEM === 'linux' ? constants.O_DSYNC : 0;

class FileAppender implements AppendHandle {
  readonly #files: FolderFiles;
  readonly #name: string;
  readonly #path: string;
  readonly #handle: FileHandle;
  readonly #writesThrough: boolean;
  #isSynced = true;

  constructor(files: FolderFiles, name: string, handle: FileHandle, writesThrough: boolean) {
    this.#files = files;
    this.#name = name;
    this.#path = files.pathOf(name);
    this.#handle = handle;
    this.#writesThrough = writesThrough;
  }

  check(minBytes: number, maxBytes: number): void {
    this.#files.check();
    const found = lookAt(this.#path);
    if (!found) throw this.#files.lost(`its file ${this.#name} was removed`);
    this.#requireSame(found);
    if (found.size < minBytes || found.size > maxBytes) {
      throw this.#files.lost(`another process has written to its file ${this.#name}`);
    }
  }

  async append(bytes: Uint8Array): Promise<void> {
    if (!this.#writesThrough) this.#isSynced = false;
    for (let written = 0; written < bytes.length; ) {
      const { bytesWritten } = await this.#handle.write(bytes, written);
      written += bytesWritten;
    }
  }

  async sync(): Promise<void> {
    if (this.#isSynced) return;
    await this.#handle.datasync();
    this.#isSynced = true;
  }

  /** Through a separate handle: Windows cannot truncate a file that is open for appending. */
  async truncate(sizeBytes: number): Promise<void> {
    const handle = await open(this.#path, 'r+');
    try {
      this.#requireSame(lookAtOpen(handle.fd));
      this.#isSynced = false;
      await handle.truncate(sizeBytes);
    } finally {
      await handle.close();
    }
  }

  #requireSame(found: BigIntStats): void {
    if (isSameFile(found, lookAtOpen(this.#handle.fd))) return;
    throw this.#files.lost(`its file ${this.#name} was replaced`);
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

/** Files of a store in a folder that this process uses exclusively: folders 0700, files 0600. */
export class FolderFiles implements StoreFiles {
  readonly #lock: LockFile;
  /** Valid states of a guarded file: two while the second replaces the first one. */
  readonly #guarded = new Map<string, (BigIntStats | undefined)[]>();

  private constructor(lock: LockFile) {
    this.#lock = lock;
  }

  /** Locks the folder, and creates it if it does not exist. Throws StoreError if it is in use or unusable. */
  static async open(dir: string): Promise<FolderFiles> {
    let isForAll: boolean;
    try {
      await makeFolder(dir, { mode: FOLDER_MODE });
      const isEmpty = (await readdir(dir)).length === 0;
      isForAll = !isEmpty && (((await stat(dir)).mode & STICKY) !== 0 || (await realpath(dir)) === '/');
    } catch (error) {
      const advice = 'Choose another data folder, or make this one readable and writable for you.';
      throw new StoreError(dir, `cannot be used as a data folder (${reasonOf(error)}). ${advice}`, { cause: error });
    }
    if (isForAll) {
      const advice = 'Choose a folder in it.';
      throw new StoreError(dir, `is used by all users of this machine, and a data folder is only for one. ${advice}`);
    }
    return new FolderFiles(await lockFolder(dir));
  }

  get wasKilled(): boolean {
    return this.#lock.isTakenOver;
  }

  pathOf(name: string): string {
    return join(this.#lock.dir, name);
  }

  check(): void {
    const loss = this.#lock.findLoss();
    if (loss !== undefined) throw this.lost(loss);
    for (const [name, expectedStats] of this.#guarded) {
      const found = lookAt(this.pathOf(name));
      if (expectedStats.some((expected) => isUnchanged(found, expected))) continue;
      throw this.lost(found ? `its file ${name} was replaced` : `its file ${name} was removed`);
    }
  }

  lost(reason: string): FolderLost {
    return new FolderLost(this.#lock.dir, reason);
  }

  guard(name: string): void {
    this.#guarded.set(name, [lookAt(this.pathOf(name))]);
  }

  release(): void {
    this.#lock.release();
  }

  async read(name: string): Promise<Buffer | undefined> {
    this.check();
    return readWholeFile(this.pathOf(name));
  }

  async openRead(name: string): Promise<ReadHandle | undefined> {
    this.check();
    return openFile(this.pathOf(name));
  }

  readAt(name: string, position: number, lengthBytes: number): Buffer | undefined {
    this.check();
    let fd: number | undefined;
    try {
      fd = openSync(this.pathOf(name), READ_AT_ONCE);
      const buffer = Buffer.allocUnsafe(lengthBytes);
      let read = 0;
      while (read < lengthBytes) {
        const count = readSync(fd, buffer, read, lengthBytes - read, position + read);
        if (count === 0) break;
        read += count;
      }
      return buffer.subarray(0, read);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw error;
    } finally {
      if (fd !== undefined) closeSync(fd);
    }
  }

  async freeBytes(): Promise<number> {
    const { bavail, bsize } = await statfs(this.#lock.dir);
    return bavail * bsize;
  }

  async list(folder: string): Promise<string[]> {
    this.check();
    try {
      return (await readdir(this.pathOf(folder))).sort();
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return [];
      throw unreadable(this.pathOf(folder), error);
    }
  }

  async openAppend(name: string, sizeBytes: number, isSynced = false): Promise<AppendHandle> {
    this.check();
    const path = this.pathOf(name);
    const through = isSynced ? WRITE_THROUGH : 0;
    const flags = (sizeBytes > 0 ? APPEND_ONLY : APPEND) | through;
    const handle = await open(path, flags, FILE_MODE).catch((error: unknown) => {
      throw codeOf(error) === 'ENOENT' ? this.lost(`its file ${name} was removed`) : error;
    });
    await syncFolder(dirname(path)).catch(async (error: unknown) => {
      await handle.close();
      throw error;
    });
    return new FileAppender(this, name, handle, through !== 0);
  }

  async replace(name: string, content: Chunks): Promise<number> {
    this.check();
    const path = this.pathOf(name);
    const temporary = `${path}.tmp`;
    await this.#makeFolderOf(name);
    try {
      await writeFile(temporary, content, { mode: FILE_MODE, flush: true });
      this.check(); // again, because reading takes time
      const sizeBytes = await this.#moveIntoPlace(temporary, name);
      await syncFolder(dirname(path));
      return sizeBytes;
    } catch (error) {
      if (!(error instanceof FolderLost)) await rm(temporary, { force: true });
      throw error;
    }
  }

  async rename(from: string, to: string): Promise<void> {
    this.check();
    const target = this.pathOf(to);
    await this.#makeFolderOf(to);
    await renameFile(this.pathOf(from), target, () => this.check());
    await syncFolder(dirname(target));
    await syncFolder(this.#lock.dir);
  }

  async remove(name: string): Promise<void> {
    this.check();
    const path = this.pathOf(name);
    await rm(path, { force: true });
    await syncFolder(dirname(path));
  }

  /** Not the data folder itself, which may have been removed since the check. */
  async #makeFolderOf(name: string): Promise<void> {
    const folder = dirname(name);
    if (folder === '.') return;
    await mkdir(this.pathOf(folder), { mode: FOLDER_MODE }).catch((error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error;
    });
  }

  /** Returns the size of the file. */
  async #moveIntoPlace(temporary: string, name: string): Promise<number> {
    const guardedStats = this.#guarded.get(name);
    const coming = lookAt(temporary);
    if (guardedStats) this.#guarded.set(name, [...guardedStats, coming]);
    await renameFile(temporary, this.pathOf(name), () => this.check());
    if (guardedStats) this.#guarded.set(name, [coming]);
    return Number(coming?.size ?? 0);
  }
}

/** Is the found file the expected one? For files that are not open, the inode is not sufficient. */
function isUnchanged(found: BigIntStats | undefined, expected: BigIntStats | undefined): boolean {
  if (!found || !expected) return found === expected;
  return isSameFile(found, expected) && found.size === expected.size && found.mtimeNs === expected.mtimeNs;
}

/** Makes new and renamed entries of a folder durable, on systems that can sync folders (not Windows). */
async function syncFolder(path: string): Promise<void> {
  if (SYSTEM === 'win32') return;
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
