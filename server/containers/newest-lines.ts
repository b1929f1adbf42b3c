import { bytesOfText } from '../model/held-bytes.ts';
import type { LogLine } from '../model/invocation.ts';

/** Memory that the lines of one answer may take. */
const LIMIT_BYTES = 8 * 1024 * 1024;
/** What a line takes besides its text. */
const LINE_BYTES = 104;

/** Gathers lines as they come and lets the oldest go when they are too much; whoever reads is told so. */
export class NewestLines {
  #lines: LogLine[] = [];
  #bytes = 0;
  /** Lines before this one are to go. */
  #start = 0;
  #isCut = false;

  add(line: LogLine): void {
    this.#lines.push(line);
    this.#bytes += LINE_BYTES + bytesOfText(line.text);
    while (this.#bytes > LIMIT_BYTES && this.#start < this.#lines.length - 1) {
      this.#bytes -= LINE_BYTES + bytesOfText(this.#lines[this.#start]?.text ?? '');
      this.#start += 1;
      this.#isCut = true;
    }
    if (this.#start * 2 > this.#lines.length) {
      this.#lines = this.#lines.slice(this.#start);
      this.#start = 0;
    }
  }

  /** In the order in which they came. */
  all(): LogLine[] {
    const lines = this.#lines.slice(this.#start);
    const [oldest] = lines;
    if (!oldest || !this.#isCut) return lines;
    const text = `[terrarium] lines before this one are left out: together they are more than ${LIMIT_BYTES / 1024 / 1024} MB`;
    return [{ ...oldest, stream: 'stderr', text }, ...lines];
  }
}
