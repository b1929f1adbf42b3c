import { type PlatformError, reasonOf } from '../../model/errors.ts';
import { heldBytes } from '../../model/held-bytes.ts';
import { isJsonObject } from '../../model/json.ts';
import type { KeyedLog } from '../../model/keyed-log.ts';
import { AppendFile } from './append-file.ts';
import { chunksOf, readCheckedLines, toCheckedLine } from './checked-line.ts';
import type { FsyncPolicy, StoreFiles } from './files.ts';

/** Limits of a log: the oldest records are removed when one is added, but never the new one. */
export interface Caps {
  maxItems: number;
  maxBytes: number;
}

const UNCAPPED: Caps = { maxItems: Number.POSITIVE_INFINITY, maxBytes: Number.POSITIVE_INFINITY };

/** A log is compacted when less than half of its lines are current, but not below this size. */
const REWRITE_MIN_BYTES = 1024 * 1024;

/** A change that cannot be saved rejects with 503 and is undone with later ones. Throws StoreError if the file is damaged. */
export async function openKeyedLog<T>(
  files: StoreFiles,
  options: { name: string; fsync?: FsyncPolicy; caps?: Caps | undefined; onWarning(message: string): void },
): Promise<OpenKeyedLog<T>> {
  const name = `${options.name}.jsonl`;
  const records = new Map<string, T>();
  let lines = 0;
  const end = await readCheckedLines(files, name, {
    accept(line) {
      lines += 1;
      if (isJsonObject(line) && typeof line.put === 'string' && 'record' in line) {
        records.set(line.put, line.record as T); // its checksum shows that a put wrote it
      } else if (isJsonObject(line) && typeof line.remove === 'string') {
        records.delete(line.remove);
      } else {
        throw new Error('the line is neither a put nor a remove');
      }
    },
    advise: (line) =>
      `The ${line - 1} lines before it are intact. To continue without it: copy the file to a safe place, delete line ${line}, and ` +
      'start again.',
    onTorn: (tornBytes) =>
      options.onWarning(
        `${files.pathOf(name)} ends in the middle of a line (${tornBytes} bytes), as after a crash. That record was never ` +
          'acknowledged and is dropped.',
      ),
  });
  const file = new AppendFile(files, name, options.fsync ?? 'batch', end?.sizeBytes, end?.isTorn);
  return new OpenKeyedLog(records, lines, file, options);
}

export class OpenKeyedLog<T> implements KeyedLog<T> {
  readonly #records: Map<string, T>;
  readonly #file: AppendFile;
  readonly #onWarning: (message: string) => void;
  readonly #caps: Caps;
  /** Estimated memory of each record. */
  readonly #sizes = new Map<string, number>();
  #sizeBytes = 0;
  #lines: number;
  #rewriteAboveBytes = REWRITE_MIN_BYTES;
  #isRewriting = false;

  constructor(
    records: Map<string, T>,
    lines: number,
    file: AppendFile,
    { caps = UNCAPPED, onWarning }: { caps?: Caps | undefined; onWarning(message: string): void },
  ) {
    this.#records = records;
    this.#lines = lines;
    this.#file = file;
    this.#caps = caps;
    this.#onWarning = onWarning;
    for (const [key, record] of records) this.#set(key, record);
  }

  get size(): number {
    return this.#records.size;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  get failure(): PlatformError | undefined {
    return this.#file.failure;
  }

  /** Finds out whether a file whose last write failed can be written to again. */
  retry(): void {
    this.#file.retry();
  }

  get(key: string): T | undefined {
    return this.#records.get(key);
  }

  entries(): IterableIterator<[string, T]> {
    return this.#records.entries();
  }

  async put(key: string, record: T): Promise<void> {
    const text = toCheckedLine({ put: key, record });
    const before = this.#records.get(key);
    this.#set(key, record);
    await this.#append(text, () => this.#set(key, before));
    // The new record is saved. A failed removal of an old one is not reported to the client, and retried with the next.
    await Promise.allSettled(this.#surplus(key).map((oldest) => this.remove(oldest)));
  }

  async remove(key: string): Promise<boolean> {
    const before = this.#records.get(key);
    if (before === undefined) return false;
    this.#set(key, undefined);
    await this.#append(toCheckedLine({ remove: key }), () => this.#set(key, before));
    return true;
  }

  #set(key: string, record: T | undefined): void {
    const sizeBytes = heldBytes(record);
    this.#sizeBytes += sizeBytes - (this.#sizes.get(key) ?? 0);
    if (record === undefined) {
      this.#records.delete(key);
      this.#sizes.delete(key);
    } else {
      this.#records.set(key, record);
      this.#sizes.set(key, sizeBytes);
    }
  }

  #surplus(newest: string): string[] {
    const { maxItems, maxBytes } = this.#caps;
    const keys: string[] = [];
    let [items, bytes] = [this.#records.size, this.#sizeBytes];
    for (const [key, sizeBytes] of this.#sizes) {
      if (items <= maxItems && bytes <= maxBytes) break;
      if (key === newest) continue;
      keys.push(key);
      items -= 1;
      bytes -= sizeBytes;
    }
    return keys;
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  #append(text: string, undo: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#file.append(text, (failure) => {
        if (failure) {
          undo();
          reject(failure);
          return;
        }
        this.#lines += 1;
        resolve();
        const isMostlyGarbage = this.#lines > 2 * this.#records.size && this.#file.sizeBytes > this.#rewriteAboveBytes;
        if (isMostlyGarbage && !this.#isRewriting) void this.#rewrite();
      });
    });
  }

  async #rewrite(): Promise<void> {
    this.#isRewriting = true;
    try {
      await this.#file.rewrite(() => chunksOf(linesOf([...this.#records])));
      this.#lines = this.#records.size;
      this.#rewriteAboveBytes = REWRITE_MIN_BYTES;
    } catch (error) {
      this.#rewriteAboveBytes = this.#file.sizeBytes + REWRITE_MIN_BYTES;
      this.#onWarning(
        `A log could not be compacted (${reasonOf(error)}). No data is lost, and the platform tries again later.`,
      );
    }
    this.#isRewriting = false;
  }
}

function* linesOf(records: readonly [string, unknown][]): Generator<string> {
  for (const [key, record] of records) yield toCheckedLine({ put: key, record });
}
