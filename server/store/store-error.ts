import { PlatformError } from '../model/errors.ts';

/**
 * Why a data folder cannot be opened: it is damaged, in use, or not to be read. Meant for the person who started the
 * emulator: the message names the file and line, what is kept, and what to do next. Nothing was changed on disk.
 */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  /** The file or folder it is about. */
  readonly path: string;
  /** 1-based line in that file, when it is about one line. */
  readonly line: number | undefined;

  constructor(path: string, message: string, options: { line?: number; cause?: unknown } = {}) {
    super(`${path}${options.line === undefined ? '' : `, line ${options.line}`}: ${message}`, { cause: options.cause });
    this.path = path;
    this.line = options.line;
  }
}

/**
 * Why a data folder that is open may not be touched any more: it, or a file of it, was removed, renamed or replaced, or is
 * another process's now. Clients are answered with it (D-015).
 */
export class FolderLost extends PlatformError {
  /** @param reason what was found, as a half-sentence */
  constructor(dir: string, reason: string) {
    super(
      503,
      `the data folder ${dir} is no longer as this platform has it open: ${reason}. Nothing is written to it any more; ` +
        'what is in memory can still be read and exported. Put the folder back as it was, or stop this platform and start it anew',
    );
  }
}
