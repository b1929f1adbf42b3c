import type { PlatformError } from '../model/errors.ts';
import { isJsonObject } from '../model/json.ts';
import type { KeyedLog } from '../model/keyed-log.ts';
import { reasonOf } from '../model/reason.ts';
import { AppendFile } from './append-file.ts';
import { readCheckedLines, toCheckedLine } from './checked-line.ts';
import type { FsyncPolicy, StoreFiles } from './files.ts';
import { inSlices } from './turns.ts';

/** A log is written anew when less than half of its lines still count, but not for less than this. */
const REWRITE_MIN_BYTES = 1024 * 1024;

export interface KeyedLogOptions {
  /** File name without its ending `.jsonl`. */
  name: string;
  /** Default `batch`. */
  fsync?: FsyncPolicy;
  onWarning(message: string): void;
}

/**
 * Opens durable records by key, or begins a new log. A put or remove that cannot be saved rejects with PlatformError
 * 503 and is taken back, with those after it.
 *
 * @param files those of an open store, whose lock covers the log, too
 * @typeParam T what JSON can hold, as it is
 * @throws StoreError when the file is damaged; nothing was changed then
 */
export async function openKeyedLog<T>(files: StoreFiles, options: KeyedLogOptions): Promise<OpenKeyedLog<T>> {
  const name = `${options.name}.jsonl`;
  const records = new Map<string, T>();
  let lines = 0;
  const end = await readCheckedLines(files, name, {
    accept(line) {
      lines += 1;
      if (isJsonObject(line) && typeof line.put === 'string' && 'record' in line) {
        records.set(line.put, line.record as T); // its checksum shows that it is what a put wrote
      } else if (isJsonObject(line) && typeof line.remove === 'string') {
        records.delete(line.remove);
      } else {
        throw new Error('the line is neither a put nor a remove');
      }
    },
    advise: (line) =>
      `The ${line - 1} lines before it are intact. To go on without it: copy the file to a safe place, ` +
      `delete line ${line}, and start again.`,
    onTorn: (tornBytes) =>
      options.onWarning(
        `${files.pathOf(name)} ends in the middle of a line (${tornBytes} bytes), as a crash leaves it. ` +
          'That record was never acknowledged and is dropped.',
      ),
  });
  const file = new AppendFile(files, name, options.fsync ?? 'batch', end?.sizeBytes, end?.isTorn);
  return new OpenKeyedLog(records, lines, file, options.onWarning);
}

export class OpenKeyedLog<T> implements KeyedLog<T> {
  readonly #records: Map<string, T>;
  readonly #file: AppendFile;
  readonly #onWarning: (message: string) => void;
  /** How many lines the file has. */
  #lines: number;
  #rewriteAboveBytes = REWRITE_MIN_BYTES;
  #isRewriting = false;

  constructor(records: Map<string, T>, lines: number, file: AppendFile, onWarning: (message: string) => void) {
    this.#records = records;
    this.#lines = lines;
    this.#file = file;
    this.#onWarning = onWarning;
  }

  get size(): number {
    return this.#records.size;
  }

  /** Why the last write failed, or why the next one would; undefined as long as nothing is known against it. */
  get failure(): PlatformError | undefined {
    return this.#file.failure;
  }

  get(key: string): T | undefined {
    return this.#records.get(key);
  }

  entries(): IterableIterator<[string, T]> {
    return this.#records.entries();
  }

  async put(key: string, record: T): Promise<void> {
    const text = putLine(key, record);
    const before = this.#records.get(key);
    this.#records.set(key, record);
    await this.#append(text, () => {
      if (before === undefined) this.#records.delete(key);
      else this.#records.set(key, before);
    });
  }

  async remove(key: string): Promise<boolean> {
    const before = this.#records.get(key);
    if (before === undefined) return false;
    this.#records.delete(key);
    await this.#append(toCheckedLine({ remove: key }), () => this.#records.set(key, before));
    return true;
  }

  /** Waits for what is under way, then lets go of the file. */
  close(): Promise<void> {
    return this.#file.close();
  }

  #append(text: string, takeBack: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#file.append(text, (failure) => {
        if (failure) {
          takeBack();
          reject(failure);
          return;
        }
        this.#lines += 1;
        resolve();
        if (this.#isMostlyGarbage && !this.#isRewriting) void this.#rewrite();
      });
    });
  }

  get #isMostlyGarbage(): boolean {
    return this.#lines > 2 * this.#records.size && this.#file.sizeBytes > this.#rewriteAboveBytes;
  }

  async #rewrite(): Promise<void> {
    this.#isRewriting = true;
    try {
      await this.#file.rewrite(() => inSlices(linesOf([...this.#records])));
      this.#lines = this.#records.size;
      this.#rewriteAboveBytes = REWRITE_MIN_BYTES;
    } catch (error) {
      this.#rewriteAboveBytes = this.#file.sizeBytes + REWRITE_MIN_BYTES;
      this.#onWarning(`A log could not be tidied up (${reasonOf(error)}). Nothing is lost; it is tried again later.`);
    }
    this.#isRewriting = false;
  }
}

function putLine(key: string, record: unknown): string {
  return toCheckedLine({ put: key, record });
}

function* linesOf(records: readonly [string, unknown][]): Generator<string> {
  for (const [key, record] of records) yield putLine(key, record);
}
