import { setImmediate as nextTurn } from 'node:timers/promises';
import { ByteLog } from './byte-log.ts';
import { HEAD_BYTES, type LogFiles, type LogSegment } from './log-files.ts';
import { numberOf, RecordColumns, type RecordMarks } from './record-columns.ts';
import { FRAME_HEAD_BYTES, FrameWriter, readFrame, scanFrames } from './record-frame.ts';
import { SLAB_BYTES, type SlabPool } from './slab-pool.ts';

/** What is forgotten is let go of when so many more have come. */
const SOME = 500;
const NO_TAIL = new Uint8Array(0);

export interface RecordRingOptions<T> {
  pool: SlabPool;
  files?: LogFiles | undefined;
  /** Older ones are forgotten. */
  maxItems: number;
  /**
   * A record of what was added. Files are trusted once their checksum holds: this program wrote them.
   *
   * @param tail good only until the next turn
   */
  decode(json: unknown, tail: Buffer): T;
}

/** One item and its place: numbers grow, and mean the same after a restart. */
export interface Placed<T> {
  seq: number;
  item: T;
}

export interface PageQuery<T> {
  limit: number;
  /** Only those older than this place. */
  before?: number | undefined;
  /** Only those newer than this place. */
  after?: number | undefined;
  /** Those that are marked with an earlier moment are not read, epoch milliseconds. */
  fromMs?: number;
  isWanted(placed: Placed<T>): boolean;
  /** Looks at no more than so many; the page then ends early. */
  maxLooked: number;
}

/** What is known of each record without reading it; `group` and the key as numbers (`numberOf`). */
export interface MarkedPlace {
  seq: number;
  group: number;
  mark: number;
}

/** A place in a file: so many bytes after its beginning. */
interface SlabOfFile {
  segment: LogSegment;
  from: number;
}

/**
 * The newest records of something, up to a number, in a log of bytes: in memory the newest of them, in files all. Adding one costs
 * the same however many there are and waits for no disk.
 */
export class RecordRing<T> {
  readonly log: ByteLog;
  readonly #options: RecordRingOptions<T>;
  readonly #columns = new RecordColumns();
  readonly #writer = new FrameWriter();
  /** Most belong to what the one before belongs to. */
  #lastGroup = { text: '', number: 0 };
  #next = 1;
  #oldest = 1;
  /** Slabs of files of earlier runs that are not looked through yet, the newest last. */
  readonly #unread: SlabOfFile[] = [];
  /** Where something that was found there cannot be read; it goes on in the next slab. */
  readonly #damaged: SlabOfFile[] = [];

  constructor(options: RecordRingOptions<T>) {
    this.#options = options;
    this.log = new ByteLog(options.pool, options.files);
  }

  /** How many there are. */
  get size(): number {
    return this.#next - this.oldest;
  }

  get maxItems(): number {
    return this.#options.maxItems;
  }

  /** Place of the newest; 0 when there is none. */
  get newest(): number {
    return this.#next - 1;
  }

