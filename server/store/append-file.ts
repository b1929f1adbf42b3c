import { setImmediate as endOfTurn } from 'node:timers/promises';
import { PlatformError } from '../model/errors.ts';
import { codeOf, reasonOf } from '../model/reason.ts';
import type { AppendHandle, FsyncPolicy, StoreFiles } from './files.ts';
import { FolderLost } from './store-error.ts';

/** Called once, in the order of the appends: without an error when durable. Must not throw. */
export type Done = (error?: PlatformError) => void;

const advice: Readonly<Record<string, string>> = {
  ENOSPC: 'The disk is full: free some space',
  EDQUOT: 'Your disk quota is used up: free some space',
  EROFS: 'The file system is read-only: make it writable',
  EACCES: 'Make the file writable for you',
  EPERM: 'Make the file writable for you',
};

/** The refusal of what could not be written. */
export function notSaved(what: string, path: string, error: unknown): PlatformError {
  if (error instanceof FolderLost)
    return new PlatformError(503, `${what} was not saved: ${error.message}.`, { cause: error });
  const todo = advice[codeOf(error) ?? ''] ?? 'Check the disk';
  const message = `${what} was not saved, writing ${path} failed (${reasonOf(error)}).`;
  return new PlatformError(503, `${message} ${todo}, then repeat the request; nothing of it was kept.`, {
    cause: error,
  });
}

/**
 * A file that grows by lines, with group commit: while one write is under way, what is appended meanwhile waits, and
 * then goes out in one write (and one sync). A failed write takes back everything that is not durable yet, newest
 * first, because later appends stand on earlier ones; the next append starts clean after the last durable byte.
 */
export class AppendFile {
  readonly #files: StoreFiles;
  readonly #name: string;
  readonly #fsync: FsyncPolicy;
  #handle: AppendHandle | undefined;
  /** Where the durable content ends. */
  #sizeBytes: number;
  /** May there be something after it that has to go? */
  #isDirty: boolean;
  #queue: { text: string; done: Done }[] = [];
  #tasks: (() => Promise<void>)[] = [];
  #running: Promise<void> | undefined;
  #failure: PlatformError | undefined;

  /** @param sizeBytes the good part of the file; with `isTorn` there is more, which is cut off before the first write */
  constructor(files: StoreFiles, name: string, fsync: FsyncPolicy, sizeBytes = 0, isTorn = false) {
    this.#files = files;
    this.#name = name;
    this.#fsync = fsync;
    this.#sizeBytes = sizeBytes;
    this.#isDirty = isTorn;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Why the last write failed, or why the next one would; undefined as long as nothing is known against it. */
  get failure(): PlatformError | undefined {
    try {
      this.check();
      return this.#failure;
    } catch (error) {
      return error instanceof PlatformError ? error : notSaved('The change', this.#files.pathOf(this.#name), error);
    }
  }

  /** Throws FolderLost when the file is no longer the one that it was, or its folder no longer ours. */
  check(): void {
    if (this.#handle) this.#checkPlace(this.#handle);
    else this.#files.check();
  }

  append(text: string, done: Done): void {
    this.#queue.push({ text, done });
    this.#start();
  }

  /** Resolves when everything appended so far is durable; rejects when it was taken back. */
  settled(): Promise<void> {
    return new Promise((resolve, reject) => this.append('', (error) => (error ? reject(error) : resolve())));
  }

  /** Moves the file out of the way between two writes; the next append starts a new one. */
  moveTo(name: () => string): Promise<void> {
    return this.between(async () => {
      await this.#cutBack();
      this.check();
      await this.#close(); // Windows moves no open file
      await this.#files.rename(this.#name, name());
      this.#sizeBytes = 0;
    });
  }

  /**
   * Replaces the whole content between two writes. `content` is called when it begins and must tell the state with
   * all appends made by then: those that still wait become durable by it.
   */
  rewrite(content: () => AsyncIterable<Uint8Array>): Promise<void> {
    return this.between(async () => {
      await this.#cutBack();
      await this.#close();
      const waiting = this.#queue.splice(0);
      try {
        this.#sizeBytes = await this.#files.replace(this.#name, content());
      } catch (error) {
        this.#queue.unshift(...waiting);
        // Old or new, which of them it is tells only the disk.
        this.#sizeBytes = (await this.#files.read(this.#name))?.length ?? 0;
        throw error;
      }
      for (const { done } of waiting) done();
    });
  }

  /** Waits for all that is under way, then lets go of the file. */
  async close(): Promise<void> {
    while (this.#running) await this.#running;
    await this.#close();
  }

  /** Does something between two writes: the file's first `sizeBytes` are all that is durable then. */
  between<T>(task: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#tasks.push(() => task().then(resolve, reject));
      this.#start();
    });
  }

  #start(): void {
    this.#running ??= this.#run();
  }

  async #run(): Promise<void> {
    await endOfTurn(); // so that all appends of this turn go out together, those of the other requests that have come by now, too
    while (this.#queue.length > 0 || this.#tasks.length > 0) {
      if (this.#queue.length > 0) await this.#writeBatch();
      await this.#tasks.shift()?.();
    }
    this.#running = undefined;
  }

  async #writeBatch(): Promise<void> {
    const batch = this.#queue.splice(0, this.#fsync === 'always' ? 1 : this.#queue.length);
    try {
      await this.#write(batch.map(({ text }) => text).join(''));
    } catch (error) {
      const failure = notSaved('The change', this.#files.pathOf(this.#name), error);
      // At once, so that a crash does not bring back what is about to be refused; when even that fails, before the next write.
      await this.#cutBack().catch(() => undefined);
      // A folder can come back as it was: whether it has is looked at anew each time.
      this.#failure = error instanceof FolderLost ? undefined : failure;
      for (const { done } of [...batch, ...this.#queue.splice(0)].reverse()) done(failure);
      return;
    }
    for (const { done } of batch) done();
  }

  async #write(text: string): Promise<void> {
    if (text === '') return;
    await this.#cutBack();
    const handle = await this.#open();
    const bytes = Buffer.from(text);
    this.#checkPlace(handle);
    this.#isDirty = true;
    await handle.append(bytes);
    if (this.#fsync !== 'never') await handle.sync();
    // The last thing before it is acknowledged: what stands in a file that was taken away meanwhile is not saved.
    const sizeBytes = this.#sizeBytes + bytes.length;
    handle.check(sizeBytes, sizeBytes);
    this.#isDirty = false;
    this.#sizeBytes = sizeBytes;
    this.#failure = undefined;
  }

  async #cutBack(): Promise<void> {
    if (!this.#isDirty) return;
    const handle = await this.#open();
    this.#checkPlace(handle);
    await handle.truncate(this.#sizeBytes);
    if (this.#fsync !== 'never') await handle.sync();
    this.#isDirty = false;
  }

  async #open(): Promise<AppendHandle> {
    this.#handle ??= await this.#files.openAppend(this.#name, this.#sizeBytes, this.#fsync !== 'never');
    return this.#handle;
  }

  #checkPlace(handle: AppendHandle): void {
    handle.check(this.#sizeBytes, this.#isDirty ? Number.POSITIVE_INFINITY : this.#sizeBytes);
  }

  async #close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }
}
