import { type FSWatcher, watch } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import path from 'node:path';
import { codeOf } from '../../model/errors.ts';

const MAX_BYTES = 1024 * 1024;
/** Some file systems report no changes, and a folder that was replaced reports none any more. */
const LOOK_EVERY_MS = 1_000;
/** An editor writes in several steps; what is read in between is half a file. */
const SETTLE_MS = 15;

export type FileReading = { ok: true; text: string } | { ok: false; problem: string };

/** Follows a text file, however editors write it: in place, or by putting another one in its place. */
export class WatchedFile {
  readonly #path: string;
  readonly #onReading: (reading: FileReading) => Promise<void>;
  #watcher: FSWatcher | undefined;
  #settling: NodeJS.Timeout | undefined;
  readonly #looking: NodeJS.Timeout;
  #stamp = '';
  #underWay: Promise<void> = Promise.resolve();
  #isStopped = false;

  /**
   * Begins to watch.
   *
   * @param file absolute path
   * @param onReading called in order for every new state of the file, including the first
   */
  constructor(file: string, onReading: (reading: FileReading) => Promise<void>) {
    this.#path = file;
    this.#onReading = onReading;
    this.#looking = setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
    this.#watch();
    this.#look();
  }

  /** Resolves when the current reading has been reported. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#looking);
    clearTimeout(this.#settling);
    this.#watcher?.close();
    await this.#underWay;
  }

  #watch(): void {
    try {
      // Watches the folder, not the file: some editors write a new file and rename it, which ends a watch on the old one.
      this.#watcher = watch(path.dirname(this.#path), { persistent: false }, (_event, name) => {
        if (name !== null && name !== path.basename(this.#path)) return;
        clearTimeout(this.#settling);
        this.#settling = setTimeout(() => this.#look(), SETTLE_MS).unref();
      });
      this.#watcher.on('error', () => this.#forgetWatcher());
    } catch {
      this.#forgetWatcher();
    }
  }

  /** Until there is something to watch again, looking now and then has to do. */
  #forgetWatcher(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  #look(): void {
    if (!this.#watcher && !this.#isStopped) this.#watch();
    this.#underWay = this.#underWay.then(() => this.#read());
  }

  async #read(): Promise<void> {
    if (this.#isStopped) return;
    const { stamp, reading } = await readStable(this.#path);
    if (stamp === this.#stamp || this.#isStopped) return;
    this.#stamp = stamp;
    if (!reading.ok) this.#forgetWatcher();
    await this.#onReading(reading);
  }
}

/** Reads a source file once. Nothing is thrown: what is wrong is a sentence. */
export async function readSource(file: string): Promise<FileReading> {
  return (await readStable(file)).reading;
}

async function readStable(file: string): Promise<{ stamp: string; reading: FileReading }> {
  let handle: FileHandle | undefined;
  try {
    // Before it is opened: opening a pipe waits for a writer.
    const kind = await stat(file);
    if (!kind.isFile()) return { stamp: 'no file', reading: { ok: false, problem: `${file} is not a file` } };
    handle = await open(file, 'r');
    for (;;) {
      const before = await handle.stat();
      const stamp = `${before.ino} ${before.size} ${before.mtimeMs}`;
      const problem = problemWith(file, before.size);
      if (problem !== undefined) return { stamp, reading: { ok: false, problem } };
      const bytes = Buffer.alloc(before.size);
      const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
      const after = await handle.stat();
      // Written to meanwhile: it is read again.
      if (after.size !== before.size || after.mtimeMs !== before.mtimeMs) continue;
      return { stamp, reading: textOf(file, bytes.subarray(0, bytesRead)) };
    }
  } catch (thrown) {
    const code = codeOf(thrown);
    const problem = code === 'ENOENT' ? `${file} does not exist` : `${file} cannot be read (${code ?? String(thrown)})`;
    return { stamp: problem, reading: { ok: false, problem } };
  } finally {
    await handle?.close();
  }
}

function problemWith(file: string, sizeBytes: number): string | undefined {
  if (sizeBytes > MAX_BYTES) return `${file} has ${sizeBytes} bytes; the maximum is ${MAX_BYTES}`;
  return sizeBytes === 0 ? `${file} is empty` : undefined;
}

function textOf(file: string, bytes: Uint8Array): FileReading {
  try {
    return { ok: true, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    return { ok: false, problem: `${file} is not valid UTF-8 text` };
  }
}
