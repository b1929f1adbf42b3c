import { type FileHandle, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { AppendHandle, ReadHandle, StoreFiles } from './files.ts';
import { codeOf, reasonOf, StoreError } from './store-error.ts';

/** For the owner's eyes only: worlds hold passwords and tokens of the services that a developer works with. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

class FileAppender implements AppendHandle {
  readonly #handle: FileHandle;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  append(bytes: Uint8Array): Promise<void> {
    return this.#handle.appendFile(bytes);
  }

  sync(): Promise<void> {
    return this.#handle.datasync();
  }

  truncate(sizeBytes: number): Promise<void> {
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

/** Files of a store in a folder of the disk: folders 0700, files 0600. */
export class FolderFiles implements StoreFiles {
  readonly #dir: string;

  private constructor(dir: string) {
    this.#dir = dir;
  }

  /** Makes the folder when there is none. Throws StoreError when it cannot be used. */
  static async open(dir: string): Promise<FolderFiles> {
    try {
      await mkdir(dir, { recursive: true, mode: FOLDER_MODE });
      await readdir(dir);
    } catch (error) {
      const advice = 'Choose another data folder, or make this one readable and writable for you.';
      throw new StoreError(dir, `cannot be used as a data folder (${reasonOf(error)}). ${advice}`, { cause: error });
    }
    return new FolderFiles(dir);
  }

  pathOf(name: string): string {
    return join(this.#dir, name);
  }

  async read(name: string): Promise<Buffer | undefined> {
    const path = this.pathOf(name);
    try {
      return await readFile(path);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw new StoreError(path, `cannot be read (${reasonOf(error)}). Make it readable and start again.`, {
        cause: error,
      });
    }
  }

  async openRead(name: string): Promise<ReadHandle | undefined> {
    try {
      const handle = await open(this.pathOf(name), 'r');
      return new FileReader(handle, await handle.stat());
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  async list(folder: string): Promise<string[]> {
    try {
      return (await readdir(this.pathOf(folder))).sort();
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return [];
      throw error;
    }
  }

  async openAppend(name: string): Promise<AppendHandle> {
    const path = this.pathOf(name);
    const handle = await open(path, 'a', FILE_MODE);
    await syncFolder(dirname(path));
    return new FileAppender(handle);
  }

  async replace(name: string, content: AsyncIterable<Uint8Array>): Promise<number> {
    const path = this.pathOf(name);
    const temporary = `${path}.tmp`;
    await mkdir(dirname(path), { recursive: true, mode: FOLDER_MODE });
    try {
      const sizeBytes = await writeWhole(temporary, content);
      await rename(temporary, path);
      await syncFolder(dirname(path));
      return sizeBytes;
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }

  async rename(from: string, to: string): Promise<void> {
    const target = this.pathOf(to);
    await mkdir(dirname(target), { recursive: true, mode: FOLDER_MODE });
    await rename(this.pathOf(from), target);
    await syncFolder(dirname(target));
    await syncFolder(this.#dir);
  }

  async remove(name: string): Promise<void> {
    const path = this.pathOf(name);
    await rm(path, { force: true });
    await syncFolder(dirname(path));
  }
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
