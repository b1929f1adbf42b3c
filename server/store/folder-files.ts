import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename, rm, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf, reasonOf } from '../model/reason.ts';
import type { AppendHandle, ReadHandle, StoreFiles } from './files.ts';
import { isSameFile, type LockFile, lockFolder } from './folder-lock.ts';
import { FolderLost, StoreError } from './store-error.ts';

/** For the owner's eyes only: worlds hold passwords and tokens of the services that a developer works with. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
/** To append to a file that has to be there. */
const APPEND_ONLY = constants.O_WRONLY | constants.O_APPEND;
const APPEND = APPEND_ONLY | constants.O_CREAT;
/**
 * With it a write resolves once its bytes have reached the disk, as write and fdatasync do in two ways to another thread and back.
 * Elsewhere than on Linux it is not there, or says less than their fdatasync.
 */
const WRITE_THROUGH = process.platform === 'linux' ? constants.O_DSYNC : 0;

class FileAppender implements AppendHandle {
  readonly #files: FolderFiles;
  readonly #name: string;
  readonly #handle: FileHandle;
  /** Does an append resolve only when it has reached the disk? */
  readonly #writesThrough: boolean;
  #isSynced = true;

  constructor(files: FolderFiles, name: string, handle: FileHandle, writesThrough: boolean) {
    this.#files = files;
    this.#name = name;
    this.#handle = handle;
    this.#writesThrough = writesThrough;
  }

