import type { Uuid } from '../model/ids.ts';
import type { LogLine } from '../model/invocation.ts';
import { LogRing } from './log-ring.ts';

/** Memory that the logs of all lambdas may take together. */
const BUDGET_BYTES = 64 * 1024 * 1024;
/** Down to which part of that they are cut at a time, so that it is not done for each line. */
const CUT_TO = 15 / 16;

/** Lines of earlier runs of the platform, and of this one for later ones. */
export interface KeptLines {
  add(lambdaId: Uuid, line: LogLine): void;
  /** The newest lines of a lambda's log that earlier runs have left, oldest first. */
  earlier(lambdaId: Uuid, limit: number): LogLine[];
}

/**
 * The logs of all lambdas, within one budget. When that is used up the longest ones are cut, all to the same length: a
 * lambda that writes little keeps what it wrote, however much the others write.
 */
export class LogRings {
  readonly #limitLines: number;
  readonly #budgetBytes: number;
  readonly #kept: KeptLines | undefined;
  readonly #rings = new Map<Uuid, LogRing>();
  /** Logs that have been given what earlier runs have left: when somebody reads them. */
  readonly #whole = new Set<Uuid>();
  #sizeBytes = 0;

  /** @param limitLines of each log */
  constructor(limitLines: number, budgetBytes = BUDGET_BYTES, kept?: KeptLines) {
    this.#limitLines = limitLines;
    this.#kept = kept;
    this.#budgetBytes = budgetBytes;
  }

  /** About so much memory is held. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** The log of a lambda; a new one when it has none. */
  of(lambdaId: Uuid): LogRing {
    const ring = this.#rings.get(lambdaId) ?? new LogRing(this.#limitLines);
    this.#rings.set(lambdaId, ring);
    return ring;
  }

  /** The log of a lambda with what earlier runs have left of it. */
  wholeOf(lambdaId: Uuid): LogRing {
    const ring = this.of(lambdaId);
    if (!this.#kept || this.#whole.has(lambdaId)) return ring;
    this.#whole.add(lambdaId);
    const beforeBytes = ring.sizeBytes;
    ring.precede(this.#kept.earlier(lambdaId, this.#limitLines));
    this.#grown(ring.sizeBytes - beforeBytes);
    return ring;
  }

  add(lambdaId: Uuid, line: LogLine): void {
    this.#kept?.add(lambdaId, line);
    const ring = this.of(lambdaId);
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
    this.#whole.delete(lambdaId);
  }

  forgetAll(): void {
    this.#rings.clear();
    this.#sizeBytes = 0;
  }

  /** Finds the length at which cutting all longer ones is enough, and cuts them. */
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
