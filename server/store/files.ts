/** Where a store lives: in memory only (tests, throw-away worlds), or in a folder of its own. */
export type Medium = { kind: 'memory' } | { kind: 'folder'; dir: string };

/**
 * When an append counts as durable. `batch` (the default): all that is pending is written at once and synced to the
 * disk once, so even a power cut loses nothing acknowledged. `always`: the same, line by line. `never`: once the
 * operating system has it; a crash of the emulator loses nothing, a power cut may lose the last seconds.
 */
export type FsyncPolicy = 'always' | 'batch' | 'never';

/** One open file that only grows. */
export interface AppendHandle {
  /**
   * Throws FolderLost unless this is still the file that its name leads to, no shorter and no longer than that, in a folder
   * that is ours. What is appended to any other file is nobody's.
   */
  check(minBytes: number, maxBytes: number): void;
  /** Rejects when not everything was written; part of it may stand in the file then. */
  append(bytes: Uint8Array): Promise<void>;
  /** Resolves when everything appended has reached the disk. */
  sync(): Promise<void>;
  truncate(sizeBytes: number): Promise<void>;
  close(): Promise<void>;
}

/** One file as it was when it was opened, to be read in parts; it may be moved or deleted meanwhile. */
export interface ReadHandle {
  readonly sizeBytes: number;
  /** When it was last written, epoch milliseconds. */
  readonly modifiedAtMs: number;
  /** The bytes from a position on; fewer than asked for only at the end. */
  read(position: number, lengthBytes: number): Promise<Buffer>;
  close(): Promise<void>;
}

/** The few things a store does with files. Names are relative, with `/` between folder and file. */
export interface StoreFiles {
  /** How messages name a file. */
  pathOf(name: string): string;
  /**
   * Throws FolderLost when the files are no longer ours: the folder, its lock or a guarded file is gone or another one.
   * Everything that reads or changes a file does so itself.
   */
  check(): void;
  /** From now on `check` demands that this file is as it was last read or replaced here. */
  guard(name: string): void;
  /** The whole content, or undefined when there is no such file. */
  read(name: string): Promise<Buffer | undefined>;
  /** Opens for reading; undefined when there is no such file. */
  openRead(name: string): Promise<ReadHandle | undefined>;
  /**
   * Some bytes of a file, at once: for small parts of files that the system has at hand. Fewer than asked for only at its end;
   * undefined when there is no such file.
   */
  readAt(name: string, position: number, lengthBytes: number): Buffer | undefined;
  /** Room that is left where they are, in bytes. */
  freeBytes(): Promise<number>;
  /** Names of the files in a folder, sorted; none when there is no such folder. */
  list(folder: string): Promise<string[]>;
  /**
   * Opens a file for appending that holds `sizeBytes` that count; creates it when there are none.
   *
   * @param isSynced is each append followed by a sync? Unless so, none is
   */
  openAppend(name: string, sizeBytes: number, isSynced?: boolean): Promise<AppendHandle>;
  /**
   * Replaces a file as a whole, or not at all: readers and crashes see the old or the new content. Makes its folder.
   * Resolves to its size in bytes, after it has reached the disk.
   */
  replace(name: string, content: AsyncIterable<Uint8Array>): Promise<number>;
  /** Moves a file, making the folder it moves into; durable when it resolves. */
  rename(from: string, to: string): Promise<void>;
  /** Deletes a file, if there is one. */
  remove(name: string): Promise<void>;
  /** Lets go of them: somebody else may have them then. */
  release(): void;
}
