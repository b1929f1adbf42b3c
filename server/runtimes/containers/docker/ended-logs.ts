import type { LogLine } from '../../../model/invocation.ts';
import type { Uuid } from '../../../model/record.ts';
import type { LogOptions } from '../engine.ts';

/** Lines kept of all ended instances of a record. */
export const ENDED_LINES = 1_000;
const MAX_CHARACTERS = 1024 * 1024;
/** Records of which lines are kept: the ones with the latest ends. */
const MAX_RECORDS = 50;

/** The ends of the logs of removed instances, which the engine removes with them: after an update they tell what the old ones did. */
export class EndedLogs {
  readonly #lines = new Map<Uuid, LogLine[]>();

  keep(recordId: Uuid, lines: readonly LogLine[]): void {
    if (lines.length === 0) return;
    const all = [...(this.#lines.get(recordId) ?? []), ...lines].slice(-ENDED_LINES);
    let characters = 0;
    const first = all.findLastIndex(({ text }) => {
      characters += text.length;
      return characters > MAX_CHARACTERS;
    });
    this.#lines.delete(recordId);
    this.#lines.set(recordId, all.slice(first + 1));
    const [oldest] = this.#lines.keys();
    if (this.#lines.size > MAX_RECORDS && oldest !== undefined) this.#lines.delete(oldest);
  }

  /** @param present the instances that the engine still has: their lines come from it */
  linesOf(recordId: Uuid, { sinceMs, stderr, instanceId }: LogOptions, present: readonly string[]): LogLine[] {
    return (this.#lines.get(recordId) ?? []).filter(
      ({ atMs, stream, instance = '' }) =>
        atMs >= sinceMs &&
        (stderr || stream !== 'stderr') &&
        (instanceId === undefined || instance === instanceId) &&
        !present.includes(instance),
    );
  }
}
