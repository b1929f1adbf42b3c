import type { Uuid } from '../model/ids.ts';
import type { LogLine } from '../model/invocation.ts';
import type { RecordLogs } from '../store/records/record-logs.ts';
import type { RecordRing } from '../store/records/record-ring.ts';

/** What lambdas have written, in the files of what was recorded: so that a log goes on after a restart. */
export class KeptLines {
  /** The lines of all lambdas; the group of each is its lambda. */
  readonly ring: RecordRing<LogLine>;
  readonly #logs: RecordLogs;
  readonly #isOn: boolean;
  /** Place of the newest line of earlier runs; what came later is in memory. */
  #earlier: number | undefined;

  /** @param isOn otherwise nothing is kept from now on */
  constructor(logs: RecordLogs, isOn = true) {
    this.#logs = logs;
    this.#isOn = isOn;
    this.ring = logs.ring('lines', (json) => json as LogLine); // its checksum holds: it is as it was added
  }

  add(lambdaId: Uuid, line: LogLine): void {
    if (!this.#isOn) return;
    this.#earlier ??= this.ring.newest;
    this.ring.add({ atMs: line.atMs, key: '', group: lambdaId, mark: 0 }, JSON.stringify(line));
    this.#logs.changed();
  }

  /** The newest lines of a lambda's log that earlier runs have left, oldest first. */
  earlier(lambdaId: Uuid, limit: number): LogLine[] {
    this.#earlier ??= this.ring.newest;
    const group = this.ring.groupOf(lambdaId);
    const lines: LogLine[] = [];
    for (const { seq, group: of } of this.ring.marks(Number.POSITIVE_INFINITY)) {
      if (lines.length === limit) break;
      if (of !== group || seq > this.#earlier) continue;
      const line = this.ring.at(seq)?.item;
      if (line) lines.push(line);
    }
    return lines.reverse();
  }
}
