import type { Uuid } from '../../model/record.ts';
import { monotonicMs } from '../../system/clock.ts';
import type { PullProgress } from './engine.ts';

/** An engine tells of every few kilobytes of every layer; people see four steps a second. */
const TELL_EVERY_MS = 250;

export interface Pull extends PullProgress {
  recordId: Uuid;
  startedAtMs: number;
}

export class PullProgressTracker {
  readonly #pulls = new Map<Uuid, Pull & { reportedMs: number }>();
  readonly #nowMs: () => number;
  readonly #onStep: (recordId: Uuid, progress: PullProgress | undefined) => void;

  /** @param onStep called for some steps, and for the end of each pull with undefined progress */
  constructor(nowMs: () => number, onStep: (recordId: Uuid, progress: PullProgress | undefined) => void) {
    this.#nowMs = nowMs;
    this.#onStep = onStep;
  }

  note(recordId: Uuid, progress: PullProgress | undefined): void {
    const previousPull = this.#pulls.get(recordId);
    if (!progress) {
      if (this.#pulls.delete(recordId)) this.#onStep(recordId, undefined);
      return;
    }
    const nowMs = monotonicMs();
    const isDue = !previousPull || nowMs - previousPull.reportedMs >= TELL_EVERY_MS;
    this.#pulls.set(recordId, {
      ...progress,
      recordId,
      startedAtMs: previousPull?.startedAtMs ?? this.#nowMs(),
      reportedMs: isDue ? nowMs : previousPull.reportedMs,
    });
    if (isDue) this.#onStep(recordId, progress);
  }

  list(): Pull[] {
    return Array.from(this.#pulls.values(), ({ reportedMs: _, ...pull }) => pull);
  }
}
