import type { LogLine } from '../../../model/invocation.ts';
import { NewestLines } from '../../../model/newest-lines.ts';
import type { Uuid } from '../../../model/record.ts';
import type { LogOptions } from '../engine.ts';

/** Lines kept of all ended instances of a record. */
export const ENDED_LINES = 1_000;
const MAX_BYTES = 1024 * 1024;
/** Records of which lines are kept: the ones with the latest ends. */
const MAX_RECORDS = 50;

/** The ends of the logs of removed instances, which the engine removes with them: after an update they tell what the old ones did. */
export class EndedLogs {
  readonly #lines = new Map<Uuid, NewestLines>();

  keep(recordId: Uuid, lines: readonly LogLine[]): void {
    if (lines.length === 0) return;
    const newest = this.#lines.get(recordId) ?? new NewestLines(ENDED_LINES);
    for (const line of lines) newest.add(line);
    newest.cutTo(MAX_BYTES);
    this.#lines.delete(recordId);
    this.#lines.set(recordId, newest);
    const [oldest] = this.#lines.keys();
    if (this.#lines.size > MAX_RECORDS && oldest !== undefined) this.#lines.delete(oldest);
  }

  /** @param present the instances that the engine still has: their lines come from it */
  linesOf(recordId: Uuid, { sinceMs, stderr, instanceId }: LogOptions, present: readonly string[]): LogLine[] {
    return (this.#lines.get(recordId)?.lines() ?? []).filter(
      ({ atMs, stream, instance = '' }) =>
        atMs >= sinceMs &&
        (stderr || stream !== 'stderr') &&
        (instanceId === undefined || instance === instanceId) &&
        !present.includes(instance),
    );
  }
}
