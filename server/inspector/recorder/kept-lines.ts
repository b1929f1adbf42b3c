import type { LogLine } from '../../model/invocation.ts';
import { wholeMsOf } from '../../model/iso-time.ts';
import type { Uuid } from '../../model/record.ts';
import type { RecordFigures } from '../../storage/records/record-index.ts';
import type { RecordLog } from '../../storage/records/record-log.ts';
import type { RecordLogs } from '../../storage/records/record-logs.ts';

/** The kind is 1 for standard error. */
function figuresOf({ atMs, stream }: LogLine): RecordFigures {
  return { beganMs: wholeMsOf(atMs), tookMs: Number.NaN, kind: stream === 'stderr' ? 1 : 0, cause: 0 };
}

/** The recorded log lines of lambdas, so that a log continues after a restart. */
export class KeptLines {
  /** The lines of all lambdas; the group of each is its lambda. */
  readonly ring: RecordLog<LogLine>;
  readonly #logs: RecordLogs;
  readonly #isOn: boolean;
  /** Place of the newest line of earlier runs; what came later is in memory. */
  #earlier: number | undefined;

  /** @param isOn otherwise nothing is kept from now on */
  constructor(logs: RecordLogs, isOn = true) {
    this.#logs = logs;
    this.#isOn = isOn;
    this.ring = logs.ring('lines', (json) => json as LogLine, { figuresOf }); // its checksum is valid: it is as it was added
  }

  add(lambdaId: Uuid, line: LogLine): void {
    if (!this.#isOn) return;
    this.#earlier ??= this.ring.newest;
    const write = () =>
      this.ring.add(
        { atMs: line.atMs, key: '', group: lambdaId, mark: 0, figures: figuresOf(line) },
        JSON.stringify(line),
      );
    this.#logs.addLater(write, line.text.length);
  }

  /** The newest lines of a lambda's log that earlier runs have left, oldest first. */
  earlier(lambdaId: Uuid, limit: number): LogLine[] {
    this.#earlier ??= this.ring.newest;
    const group = this.ring.groupOf(lambdaId);
    const lines: LogLine[] = [];
    for (const { seq, group: lineGroup } of this.ring.marks()) {
      if (lines.length === limit) break;
      if (lineGroup !== group || seq > this.#earlier) continue;
      const line = this.ring.at(seq)?.item;
      if (line) lines.push(line);
    }
    return lines.reverse();
  }
}