  check(minBytes: number, maxBytes: number): void {
    this.#files.check();
    const found = lookAt(this.#files.pathOf(this.#name));
    if (!found) throw this.#files.lost(`its file ${this.#name} is gone`);
    if (!isSameFile(found, fstatSync(this.#handle.fd))) {
      throw this.#files.lost(`its file ${this.#name} is another one now`);
    }
    if (found.size < minBytes || found.size > maxBytes) {
      throw this.#files.lost(`something else has written to its file ${this.#name}`);
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

  truncate(sizeBytes: number): Promise<void> {
    this.#isSynced = false;
    return this.#handle.truncate(sizeBytes);
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

class FileReader implements ReadHandle {
  readonly sizeBytes: number;
  readonly modifiedAtMs: number;
  readonly #handle: FileHandle;

  constructor(handle: FileHandle, { size, mtimeMs }: { size: number; mtimeMs: number }) {
    this.#handle = handle;
    this.sizeBytes = size;
    this.modifiedAtMs = mtimeMs;
  }

  async read(position: number, lengthBytes: number): Promise<Buffer> {
    const buffer = Buffer.alloc(lengthBytes);
    let read = 0;
    while (read < lengthBytes) {
      const { bytesRead } = await this.#handle.read(buffer, read, lengthBytes - read, position + read);
      if (bytesRead === 0) break;
      read += bytesRead;
    }
    return buffer.subarray(0, read);
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

/** Files of a store in a folder of the disk that this process has for itself: folders 0700, files 0600. */
export class FolderFiles implements StoreFiles {
  readonly #lock: LockFile;
  /** What a guarded file may look like: two of it while the second takes the first one's place. */
  readonly #guarded = new Map<string, (Stats | undefined)[]>();

  private constructor(lock: LockFile) {
    this.#lock = lock;
  }

  /** Claims the folder, and makes it when there is none. Throws StoreError when it is in use or cannot be used. */
  static async open(dir: string): Promise<FolderFiles> {
    try {
      await mkdir(dir, { recursive: true, mode: FOLDER_MODE });
      await readdir(dir);
    } catch (error) {
      const advice = 'Choose another data folder, or make this one readable and writable for you.';
      throw new StoreError(dir, `cannot be used as a data folder (${reasonOf(error)}). ${advice}`, { cause: error });
    }
    return new FolderFiles(await lockFolder(dir));
  }

  pathOf(name: string): string {
    return join(this.#lock.dir, name);
  }

  check(): void {
    const loss = this.#lock.findLoss();
    if (loss !== undefined) throw this.lost(loss);
    for (const [name, known] of this.#guarded) {
      const found = lookAt(this.pathOf(name));
      if (known.some((one) => isUnchanged(found, one))) continue;
      throw this.lost(found ? `something else has replaced its file ${name}` : `its file ${name} is gone`);
    }
  }

  /** The error of files that are no longer ours. @param reason as a half-sentence */
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
    const path = this.pathOf(name);
    let handle: FileHandle | undefined;
    try {
      handle = await open(path, 'r');
      const { size, mtimeMs } = await handle.stat();
      // In one go: half a megabyte at a time, as readFile does it, a large world takes three times as long.
      return await new FileReader(handle, { size, mtimeMs }).read(0, size);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw new StoreError(path, `cannot be read (${reasonOf(error)}). Make it readable and start again.`, {
        cause: error,
      });
    } finally {
      await handle?.close();
    }
  }

  async openRead(name: string): Promise<ReadHandle | undefined> {
    this.check();
    try {
      const handle = await open(this.pathOf(name), 'r');
      return new FileReader(handle, await handle.stat());
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  readAt(name: string, position: number, lengthBytes: number): Buffer | undefined {
    this.check();
    let fd: number | undefined;
    try {
      fd = openSync(this.pathOf(name), 'r');
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
      throw error;
    }
  }

  async openAppend(name: string, sizeBytes: number, isSynced = false): Promise<AppendHandle> {
    this.check();
    const path = this.pathOf(name);
    const through = isSynced ? WRITE_THROUGH : 0;
    const flags = (sizeBytes > 0 ? APPEND_ONLY : APPEND) | through;
    const handle = await open(path, flags, FILE_MODE).catch((error: unknown) => {
      throw codeOf(error) === 'ENOENT' ? this.lost(`its file ${name} is gone`) : error;
    });
    await syncFolder(dirname(path));
    return new FileAppender(this, name, handle, through !== 0);
  }

  async replace(name: string, content: AsyncIterable<Uint8Array>): Promise<number> {
    this.check();
    const path = this.pathOf(name);
    const temporary = `${path}.tmp`;
    await this.#makeFolderOf(name);
    try {
      const sizeBytes = await writeWhole(temporary, content);
      this.check(); // again, since that took its time
      await this.#putInPlace(temporary, name);
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
    await rename(this.pathOf(from), target);
    await syncFolder(dirname(target));
    await syncFolder(this.#lock.dir);
  }

  async remove(name: string): Promise<void> {
    this.check();
    const path = this.pathOf(name);
    await rm(path, { force: true });
    await syncFolder(dirname(path));
  }

  /** Makes the folder within ours that a file stands in. Ours itself is not made anew: it may be gone since it was looked at. */
  async #makeFolderOf(name: string): Promise<void> {
    const folder = dirname(name);
    if (folder === '.') return;
    await mkdir(this.pathOf(folder), { mode: FOLDER_MODE }).catch((error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error;
    });
  }

  async #putInPlace(temporary: string, name: string): Promise<void> {
    const known = this.#guarded.get(name);
    const coming = lookAt(temporary);
    if (known) this.#guarded.set(name, [...known, coming]);
    await rename(temporary, this.pathOf(name));
    if (known) this.#guarded.set(name, [coming]);
  }
}

/** Not asynchronous: for a file in use that would take thirty times as long, and it is done for each durable write. */
function lookAt(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

/** Is what was found, if anything, what it was? That of a file nobody has open: it takes more than the inode to tell. */
function isUnchanged(found: Stats | undefined, known: Stats | undefined): boolean {
  if (!found || !known) return found === known;
  return isSameFile(found, known) && found.size === known.size && found.mtimeMs === known.mtimeMs;
}

async function writeWhole(path: string, content: AsyncIterable<Uint8Array>): Promise<number> {
  const handle = await open(path, 'w', FILE_MODE);
  let sizeBytes = 0;
  try {
    for await (const chunk of content) {
      await handle.appendFile(chunk);
      sizeBytes += chunk.length;
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  return sizeBytes;
}

/** Makes new and renamed entries of a folder durable, where the operating system lets folders be synced (not Windows). */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
