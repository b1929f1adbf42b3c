import { randomUUID } from 'node:crypto';
import { PlatformError } from '../model/errors.ts';
import type { LogLine } from '../model/invocation.ts';
import { NewestLines } from '../model/newest-lines.ts';

const CURSOR = /^([0-9a-f]{8})-(\d{1,15})$/;

/**
 * The log of a lambda, whose texts are no pieces of longer ones (`OutputLines` sees to that). A cursor tells where a reader has got to, so
 * that the next reading goes on there; it holds for one ring only, since a new one begins with nothing.
 */
export class LogRing extends NewestLines {
  readonly #id = randomUUID().slice(0, 8);
  /** Lines ever added. */
  #added = 0;

  override add(line: LogLine): void {
    super.add(line);
    this.#added += 1;
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
