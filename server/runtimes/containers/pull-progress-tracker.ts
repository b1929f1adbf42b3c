import type { Uuid } from '../../model/record.ts';
import type { PullProgress } from './engine.ts';

/** An engine tells of every few kilobytes of every layer; people see four steps a second. */
const TELL_EVERY_MS = 250;

export interface Pull extends PullProgress {
  recordId: Uuid;
  startedAtMs: number;
}

export class PullProgressTracker {
  readonly #pulls = new Map<Uuid, Pull & { reportedAtMs: number }>();
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
    const nowMs = this.#nowMs();
    const isDue = !previousPull || nowMs - previousPull.reportedAtMs >= TELL_EVERY_MS;
    this.#pulls.set(recordId, {
      ...progress,
      recordId,
      startedAtMs: previousPull?.startedAtMs ?? nowMs,
      reportedAtMs: isDue ? nowMs : previousPull.reportedAtMs,
    });
    if (isDue) this.#onStep(recordId, progress);
  }

  list(): Pull[] {
    return Array.from(this.#pulls.values(), ({ reportedAtMs: _, ...pull }) => pull);
  }
}
