import { randomUUID } from 'node:crypto';
import { reasonOf } from '../../model/reason.ts';
import type { StoreFiles } from '../files.ts';

import { ByteLog } from './byte-log.ts';
import { LogFiles } from './log-files.ts';
import { RecordRing } from './record-ring.ts';
import { SLAB_BYTES, SlabPool } from './slab-pool.ts';

const BODIES = 'bodies';
const ID_FILE = 'records/id';
/** What was recorded is in files that long after, at the latest, while the disk is not slower than that. */
const SAVE_EVERY_MS = 250;
/** After a failure. */
const RETRY_MS = 5_000;
const TIDY_EVERY_MS = 60 * 60 * 1000;
const DAY_MS = 24 * 60 * 60 * 1000;
/** Of what all files may take, one may take that part: whole files are deleted. */
const SEGMENT_PART = 16;
const MAX_SEGMENT_BYTES = 16 * 1024 * 1024;

/** Room on the disk that is left to the world: with less, nothing is recorded there. */
const LEFT_BYTES = 4 * 1024 * 1024;

/** How much is kept of what was recorded. */
export interface RecordBounds {
  /** Of memory, over all. */
  memoryBytes: number;
  /** Of each list. */
  maxItems: number;
  /** Of files, over all. */
  maxBytes: number;
  maxDays: number;
}

export interface RecordLogsOptions extends RecordBounds {
  /** Without files it is kept in memory only. */
  files?: StoreFiles | undefined;
  nowMs(): number;
  onWarning(message: string): void;
}

/**
 * Everything that is recorded: rings of records, and the bodies that they refer to. Recording copies bytes into memory that is used
 * again and again; a moment later they are appended to files, which outlive this process however it ends. What keeps them from
 * being written is told once, and recording goes on in memory.
 */
export class RecordLogs {
  readonly bodies: ByteLog;
  readonly #options: RecordLogsOptions;
  readonly #pool: SlabPool;
  readonly #rings: RecordRing<unknown>[] = [];
  readonly #files: LogFiles[] = [];
  #timer: NodeJS.Timeout | undefined;
  #tidyTimer: NodeJS.Timeout | undefined;
  #saving: Promise<void> | undefined;
  #learning: Promise<void> = Promise.resolve();
  #freeBytes = Number.POSITIVE_INFINITY;
  #failure: string | undefined;
  #id = randomUUID().slice(0, 8);

