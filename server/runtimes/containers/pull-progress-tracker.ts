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

  /** Returns true if people are to see this step: some of a pull, and its end, which has no progress. */
  note(recordId: Uuid, progress: PullProgress | undefined, atMs: number): boolean {
    const previousPull = this.#pulls.get(recordId);
    if (!progress) return this.#pulls.delete(recordId);
    const nowMs = monotonicMs();
    const isDue = !previousPull || nowMs - previousPull.reportedMs >= TELL_EVERY_MS;
    this.#pulls.set(recordId, {
      ...progress,
      recordId,
      startedAtMs: previousPull?.startedAtMs ?? atMs,
      reportedMs: isDue ? nowMs : previousPull.reportedMs,
    });
    return isDue;
  }

  list(): Pull[] {
    return Array.from(this.#pulls.values(), ({ reportedMs: _, ...pull }) => pull);
  }
}
