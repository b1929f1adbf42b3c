import { PlatformError } from '../../model/errors.ts';

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
