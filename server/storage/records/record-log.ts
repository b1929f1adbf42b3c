import { setImmediate as nextTurn } from 'node:timers/promises';
import { type BufferPool, ByteLog, SLAB_BYTES } from './byte-log.ts';
import {
  type DamagedRange,
  FRAME_HEAD_BYTES,
  type LogFiles,
  type LogSegment,
  readFrame,
  scanFrames,
  writeFrame,
} from './log-files.ts';
import { type MarkedPlace, numberOf, type RecordFigures, type RecordFlags, RecordIndex } from './record-index.ts';

export type { MarkedPlace } from './record-index.ts';

/** Removed records are released after this number of new ones. */
const SOME = 500;
const NO_TAIL = new Uint8Array(0);

export interface RecordLogOptions<T> {
  pool: BufferPool;
  files?: LogFiles | undefined;
  maxItems: number;
  /** Adds the records that wait to be written, before anything is read. */
  flush?(): void;
  /** Parses a record, of whose checksum the file is known. The tail is valid only until the next turn. */
  decode(json: unknown, tail: Buffer): T;
  figuresOf?(item: T): RecordFigures;
}

export interface Placed<T> {
  seq: number;
  item: T;
}

export interface PageQuery<T> {
  limit: number;
  before?: number | undefined;
  after?: number | undefined;
  /** Items with an earlier mark are not read, epoch milliseconds. */
  fromMs?: number;
  /** Items that began later are not read, epoch milliseconds. */
  toMs?: number;
  /** Decides by the kind in the index. Other items are not read, and do not count as checked. */
  isWantedKind?(kind: number): boolean;
  isWanted(placed: Placed<T>): boolean;
  /** Maximum number of items to check; the page then ends early. */
  maxLooked: number;
}

/** The newest records of a kind in a log of bytes, up to a number. Adding has a constant cost and does not wait for the disk. */
export class RecordLog<T> {
  readonly log: ByteLog;
  readonly #options: RecordLogOptions<T>;
  readonly #columns = new RecordIndex();
  /** Most records have the same owner as the previous one. */
  #lastGroup = { text: '', number: 0 };
  #next = 1;
  #oldest = 1;
  readonly #unread: { segment: LogSegment; from: number }[] = [];
  readonly #damaged = new Map<LogSegment, DamagedRange[]>();

  constructor(options: RecordLogOptions<T>) {
    this.#options = options;
    this.log = new ByteLog(options.pool, options.files);
  }

  get size(): number {
    const { oldest } = this;
    return this.#next - oldest;
  }

  get maxItems(): number {
    return this.#options.maxItems;
  }

  get newest(): number {
    this.#options.flush?.();
    return this.#next - 1;
  }

