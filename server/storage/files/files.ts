import { PlatformError, reasonOf } from '../../model/errors.ts';

/** The storage of a store's files: in memory only (tests, temporary worlds), or in a folder. */
export type StorageBackend = { kind: 'memory' } | { kind: 'folder'; dir: string };

/**
 * When an append counts as durable. `batch` (default): pending appends are written and synced together, so that even a power failure loses
 * nothing acknowledged. `always`: the same, line by line. `never`: when the operating system has the data; a crash of the platform loses
 * nothing, a power failure can lose the last seconds.
 */
export type FsyncPolicy = 'always' | 'batch' | 'never';

export interface AppendHandle {
  /** Throws FolderLost unless the name leads to this file, with this size, in a folder of this process: else appends would be lost. */
  check(minBytes: number, maxBytes: number): void;
  /** Rejects if not everything was written; the file can then contain a part. */
  append(bytes: Uint8Array): Promise<void>;
  sync(): Promise<void>;
  truncate(sizeBytes: number): Promise<void>;
  close(): Promise<void>;
}

/** A file as it was when it was opened, readable in parts even if it is moved or deleted meanwhile. */
export interface ReadHandle {
  readonly sizeBytes: number;
  readonly modifiedAtMs: number;
  /** The bytes from a position on; fewer than requested only at the end. */
  read(position: number, lengthBytes: number): Promise<Buffer>;
  close(): Promise<void>;
}

/** The content of a file in parts, in order. */
export type Chunks = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/** The file operations of a store. Names are relative, with `/` between folder and file. */
export interface StoreFiles {
  readonly wasKilled: boolean;
  pathOf(name: string): string;
  /** Throws FolderLost if the folder, its lock or a guarded file was removed or replaced. All reads and writes call it. */
  check(): void;
  /** From now on `check` verifies that this file is unchanged since it was last read or replaced here. */
  guard(name: string): void;
  read(name: string): Promise<Buffer | undefined>;
  openRead(name: string): Promise<ReadHandle | undefined>;
  /** Reads bytes synchronously, for small cached parts: fewer only at the end, undefined if the file does not exist. */
  readAt(name: string, position: number, lengthBytes: number): Buffer | undefined;
  freeBytes(): Promise<number>;
  list(folder: string): Promise<string[]>;
  /** Opens a file for appending after `sizeBytes` valid bytes, synced if asked; creates it if it does not exist. */
  openAppend(name: string, sizeBytes: number, isSynced?: boolean): Promise<AppendHandle>;
  /** Replaces a file, or makes it with its folder, atomically even in a crash. Resolves to its size when it is on the disk. */
  replace(name: string, content: Chunks): Promise<number>;
  /** Moves a file, creating the target folder; durable when it resolves. */
  rename(from: string, to: string): Promise<void>;
  remove(name: string): Promise<void>;
  release(): void;
}

/** A data folder cannot be opened. The message is for the user: the file and line, what is kept, what to do next. Nothing was changed. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly path: string;
  readonly line: number | undefined;

  constructor(path: string, message: string, options: { line?: number; cause?: unknown } = {}) {
    super(`${path}${options.line === undefined ? '' : `, line ${options.line}`}: ${message}`, { cause: options.cause });
    this.path = path;
    this.line = options.line;
  }
}

/** A file of a new world cannot be written. */
export function notWritten(path: string, error: unknown): StoreError {
  const advice = 'Free some disk space and make the folder writable for you, or choose another data folder.';
  return new StoreError(path, `cannot be written (${reasonOf(error)}). ${advice}`, { cause: error });
}

/** An open data folder was removed, renamed or replaced, or belongs to another process: it must not be changed. Clients get it (D-015). */
export class FolderLost extends PlatformError {
  constructor(dir: string, reason: string) {
    super(
      'storage_failed',
      `the data folder ${dir} has changed outside this platform: ${reason}. The platform does not write to it any more; the data ` +
        'in memory can still be read and exported. Restore the folder, or restart this platform',
    );
  }
}

class MemoryFile implements AppendHandle {
  chunks: Uint8Array[] = [];
  modifiedAtMs = Date.now();

  content(): Buffer {
    const content = Buffer.concat(this.chunks);
    this.chunks = [content];
    return content;
  }

  check(): void {}

  async append(bytes: Uint8Array): Promise<void> {
    this.chunks.push(Uint8Array.from(bytes)); // the caller can reuse the buffer
    this.modifiedAtMs = Date.now();
  }

  async sync(): Promise<void> {}

  async truncate(sizeBytes: number): Promise<void> {
    this.chunks = [this.content().subarray(0, sizeBytes)];
  }

  async close(): Promise<void> {}
}

export class MemoryFiles implements StoreFiles {
  readonly wasKilled = false;
  readonly #files = new Map<string, MemoryFile>();

  pathOf(name: string): string {
    return `memory:${name}`;
  }

  check(): void {}

  guard(): void {}

  release(): void {}

  async read(name: string): Promise<Buffer | undefined> {
    return this.#files.get(name)?.content();
  }

  async openRead(name: string): Promise<ReadHandle | undefined> {
    const file = this.#files.get(name);
    if (!file) return undefined;
    const content = file.content();
    return {
      sizeBytes: content.length,
      modifiedAtMs: file.modifiedAtMs,
      read: async (position, lengthBytes) => content.subarray(position, position + lengthBytes),
      close: async () => undefined,
    };
  }

  readAt(name: string, position: number, lengthBytes: number): Buffer | undefined {
    return this.#files
      .get(name)
      ?.content()
      .subarray(position, position + lengthBytes);
  }

  async freeBytes(): Promise<number> {
    return Number.POSITIVE_INFINITY;
  }

  async list(folder: string): Promise<string[]> {
    const prefix = `${folder}/`;
    return [...this.#files.keys()]
      .filter((name) => name.startsWith(prefix))
      .map((name) => name.slice(prefix.length))
      .sort();
  }

  async openAppend(name: string): Promise<AppendHandle> {
    const file = this.#files.get(name) ?? new MemoryFile();
    this.#files.set(name, file);
    return file;
  }

  async replace(name: string, content: Chunks): Promise<number> {
    const file = new MemoryFile();
    for await (const chunk of content) file.chunks.push(chunk);
    this.#files.set(name, file);
    return file.content().length;
  }

  async rename(from: string, to: string): Promise<void> {
    const file = this.#files.get(from);
    if (!file) throw new Error(`${this.pathOf(from)} does not exist`);
    this.#files.delete(from);
    this.#files.set(to, file);
  }

  async remove(name: string): Promise<void> {
    this.#files.delete(name);
  }
}
