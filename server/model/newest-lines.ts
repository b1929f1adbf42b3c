import { bytesOfText } from './held-bytes.ts';
import type { LogLine } from './invocation.ts';

/** Memory that one list may take, whatever the number of its lines. */
const LIMIT_BYTES = 8 * 1024 * 1024;
/** What a line takes besides its text: the object, its time, its place. */
const LINE_BYTES = 104;
/** So many places of lines that are gone are not worth making the list anew. */
const FEW = 64;

/**
 * The newest lines of one source (D-185). Adding costs the same however many there are. What it counts is what it holds, as long as no
 * text is a piece of a longer one, and what is gone is let go of at once.
 */
export class NewestLines {
  readonly #limitLines: number;
  #lines: (LogLine | undefined)[] = [];
  /** Lines before this index are gone. */
  #start = 0;
  #sizeBytes = 0;
  #isCut = false;

  constructor(limitLines = Number.POSITIVE_INFINITY) {
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

  /** The same for an answer, which says that lines have gone. */
  told(): LogLine[] {
    const lines = this.lines();
    const [oldest] = lines;
    if (!oldest || !this.#isCut) return lines;
    const text = `[terrarium] lines before this one are left out: together they are more than ${LIMIT_BYTES / 1024 / 1024} MB`;
    return [{ ...oldest, stream: 'stderr', text }, ...lines];
  }

  #drop(): void {
    const oldest = this.#lines[this.#start];
    if (oldest) this.#sizeBytes -= sizeOf(oldest);
    this.#lines[this.#start] = undefined;
    this.#start += 1;
    this.#isCut = true;
    if (this.#start <= FEW || this.#start * 2 <= this.#lines.length) return;
    this.#lines = this.lines();
    this.#start = 0;
  }
}

function sizeOf({ text }: LogLine): number {
  return LINE_BYTES + bytesOfText(text);
}
