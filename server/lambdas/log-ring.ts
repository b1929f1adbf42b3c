import type { LogLine } from '../model/invocation.ts';

/** Text that one log may hold, whatever the number of its lines. */
const LIMIT_CHARACTERS = 8 * 1024 * 1024;

/** The newest lines of one source (D-185). Adding costs the same however long the log is. */
export class LogRing {
  readonly #limitLines: number;
  #lines: LogLine[] = [];
  /** Lines before this index are gone. */
  #start = 0;
  #characters = 0;

  constructor(limitLines: number) {
    this.#limitLines = limitLines;
  }

  /** Adds the newest line; the oldest go when there are too many. */
  add(line: LogLine): void {
    this.#lines.push(line);
    this.#characters += line.text.length;
    while (this.#lines.length - this.#start > this.#limitLines || this.#characters > LIMIT_CHARACTERS) {
      this.#characters -= this.#lines[this.#start]?.text.length ?? 0;
      this.#start += 1;
    }
    if (this.#start > this.#limitLines) {
      this.#lines = this.lines();
      this.#start = 0;
    }
  }

  /** Oldest first. */
  lines(): LogLine[] {
    return this.#lines.slice(this.#start);
  }
}