  /** Place of the oldest that is kept. */
  get oldest(): number {
    this.#learnAll();
    const until = this.#next - this.#options.maxItems;
    if (this.#oldest < until) this.#oldest = until;
    const { oldest } = this.log;
    while (this.#oldest < this.#next) {
      const place = this.#columns.placeOf(this.#oldest);
      if (place && place[0] >= oldest) break;
      this.#oldest += 1;
    }
    return this.#oldest;
  }

  /** Where the bytes of the oldest one begin. */
  get oldestPosition(): number {
    return this.#columns.placeOf(this.oldest)?.[0] ?? this.log.end;
  }

  /** Adds the newest. @param referred where the last bytes end that it refers to in another log; 0 for none */
  add({ atMs, key, group, mark }: RecordMarks, json: string, tail: Uint8Array = NO_TAIL, referred = 0): number {
    const seq = this.#next++;
    if (group !== this.#lastGroup.text) this.#lastGroup = { text: group, number: numberOf(group) };
    const head = { seq, atMs, key: numberOf(key), group: this.#lastGroup.number, mark, referred };
    const frame = this.#writer.write(head, json, tail);
    this.log.keepTogether(frame.length);
    const start = this.log.append(frame);
    this.#columns.set(seq, start, frame.length, atMs, head.key, head.group, mark);
    if (seq % SOME === 0) this.#columns.forgetBefore(this.oldest);
    return seq;
  }

  /** Newest first. `next` leads on, as `before`, when older ones may follow. */
  page({ limit, before, after = 0, fromMs, isWanted, maxLooked }: PageQuery<T>): {
    items: Placed<T>[];
    next: number | undefined;
  } {
    const items: Placed<T>[] = [];
    let looked = 0;
    for (let seq = Math.min(before ?? this.#next, this.#next) - 1; seq >= this.#oldestAfter(after); seq--) {
      if (fromMs !== undefined && this.#columns.atMsOf(seq) < fromMs) continue;
      if (items.length === limit || looked++ === maxLooked) return { items, next: seq + 1 };
      const placed = this.#read(seq);
      if (placed && isWanted(placed)) items.push(placed);
    }
    return { items, next: undefined };
  }

  #oldestAfter(after: number): number {
    return Math.max(this.oldest, after + 1);
  }

  /** The newest one of that key, while it is kept. */
  find(key: string): Placed<T> | undefined {
    const seq = this.#columns.find(numberOf(key), this.oldest);
    return seq === undefined ? undefined : this.#read(seq);
  }

  /** The one at a place, while it is kept. */
  at(seq: number): Placed<T> | undefined {
    return seq < this.oldest || seq >= this.#next ? undefined : this.#read(seq);
  }

  /** Mark of the newest one of a key, while it is kept. */
  markOf(key: string): number | undefined {
    const seq = this.#columns.find(numberOf(key), this.oldest);
    return seq === undefined ? undefined : this.#columns.markOf(seq);
  }

  /** Place of the newest one of a key, while it is kept. */
  placeOf(key: string): number | undefined {
    return this.#columns.find(numberOf(key), this.oldest);
  }

  /** What marks of this group have for it. */
  groupOf(group: string): number {
    return numberOf(group);
  }

  /** The group of the one at a place, as `groupOf` tells it. */
  groupAt(seq: number): number {
    return this.#columns.groupOf(seq);
  }

  /** The newest first, without reading them. */
  *marks(maxLooked: number): Generator<MarkedPlace> {
    const until = Math.max(this.oldest, this.#next - maxLooked);
    for (let seq = this.#next - 1; seq >= until; seq--) {
      if (!this.#columns.placeOf(seq)) continue;
      yield { seq, group: this.#columns.groupOf(seq), mark: this.#columns.markOf(seq) };
    }
  }

  #read(seq: number): Placed<T> | undefined {
    const place = this.#columns.placeOf(seq);
    const frame = place && this.log.read(...place);
    const read = frame && readFrame(frame);
    return read && { seq, item: this.#options.decode(read.json, read.tail) };
  }

  /**
   * Goes on after what is in files. Of these the last slab is looked through at once, the others when there is time (`learn`), or
   * when somebody asks for records.
   *
   * @returns where the last bytes end that a record of the last slab refers to
   */
  open(): number {
    for (const segment of this.#options.files?.segments ?? []) {
      for (let from = 0; from < segment.sizeBytes; from += SLAB_BYTES) this.#unread.push({ segment, from });
    }
    const referred = this.#learnOne(true);
    this.log.open(0);
    return referred;
  }

  /** Looks through what earlier runs have left, the newest first, and gives others their turn in between. */
  async learn(): Promise<void> {
    while (this.#unread.length > 0) {
      this.#learnOne(false);
      await nextTurn();
    }
    await this.#mend();
  }

  #learnAll(): void {
    while (this.#unread.length > 0) this.#learnOne(false);
  }

  /** What is damaged in a slab takes no other with it. */
  #learnOne(isLast: boolean): number {
    const slab = this.#unread.pop();
    const { files } = this.#options;
    if (!files || !slab) return 0;
    const { segment, from } = slab;
    const bytes = files.read(segment.from + from, SLAB_BYTES) ?? Buffer.alloc(0);
    let [referred, oldest] = [0, Number.POSITIVE_INFINITY];
    const whole = scanFrames(bytes, (head, at, length) => {
      const start = segment.from + from + at;
      this.#columns.set(head.seq, start, length, head.atMs, head.key, head.group, head.mark);
      this.#next = Math.max(this.#next, head.seq + 1);
      oldest = Math.min(oldest, head.seq);
      referred = Math.max(referred, head.referred);
    });
    if (oldest < Number.POSITIVE_INFINITY) this.#oldest = isLast ? oldest : Math.min(this.#oldest, oldest);
    if (whole === bytes.length) return referred;
    if (isLast && isBegunFrame(bytes.subarray(whole))) files.tearEnd(segment, from + whole);
    else this.#damaged.push({ segment, from: from + whole });
    return referred;
  }

  /** Sets aside the files that are damaged, and leaves zeros in place of what is. */
  async #mend(): Promise<void> {
    const { files } = this.#options;
    for (const segment of new Set(this.#damaged.map((one) => one.segment))) {
      const good = files?.read(segment.from, segment.sizeBytes);
      if (!files || !good) continue;
      const places = this.#damaged.filter((one) => one.segment === segment).map(({ from }) => from);
      for (const from of places) good.fill(0, from, (Math.floor(from / SLAB_BYTES) + 1) * SLAB_BYTES);
      await files.mend(segment, good, `is damaged at byte ${HEAD_BYTES + Math.min(...places)}`);
    }
    this.#damaged.length = 0;
  }

  /** Forgets what is older than that. */
  forgetOlderThan(atMs: number): void {
    while (this.oldest < this.#next && this.#columns.atMsOf(this.#oldest) < atMs) this.#oldest += 1;
  }
}

/** Is it a record whose rest a crash has kept from being written? */
function isBegunFrame(rest: Buffer): boolean {
  return rest.length < FRAME_HEAD_BYTES || rest.readUInt32LE(0) > rest.length;
}
