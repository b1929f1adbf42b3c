import { randomUUID } from 'node:crypto';
import { reasonOf } from '../../model/errors.ts';
import type { StoreFiles } from '../files/files.ts';
import { BufferPool, ByteLog, SLAB_BYTES } from './byte-log.ts';
import { LogFiles, setAsideName } from './log-files.ts';
import { RecordLog, type RecordLogOptions } from './record-log.ts';

const BODIES = 'bodies';
const ID_FILE = 'records/id';
const MAX_ID_BYTES = 64;
/** Maximum delay until recorded data is in files, unless the disk is slower. */
const SAVE_EVERY_MS = 250;
/** Records that are written together, because the code that writes them is not in the processor's caches after a request. */
const WRITTEN_TOGETHER = 32;
/** A larger record is written at once, so that few bytes wait. */
const MAX_WAITING_BYTES = 64 * 1024;
const RETRY_MS = 5_000;
const TIDY_EVERY_MS = 60 * 60 * 1000;
const DAY_MS = 24 * 60 * 60 * 1000;
/** Maximum share of one file in the limit of all files, because whole files are deleted. */
const SEGMENT_PART = 16;
const MAX_SEGMENT_BYTES = 16 * 1024 * 1024;

/** Disk space that is reserved for the world: with less, nothing is recorded on disk. */
const LEFT_BYTES = 4 * 1024 * 1024;

export interface RecordLogsOptions {
  memoryBytes: number;
  maxItems: number;
  maxBytes: number;
  maxDays: number;
  files?: StoreFiles | undefined;
  nowMs(): number;
  onWarning(message: string): void;
}

/** Lists of records, and the bodies to which they refer. A write failure is reported once, and recording continues in memory. */
export class RecordLogs {
  readonly bodies: ByteLog;
  readonly #options: RecordLogsOptions;
  readonly #pool: BufferPool;
  readonly #rings: RecordLog<unknown>[] = [];
  readonly #files: LogFiles[] = [];
  #waiting: (() => unknown)[] = [];
  #timer: NodeJS.Timeout | undefined;
  #tidyTimer: NodeJS.Timeout | undefined;
  #saving: Promise<void> | undefined;
  #indexing: Promise<unknown> | undefined;
  #freeBytes = Number.POSITIVE_INFINITY;
  #failure: string | undefined;
  #id = randomUUID().slice(0, 8);

