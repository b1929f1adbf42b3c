import { randomUUID } from 'node:crypto';
import { PlatformError } from '../model/errors.ts';
import { bytesOfText } from '../model/held-bytes.ts';
import type { LogLine } from '../model/invocation.ts';

/** Memory that one log may take, whatever the number of its lines. */
const LIMIT_BYTES = 8 * 1024 * 1024;
/** What a line takes besides its text: the object, its time, its place. */
const LINE_BYTES = 104;
/** So many places of lines that are gone are not worth making the list anew. */
const FEW = 64;
const CURSOR = /^([0-9a-f]{8})-(\d{1,15})$/;

/**
 * The newest lines of one source (D-185). Adding costs the same however long the log is. What it counts is what it holds, as
 * long as no text is a piece of a longer one (`OutputLines` sees to that), and what is gone is let go of at once. A cursor tells where a reader has
 * got to, so that the next reading goes on there; it holds for one ring only, since a new one begins with nothing.
 */
export class LogRing {
  readonly #limitLines: number;
  readonly #id = randomUUID().slice(0, 8);
  #lines: (LogLine | undefined)[] = [];
  /** Lines before this index are gone. */
  #start = 0;
  #sizeBytes = 0;
  /** Lines ever added. */
  #added = 0;

  constructor(limitLines: number) {
    this.#limitLines = limitLines;
  }

  /** About so much memory is held. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Adds the newest line; the oldest go when there are too many. */
  add(line: LogLine): void {
    this.#lines.push(line);
    this.#sizeBytes += sizeOf(line);
    this.#added += 1;
    if (this.#lines.length - this.#start > this.#limitLines) this.#drop();
    this.cutTo(LIMIT_BYTES);
  }

  /** Lets the oldest lines go until no more memory is held than that, but never the newest line. */
  cutTo(maxBytes: number): void {
    while (this.#sizeBytes > maxBytes && this.#lines.length - this.#start > 1) this.#drop();
  }

  /** Puts older lines before those that it has, the newest of them as far as there is room. @param older oldest first */
  precede(older: readonly LogLine[]): void {
    const newer = this.lines();
    let from = older.length;
    let sizeBytes = this.#sizeBytes;
    while (from > 0 && older.length - from + newer.length < this.#limitLines) {
      const line = older[from - 1];
      if (!line || sizeBytes + sizeOf(line) > LIMIT_BYTES) break;
      sizeBytes += sizeOf(line);
      from -= 1;
    }
    this.#lines = [...older.slice(from), ...newer];
    this.#start = 0;
    this.#sizeBytes = sizeBytes;
  }

  /** Oldest first. */
  lines(): LogLine[] {
    // As: only before the start are there places without a line.
    return this.#lines.slice(this.#start) as LogLine[];
  }

  #drop(): void {
    const oldest = this.#lines[this.#start];
    if (oldest) this.#sizeBytes -= sizeOf(oldest);
    this.#lines[this.#start] = undefined;
    this.#start += 1;
    if (this.#start <= FEW || this.#start * 2 <= this.#lines.length) return;
    this.#lines = this.lines();
    this.#start = 0;
  }

  /** Where a reader stands who has read all there is. */
  get cursor(): string {
    return `${this.#id}-${this.#added}`;
  }

  /**
   * What has come since a cursor, oldest first.
   *
   * @returns hasGap: were there lines in between that are gone? Of another ring's cursor nobody knows, so there were.
   * @throws PlatformError 400 for what is no cursor
   */
  after(cursor: string): { lines: LogLine[]; hasGap: boolean } {
    const [, id, count] = CURSOR.exec(cursor) ?? [];
    if (id === undefined) throw new PlatformError(400, `after '${cursor.slice(0, 64)}' is no cursor of a log`);
    const unread = id === this.#id ? this.#added - Number(count) : Number.POSITIVE_INFINITY;
    const lines = this.lines();
    return { lines: lines.slice(Math.max(0, lines.length - unread)), hasGap: unread > lines.length };
  }
}

function sizeOf({ text }: LogLine): number {
  return LINE_BYTES + bytesOfText(text);
}
