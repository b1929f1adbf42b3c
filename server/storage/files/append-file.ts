import { setImmediate as endOfTurn } from 'node:timers/promises';
import { codeOf, PlatformError, reasonOf } from '../../model/errors.ts';
import { type AppendHandle, type Chunks, FolderLost, type FsyncPolicy, type StoreFiles } from './files.ts';

/** Called once, in the order of the appends; without an error when durable. Must not throw. */
export type Done = (error?: PlatformError) => void;

const advice: Readonly<Record<string, string>> = {
  ENOSPC: 'The disk is full: free some space',
  EDQUOT: 'Your disk quota is used up: free some space',
  EROFS: 'The file system is read-only: make it writable',
  EACCES: 'Make the file writable for you',
  EPERM: 'Make the file writable for you',
};

/** Is written and cut off again. A full disk often has space for a few bytes in the last page of a file. */
const TRIAL = Buffer.alloc(64 * 1024, ' ');

/** Ending of the file that takes the place of one that is moved. */
export const NEXT = '.next';

export function notSaved(subject: string, path: string, error: unknown): PlatformError {
  if (error instanceof FolderLost)
    return new PlatformError('storage_failed', `${subject} was not saved: ${error.message}.`, { cause: error });
  const hint = advice[codeOf(error) ?? ''] ?? 'Check the disk';
  const message = `${subject} was not saved, writing ${path} failed (${reasonOf(error)}).`;
  const isFull = ['ENOSPC', 'EDQUOT'].includes(codeOf(error) ?? '');
  return new PlatformError(
    isFull ? 'disk_full' : 'storage_failed',
    `${message} ${hint}, then repeat the request. No part of it was kept.`,
    {
      cause: error,
    },
  );
}

/** Group commit: lines that come during a write wait for the next. A failed write removes all lines that are not durable, newest first. */
export class AppendFile {
  readonly #files: StoreFiles;
  readonly #name: string;
  readonly #fsync: FsyncPolicy;
  #handle: AppendHandle | undefined;
  #sizeBytes: number;
  /** Can the file contain bytes after it that must be removed? */
  #isDirty: boolean;
  #queue: { text: string; done: Done }[] = [];
  #tasks: (() => Promise<void>)[] = [];
  #running: Promise<void> | undefined;
  #failure: PlatformError | undefined;

  /** @param sizeBytes the valid part of the file; with `isTorn` it has more, which is cut off before the first write */
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

  get failure(): PlatformError | undefined {
    try {
      this.check();
      return this.#failure;
    } catch (error) {
      return error instanceof PlatformError ? error : notSaved('The change', this.#files.pathOf(this.#name), error);
    }
  }

  /** Throws FolderLost if the file was replaced, or the folder does not belong to this process any more. */
  check(): void {
    if (this.#handle) this.#requireSameFile(this.#handle);
    else this.#files.check();
  }

  append(text: string, done: Done): void {
    this.#queue.push({ text, done });
    this.#running ??= this.#run();
  }

  /** Resolves when everything appended so far is durable; rejects if it was removed. */
  settled(): Promise<void> {
    return new Promise((resolve, reject) => this.append('', (error) => (error ? reject(error) : resolve())));
  }

  /** After a failed write, finds out whether the file can be written to again, without a request that needs it. */
  retry(): void {
    if (!this.#failure || this.#running) return;
    void this.between(async () => {
      await this.#truncateTorn();
      const handle = await this.#open();
      this.#requireSameFile(handle);
      this.#isDirty = true;
      await handle.append(TRIAL);
      await this.#truncateTorn();
      this.#failure = undefined;
    }).catch(() => undefined);
  }

  /** Creates the file if it does not exist, so that a missing one is noticed. If this fails, so will the next write. */
  create(): Promise<void> {
    // Closed again: a file that is open for writing would prevent remounting its disk read-only.
    return this.between(() => this.#open().then(() => this.#close())).catch(() => undefined);
  }

  /** Moves the file to another name between two writes; an empty one takes its place. */
  moveTo(name: () => string): Promise<void> {
    return this.between(async () => {
      await this.#truncateTorn();
      this.check();
      await this.#close(); // Windows cannot move an open file
      // An empty file takes its place. Until then, it shows that the missing one was moved.
      const next = `${this.#name}${NEXT}`;
      const isMade = await this.#files.replace(next, []).then(
        () => true,
        () => false,
      );
      await this.#files.rename(this.#name, name());
      this.#sizeBytes = 0;
      if (isMade) await this.#files.rename(next, this.#name).catch(() => undefined);
    });
  }

  /** Replaces all between two writes. `content` is called at the start and must include all appends so far, which become durable with it. */
  rewrite(content: () => Chunks): Promise<void> {
    return this.between(async () => {
      await this.#truncateTorn();
      await this.#close();
      const waiting = this.#queue.splice(0);
      try {
        this.#sizeBytes = await this.#files.replace(this.#name, content());
      } catch (error) {
        this.#queue.unshift(...waiting);
        // Old or new content: only the disk knows which.
        this.#sizeBytes = (await this.#files.read(this.#name))?.length ?? 0;
        throw error;
      }
      for (const { done } of waiting) done();
    });
  }

  async close(): Promise<void> {
    while (this.#running) await this.#running;
    await this.#close();
  }

  /** Runs a task between two writes; afterwards only the first `sizeBytes` of the file are durable. */
  between<T>(task: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#tasks.push(() => task().then(resolve, reject));
      this.#running ??= this.#run();
    });
  }

  async #run(): Promise<void> {
    await endOfTurn(); // so that all appends of this turn are written together, including those of other requests that have arrived by now
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
      // Immediately, so that a crash does not restore what will be refused; if this fails too, before the next write.
      await this.#truncateTorn().catch(() => undefined);
      // A folder can be restored, so this is checked again each time.
      this.#failure = error instanceof FolderLost ? undefined : failure;
      for (const { done } of [...batch, ...this.#queue.splice(0)].reverse()) done(failure);
      return;
    }
    for (const { done } of batch) done();
  }

  async #write(text: string): Promise<void> {
    if (text === '') return;
    await this.#truncateTorn();
    const handle = await this.#open();
    const bytes = Buffer.from(text);
    this.#requireSameFile(handle);
    this.#isDirty = true;
    await handle.append(bytes);
    if (this.#fsync !== 'never') await handle.sync();
    // The last check before the acknowledgment: a file that was removed meanwhile does not save anything.
    const sizeBytes = this.#sizeBytes + bytes.length;
    handle.check(sizeBytes, sizeBytes);
    this.#isDirty = false;
    this.#sizeBytes = sizeBytes;
    this.#failure = undefined;
  }

  async #truncateTorn(): Promise<void> {
    if (!this.#isDirty) return;
    const handle = await this.#open();
    this.#requireSameFile(handle);
    await handle.truncate(this.#sizeBytes);
    if (this.#fsync !== 'never') await handle.sync();
    this.#isDirty = false;
  }

  async #open(): Promise<AppendHandle> {
    this.#handle ??= await this.#files.openAppend(this.#name, this.#sizeBytes, this.#fsync !== 'never');
    return this.#handle;
  }

  #requireSameFile(handle: AppendHandle): void {
    handle.check(this.#sizeBytes, this.#isDirty ? Number.POSITIVE_INFINITY : this.#sizeBytes);
  }

  async #close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }
}
