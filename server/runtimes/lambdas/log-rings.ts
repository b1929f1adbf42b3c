import { randomUUID } from 'node:crypto';
import type { LogLine } from '../../model/invocation.ts';
import { invalidCursor } from '../../model/log-query.ts';
import { NewestLines } from '../../model/newest-lines.ts';
import type { Uuid } from '../../model/record.ts';

const CURSOR = /^([0-9a-f]{8})-(\d{1,15})$/;

/** A lambda's log, whose texts are no pieces of longer ones. A cursor tells where a reader has got to, in this ring only. */
export class LogRing extends NewestLines {
  /** True once the lines of earlier runs have been loaded, which happens on the first read. */
  isWhole = false;
  readonly #id = randomUUID().slice(0, 8);
  #added = 0;

  override add(line: LogLine): void {
    super.add(line);
    this.#added += 1;
  }

  get cursor(): string {
    return `${this.#id}-${this.#added}`;
  }

  /** Returns the lines after a cursor, oldest first, and whether some are missing or the cursor belongs to another ring. Throws 400. */
  after(cursor: string): { lines: LogLine[]; hasGap: boolean } {
    const [, id, count] = CURSOR.exec(cursor) ?? [];
    if (id === undefined) throw invalidCursor(cursor);
    const unread = id === this.#id ? this.#added - Number(count) : Number.POSITIVE_INFINITY;
    const lines = this.lines();
    return { lines: lines.slice(Math.max(0, lines.length - unread)), hasGap: unread > lines.length };
  }
}

const BUDGET_BYTES = 64 * 1024 * 1024;
/** Down to which part of that they are cut at a time, so that it is not done for each line. */
const CUT_TO = 15 / 16;

/** Lines of earlier runs of the platform, and of this one for later ones. */
export interface KeptLines {
  add(lambdaId: Uuid, line: LogLine): void;
  /** The newest lines of a lambda's log that earlier runs have left, oldest first. */
  earlier(lambdaId: Uuid, limit: number): LogLine[];
}

/** The logs of all lambdas within one budget. Over it the longest are cut: a lambda that writes little keeps what it wrote. */
export class LogRings {
  readonly #limitLines: number;
  readonly #budgetBytes: number;
  readonly #storedLines: KeptLines | undefined;
  readonly #rings = new Map<Uuid, LogRing>();
  #sizeBytes = 0;

  constructor(limitLines: number, budgetBytes = BUDGET_BYTES, storedLines?: KeptLines) {
    this.#limitLines = limitLines;
    this.#storedLines = storedLines;
    this.#budgetBytes = budgetBytes;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  ringOf(lambdaId: Uuid): LogRing {
    const ring = this.#rings.get(lambdaId) ?? new LogRing(this.#limitLines);
    this.#rings.set(lambdaId, ring);
    return ring;
  }

  wholeOf(lambdaId: Uuid): LogRing {
    const ring = this.ringOf(lambdaId);
    if (!this.#storedLines || ring.isWhole) return ring;
    ring.isWhole = true;
    const beforeBytes = ring.sizeBytes;
    ring.precede(this.#storedLines.earlier(lambdaId, this.#limitLines));
    this.#grown(ring.sizeBytes - beforeBytes);
    return ring;
  }

  add(lambdaId: Uuid, line: LogLine): void {
    this.#storedLines?.add(lambdaId, line);
    const ring = this.ringOf(lambdaId);
    const beforeBytes = ring.sizeBytes;
    ring.add(line);
    this.#grown(ring.sizeBytes - beforeBytes);
  }

  #grown(bytes: number): void {
    this.#sizeBytes += bytes;
    if (this.#sizeBytes > this.#budgetBytes) this.#cut();
  }

  forget(lambdaId: Uuid): void {
    this.#sizeBytes -= this.#rings.get(lambdaId)?.sizeBytes ?? 0;
    this.#rings.delete(lambdaId);
  }

  forgetAll(): void {
    this.#rings.clear();
    this.#sizeBytes = 0;
  }

  #cut(): void {
    const shortestFirst = [...this.#rings.values()].sort((a, b) => a.sizeBytes - b.sizeBytes);
    let leftBytes = this.#budgetBytes * CUT_TO;
    for (const [at, ring] of shortestFirst.entries()) {
      const shareBytes = leftBytes / (shortestFirst.length - at);
      ring.cutTo(shareBytes);
      leftBytes -= ring.sizeBytes;
    }
    this.#sizeBytes = shortestFirst.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  }
}