  constructor(options: RecordLogsOptions) {
    this.#options = options;
    this.#pool = new SlabPool(options.memoryBytes);
    this.bodies = new ByteLog(this.#pool, this.#filesOf(BODIES));
  }

  /** A list of records; all have to be made before `open`. */
  ring<T>(name: string, decode: (json: unknown, tail: Buffer) => T): RecordRing<T> {
    const files = this.#filesOf(name);
    const ring = new RecordRing<T>({ pool: this.#pool, files, maxItems: this.#options.maxItems, decode });
    this.#rings.push(ring);
    return ring;
  }

  /** Goes on with what is in files. */
  async open(): Promise<void> {
    for (const files of this.#files) await files.open();
    this.bodies.open(Math.max(0, ...this.#rings.map((ring) => ring.open())));
    if (this.#files.length === 0) return;
    this.#id = await this.#keptId();
    const tidy = () => void this.#tidy().catch((error) => this.#failed(error));
    this.#tidyTimer = setInterval(tidy, TIDY_EVERY_MS).unref();
    this.#learning = Promise.all(this.#rings.map((ring) => ring.learn())).then(
      () => undefined,
      (error) => this.#failed(error),
    );
    this.#learning.then(tidy);
  }

  /** Resolves when all that earlier runs have left is known, and what is damaged of it set aside. */
  settled(): Promise<void> {
    return this.#learning;
  }

  /** Of these records: places in others mean something else. */
  get id(): string {
    return this.#id;
  }

  async #keptId(): Promise<string> {
    const { files } = this.#options;
    const kept = (await files?.read(ID_FILE))?.toString().trim();
    if (kept !== undefined && /^[0-9a-f]{8}$/.test(kept)) return kept;
    await files?.replace(ID_FILE, bytesOf(`${this.#id}\n`)).catch((error) => this.#failed(error));
    return this.#id;
  }

  /** Why nothing is written to files, a sentence; undefined while all is well. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** Memory that is held. */
  get memoryBytes(): number {
    return this.#pool.sizeBytes;
  }

  get maxMemoryBytes(): number {
    return this.#pool.budgetBytes;
  }

  /** That files take. */
  get fileBytes(): number {
    return this.#files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  }

  get maxFileBytes(): number {
    return this.#options.maxBytes;
  }

  /** Something was added, which is to be saved soon. */
  changed(): void {
    if (this.#timer === undefined && this.#files.length > 0) this.#saveIn(SAVE_EVERY_MS);
  }

  #saveIn(ms: number): void {
    this.#timer = setTimeout(() => void this.save(), ms).unref();
  }

  /** Resolves when what was added until now is in files, or could not be written. */
  async save(): Promise<void> {
    if (this.#saving) await this.#saving;
    clearTimeout(this.#timer);
    this.#saving ??= this.#save();
    await this.#saving;
  }

  async #save(): Promise<void> {
    try {
      this.#freeBytes = (await this.#options.files?.freeBytes()) ?? 0;
      if (this.#options.files && this.#freeBytes < LEFT_BYTES) throw new Error('the disk has no room left for them');
      // Bodies first: what a record refers to is there when the record is.
      for (const log of [this.bodies, ...this.#rings.map((ring) => ring.log)]) await log.save();
      await this.#tidy();
      if (this.#failure !== undefined) this.#options.onWarning('What runs is recorded in files again.');
      this.#failure = undefined;
    } catch (error) {
      this.#failed(error);
    }
    this.#saving = undefined;
    this.#timer = undefined;
    const isDone = [this.bodies, ...this.#rings.map((ring) => ring.log)].every(({ isSaved }) => isSaved);
    if (this.#failure !== undefined) this.#saveIn(RETRY_MS);
    else if (!isDone) this.#saveIn(SAVE_EVERY_MS);
  }

  #failed(error: unknown): void {
    const sentence = `What runs is recorded in memory only, since its files cannot be written (${reasonOf(error)}).`;
    if (this.#failure === undefined) {
      this.#options.onWarning(`${sentence} Requests go on; it is tried again every ${RETRY_MS / 1000} seconds.`);
    }
    this.#failure = sentence;
  }

  /** Deletes what is beyond the bounds, in whole files. */
  async #tidy(): Promise<void> {
    await this.#learning;
    const { nowMs, maxBytes, maxDays } = this.#options;
    const oldestMs = nowMs() - maxDays * DAY_MS;
    for (const [at, ring] of this.#rings.entries()) {
      ring.forgetOlderThan(oldestMs);
      const files = this.#files[at + 1];
      while (files?.segments[1] && files.segments[1].from <= ring.oldestPosition && (await files.removeOldest()));
    }
    const [bodies] = this.#files;
    while (bodies?.segments[1] && (bodies.segments[0]?.writtenAtMs ?? 0) < oldestMs && (await bodies.removeOldest()));
    // Never more than half of what there would be without them.
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
    clearTimeout(this.#timer);
    for (const files of this.#files) await files.close();
  }

  #filesOf(name: string): LogFiles | undefined {
    const { files, nowMs, onWarning, maxBytes } = this.#options;
    if (!files) return undefined;
    const segmentBytes = Math.min(MAX_SEGMENT_BYTES, Math.max(SLAB_BYTES, maxBytes / SEGMENT_PART));
    const made = new LogFiles({ files, name, segmentBytes, nowMs, onWarning });
    this.#files.push(made);
    return made;
  }
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
