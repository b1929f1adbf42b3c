import { randomUUID } from 'node:crypto';
import { PlatformError } from '../model/errors.ts';
import type { LogLine } from '../model/invocation.ts';

/** Text that one log may hold, whatever the number of its lines. */
const LIMIT_CHARACTERS = 8 * 1024 * 1024;
const CURSOR = /^([0-9a-f]{8})-(\d{1,15})$/;

/**
 * The newest lines of one source (D-185). Adding costs the same however long the log is. A cursor tells where a reader has
 * got to, so that the next reading goes on there; it holds for one ring only, since a new one begins with nothing.
 */
export class LogRing {
  readonly #limitLines: number;
  readonly #id = randomUUID().slice(0, 8);
  #lines: LogLine[] = [];
  /** Lines before this index are gone. */
  #start = 0;
  #characters = 0;
  /** Lines ever added. */
  #added = 0;

  constructor(limitLines: number) {
    this.#limitLines = limitLines;
  }

  /** Adds the newest line; the oldest go when there are too many. */
  add(line: LogLine): void {
    this.#lines.push(line);
    this.#characters += line.text.length;
    this.#added += 1;
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