  get oldest(): number {
    this.#options.flush?.();
    while (this.#unread.length > 0) this.#indexNext(false);
    const until = this.#next - this.#options.maxItems;
    if (this.#oldest < until) this.#oldest = until;
    const { oldest } = this.log;
    while (this.#oldest < this.#next) {
      const span = this.#columns.placeOf(this.#oldest);
      if (span && span[0] >= oldest) break;
      this.#oldest += 1;
    }
    return this.#oldest;
  }

  get oldestPosition(): number {
    return this.#columns.placeOf(this.oldest)?.[0] ?? this.log.end;
  }

  /** Adds a record. @param referred end of the last bytes in another log to which it refers; 0 for none */
  add(
    { atMs, key, group, mark, figures }: RecordFlags,
    json: string,
    tail: Uint8Array = NO_TAIL,
    referred = 0,
  ): number {
    const seq = this.#next++;
    if (group !== this.#lastGroup.text) this.#lastGroup = { text: group, number: numberOf(group) };
    const head = { seq, atMs, key: numberOf(key), group: this.#lastGroup.number, mark, referred };
    const frame = writeFrame(head, json, tail);
    this.log.keepTogether(frame.length);
    const start = this.log.append(frame);
    this.#columns.set(head, start, frame.length, figures);
    if (seq % SOME === 0) this.#columns.removeBefore(this.oldest);
    return seq;
  }

  /** Newest first. `next` is the `before` for the next page, if older items can follow. */
  page({ limit, before, after = 0, fromMs, toMs, isWantedKind, isWanted, maxLooked }: PageQuery<T>): {
    items: Placed<T>[];
    next: number | undefined;
  } {
    const items: Placed<T>[] = [];
    const last = Math.max(this.oldest, after + 1);
    let looked = 0;
    for (let seq = Math.min(before ?? this.#next, this.#next) - 1; seq >= last; seq--) {
      if (fromMs !== undefined && this.#columns.fact(seq, 'atMs') < fromMs) continue;
      if (toMs !== undefined && this.#columns.fact(seq, 'beganMs') > toMs) continue;
      if (isWantedKind?.(this.#columns.fact(seq, 'kind')) === false) continue;
      if (items.length === limit || looked++ === maxLooked) return { items, next: seq + 1 };
      const placed = this.#read(seq);
      if (placed && isWanted(placed)) items.push(placed);
    }
    return { items, next: undefined };
  }

  find(key: string): Placed<T> | undefined {
    const seq = this.placeOf(key);
    return seq === undefined ? undefined : this.#read(seq);
  }

  at(seq: number): Placed<T> | undefined {
    return seq < this.oldest || seq >= this.#next ? undefined : this.#read(seq);
  }

  markOf(key: string): number | undefined {
    const seq = this.placeOf(key);
    return seq === undefined ? undefined : this.#columns.fact(seq, 'mark');
  }

  placeOf(key: string): number | undefined {
    return this.#columns.find(numberOf(key), this.oldest);
  }

  groupOf(group: string): number {
    return numberOf(group);
  }

  groupAt(seq: number): number {
    return this.#columns.fact(seq, 'group');
  }

  /** The newest first, without reading them; each is valid until the next one. */
  marks(): Generator<Readonly<MarkedPlace>> {
    return this.#columns.entries(this.newest, this.oldest);
  }

  marksForward(): Generator<Readonly<MarkedPlace>> {
    return this.#columns.entries(this.oldest, this.newest);
  }

  markAt(seq: number): number {
    return this.#columns.fact(seq, 'mark');
  }

  #read(seq: number): Placed<T> | undefined {
    const span = this.#columns.placeOf(seq);
    const frame = span && this.log.read(...span);
    const read = frame && readFrame(frame);
    return read && { seq, item: this.#options.decode(read.json, read.tail) };
  }

  /** Continues after the files, with the last slab indexed and others later (`index`). Returns the end of the bytes it refers to. */
  open(): number {
    for (const segment of this.#options.files?.segments ?? []) {
      for (let from = 0; from < segment.sizeBytes; from += SLAB_BYTES) this.#unread.push({ segment, from });
    }
    let referred = this.#indexNext(true);
    while (this.#next === 1 && this.#unread.length > 0) referred = this.#indexNext(false);
    this.log.open(0);
    return referred;
  }

  /** Indexes the records of earlier runs, newest first, and yields in between. */
  async index(): Promise<void> {
    while (this.#unread.length > 0) {
      this.#indexNext(false);
      await nextTurn();
    }
    for (const [segment, damaged] of this.#damaged) await this.#options.files?.repair(segment, damaged);
    this.#damaged.clear();
  }

  /** Damage in one record does not affect others. */
  #indexNext(isLast: boolean): number {
    const slab = this.#unread.pop();
    const { files, decode, figuresOf } = this.#options;
    if (!files || !slab) return 0;
    const { segment, from } = slab;
    const bytes = files.read(segment.from + from, SLAB_BYTES) ?? Buffer.alloc(0);
    let [referred, oldest] = [0, Number.POSITIVE_INFINITY];
    const isFirst = this.#next === 1;
    const damaged = scanFrames(bytes, (head, at, length) => {
      const read = figuresOf && readFrame(bytes.subarray(at, at + length));
      const figures = read && figuresOf(decode(read.json, read.tail));
      this.#columns.set(head, segment.from + from + at, length, figures);
      this.#next = Math.max(this.#next, head.seq + 1);
      oldest = Math.min(oldest, head.seq);
      referred = Math.max(referred, head.referred);
    });
    if (oldest < Number.POSITIVE_INFINITY) this.#oldest = isFirst ? oldest : Math.min(this.#oldest, oldest);
    const last = damaged.at(-1);
    if (isLast && last?.until === bytes.length && isBegunFrame(bytes.subarray(last.from))) {
      files.markTorn(segment, from + last.from);
      damaged.pop();
    }
    if (damaged.length > 0) {
      const ranges = damaged.map((range) => ({ from: from + range.from, until: from + range.until }));
      this.#damaged.set(segment, [...ranges, ...(this.#damaged.get(segment) ?? [])]);
    }
    return referred;
  }

  forgetOlderThan(atMs: number): void {
    while (this.oldest < this.#next && this.#columns.fact(this.#oldest, 'atMs') < atMs) this.#oldest += 1;
  }
}

function isBegunFrame(rest: Buffer): boolean {
  return rest.length < FRAME_HEAD_BYTES || rest.readUInt32LE(0) > rest.length;
}