  constructor(options: RecordLogsOptions) {
    this.#options = options;
    this.#pool = new BufferPool(options.memoryBytes);
    this.bodies = new ByteLog(this.#pool, this.#filesOf(BODIES));
  }

  /** A list of records; create all of them before `open`. @param format of its files */
  ring<T>(
    name: string,
    decode: RecordLogOptions<T>['decode'],
    { format = 1, ...figures }: { format?: number } & Pick<RecordLogOptions<T>, 'figuresOf'> = {},
  ): RecordLog<T> {
    const files = this.#filesOf(name, format);
    const { maxItems } = this.#options;
    const ring = new RecordLog<T>({
      pool: this.#pool,
      files,
      maxItems,
      decode,
      flush: () => this.#flush(),
      ...figures,
    });
    this.#rings.push(ring);
    return ring;
  }

  async open(): Promise<void> {
    for (const files of this.#files) await files.open().catch((error) => this.#failed(error));
    this.bodies.open(Math.max(0, ...this.#rings.map((ring) => ring.open())));
    if (this.#files.length === 0) return;
    const hasOlder = this.#files.some((files) => files.hasOlder);
    if (hasOlder)
      this.#options.onWarning(
        'Invocations and requests that an earlier version recorded were set aside as `records/*.aside`, because this version stores ' +
          'them in another form.',
      );
    this.#id = await this.#keptId(hasOlder);
    const tidy = () => void this.#tidy().catch((error) => this.#failed(error));
    this.#tidyTimer = setInterval(tidy, TIDY_EVERY_MS).unref();
    if (this.#failure !== undefined) this.#saveIn(RETRY_MS);
  }

  /** Indexes the records of earlier runs, which later queries would do otherwise, and moves damaged ones aside. */
  async index(): Promise<void> {
    // After a failure, records are still written.
    this.#indexing ??= Promise.all(this.#rings.map((ring) => ring.index())).catch((error) => this.#failed(error));
    await this.#tidy().catch((error) => this.#failed(error));
  }

  /** Identifies these records: sequence numbers of others have another meaning. */
  get id(): string {
    return this.#id;
  }

  async #keptId(isNew: boolean): Promise<string> {
    const { files } = this.#options;
    const setAside = () => files?.rename(ID_FILE, setAsideName(ID_FILE)).catch((error) => this.#failed(error));
    const storedId = (await this.#readId().catch(setAside))?.toString().trim();
    if (!isNew && storedId !== undefined && /^[0-9a-f]{8}$/.test(storedId)) return storedId;
    await files?.replace(ID_FILE, [Buffer.from(`${this.#id}\n`)]).catch((error) => this.#failed(error));
    return this.#id;
  }

  async #readId(): Promise<Buffer | undefined> {
    const reader = await this.#options.files?.openRead(ID_FILE);
    return reader?.read(0, Math.min(reader.sizeBytes, MAX_ID_BYTES)).finally(() => reader.close());
  }

  /** Returns why nothing is written to files, as a sentence; undefined if writing works. */
  get failure(): string | undefined {
    return this.#failure;
  }

  get memoryBytes(): number {
    return this.#pool.sizeBytes;
  }

  get maxMemoryBytes(): number {
    return this.#pool.budgetBytes;
  }

  get fileBytes(): number {
    return this.#files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  }

  get maxFileBytes(): number {
    return this.#options.maxBytes;
  }

  /** Calls `write` with others, or before anything is read or saved. @param heldBytes memory in use until then */
  addLater(write: () => unknown, heldBytes: number): void {
    this.#waiting.push(write);
    if (this.#waiting.length >= WRITTEN_TOGETHER || heldBytes > MAX_WAITING_BYTES) this.#flush();
    this.changed();
  }

  #flush(): void {
    if (this.#waiting.length === 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const write of waiting) write();
    // Memory without space gives up its oldest bytes, also those that are not saved yet.
    const unsavedBytes = this.#pool.logs.reduce((sum, log) => sum + log.unsavedBytes, 0);
    const isUrgent = unsavedBytes > this.#pool.budgetBytes / 2;
    if (isUrgent && !this.#saving && this.#failure === undefined) void this.save();
  }

  changed(): void {
    if (this.#timer === undefined && this.#files.length > 0) this.#saveIn(SAVE_EVERY_MS);
  }

  #saveIn(ms: number): void {
    this.#timer = setTimeout(() => void this.save(), ms).unref();
  }

  async save(): Promise<void> {
    if (this.#saving) await this.#saving;
    clearTimeout(this.#timer);
    this.#saving ??= this.#save();
    await this.#saving;
  }

  async #save(): Promise<void> {
    try {
      this.#freeBytes = (await this.#options.files?.freeBytes()) ?? 0;
      if (this.#options.files && this.#freeBytes < LEFT_BYTES) throw new Error('the disk has too little free space');
      for (const files of this.#files) await files.openLate();
      this.#flush();
      // Bodies first, so that a saved record never refers to a missing body.
      for (const log of this.#pool.logs) await log.save();
      await this.#tidy();
      if (this.#failure !== undefined) this.#options.onWarning('Invocations and requests are recorded in files again.');
      this.#failure = undefined;
    } catch (error) {
      this.#failed(error);
    }
    this.#saving = undefined;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const isDone = this.#waiting.length === 0 && this.#pool.logs.every(({ unsavedBytes }) => unsavedBytes === 0);
    if (this.#failure !== undefined) this.#saveIn(RETRY_MS);
    else if (!isDone) this.#saveIn(SAVE_EVERY_MS);
  }

  #failed(error: unknown): void {
    const sentence = `Invocations and requests are recorded in memory only, because the files cannot be written (${reasonOf(error)}).`;
    if (this.#failure === undefined) {
      this.#options.onWarning(
        `${sentence} Requests continue; the platform tries again every ${RETRY_MS / 1000} seconds.`,
      );
    }
    this.#failure = sentence;
  }

  async #tidy(): Promise<void> {
    if (this.#indexing === undefined) return;
    await this.#indexing;
    const { nowMs, maxBytes, maxDays } = this.#options;
    const oldestMs = nowMs() - maxDays * DAY_MS;
    for (const [at, ring] of this.#rings.entries()) {
      ring.forgetOlderThan(oldestMs);
      const files = this.#files[at + 1];
      while (files?.segments[1] && files.segments[1].from <= ring.oldestPosition && (await files.removeOldest()));
    }
    const [bodies] = this.#files;
    while (bodies?.segments[1] && (bodies.segments[0]?.writtenAtMs ?? 0) < oldestMs && (await bodies.removeOldest()));
    // Never more than half of the limit.
    const mostBytes = Math.min(maxBytes, (this.#freeBytes + this.fileBytes) / 2);
    while (this.fileBytes > mostBytes) {
      const largestFirst = [...this.#files].sort((a, b) => b.sizeBytes - a.sizeBytes);
      let isLess = false;
      for (const files of largestFirst) if (!isLess) isLess = await files.removeOldest();
      if (!isLess) break;
    }
  }

  async stop(): Promise<void> {
    clearInterval(this.#tidyTimer);
    await this.save();
    await this.#indexing;
    clearTimeout(this.#timer);
    for (const files of this.#files) await files.close();
  }

  #filesOf(name: string, format = 1): LogFiles | undefined {
    const { files, nowMs, onWarning, maxBytes } = this.#options;
    if (!files) return undefined;
    const segmentBytes = Math.min(MAX_SEGMENT_BYTES, Math.max(SLAB_BYTES, maxBytes / SEGMENT_PART));
    const logFiles = new LogFiles({ files, name, format, segmentBytes, nowMs, onWarning });
    this.#files.push(logFiles);
    return logFiles;
  }
}
