import { bytesOfText } from './held-bytes.ts';
import type { LogLine } from './invocation.ts';

/** Memory limit of one list, whatever the number of lines. */
const LIMIT_BYTES = 8 * 1024 * 1024;
const LINE_BYTES = 104;
const FEW = 64;

/** The newest lines of one source (D-185). The counted memory is the real one if no text is a slice of a longer one. */
export class NewestLines {
  readonly #limitLines: number;
  #lines: (LogLine | undefined)[] = [];
  #start = 0;
  sizeBytes = 0;
  #isCut = false;

  constructor(limitLines = Number.POSITIVE_INFINITY) {
    this.#limitLines = limitLines;
  }

  add(line: LogLine): void {
    this.#lines.push(line);
    this.sizeBytes += sizeOf(line);
    if (this.#lines.length - this.#start > this.#limitLines) this.#drop();
    this.cutTo(LIMIT_BYTES);
  }

  /** Removes the oldest lines until the memory is within the limit, but never the newest line. */
  cutTo(maxBytes: number): void {
    while (this.sizeBytes > maxBytes && this.#lines.length - this.#start > 1) this.#drop();
  }

  /** Inserts older lines before the present ones, as many of the newest as fit. @param older oldest first */
  precede(older: readonly LogLine[]): void {
    const newer = this.lines();
    let from = older.length;
    let sizeBytes = this.sizeBytes;
    while (from > 0 && older.length - from + newer.length < this.#limitLines) {
      const line = older[from - 1];
      if (!line || sizeBytes + sizeOf(line) > LIMIT_BYTES) break;
      sizeBytes += sizeOf(line);
      from -= 1;
    }
    this.#lines = [...older.slice(from), ...newer];
    this.#start = 0;
    this.sizeBytes = sizeBytes;
  }

  lines(): LogLine[] {
    // Slots without a line exist only before the start.
    return this.#lines.slice(this.#start) as LogLine[];
  }

  /** For a response, with a note if lines were removed. */
  reportedLines(): LogLine[] {
    const lines = this.lines();
    const [oldest] = lines;
    if (!oldest || !this.#isCut) return lines;
    const text = `[terrarium] earlier lines are left out, because the log exceeds ${LIMIT_BYTES / 1024 / 1024} MB`;
    return [{ ...oldest, stream: 'stderr', text }, ...lines];
  }

  #drop(): void {
    const oldest = this.#lines[this.#start];
    if (oldest) this.sizeBytes -= sizeOf(oldest);
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
