import type { Uuid } from '../model/ids.ts';
import type { PullProgress } from './engine.ts';

/** An engine tells of every few kilobytes of every layer; people see four steps a second. */
const TELL_EVERY_MS = 250;

/** An image that is being pulled for a container or job. */
export interface Pull extends PullProgress {
  recordId: Uuid;
  startedAtMs: number;
}

/** The pulls under way: told as they go on, and there for whoever comes to look in the middle of one. */
export class PullBoard {
  readonly #pulls = new Map<Uuid, Pull & { toldAtMs: number }>();
  readonly #nowMs: () => number;
  readonly #onStep: (recordId: Uuid, progress: PullProgress | undefined) => void;

  /** @param onStep told of steps, not of all of them, and of the end of each pull: then progress is undefined */
  constructor(nowMs: () => number, onStep: (recordId: Uuid, progress: PullProgress | undefined) => void) {
    this.#nowMs = nowMs;
    this.#onStep = onStep;
  }

  /** How far a record's pull has come; undefined: it is over. */
  note(recordId: Uuid, progress: PullProgress | undefined): void {
    const known = this.#pulls.get(recordId);
    if (!progress) {
      if (this.#pulls.delete(recordId)) this.#onStep(recordId, undefined);
      return;
    }
    const nowMs = this.#nowMs();
    const isDue = !known || nowMs - known.toldAtMs >= TELL_EVERY_MS;
    this.#pulls.set(recordId, {
      ...progress,
      recordId,
      startedAtMs: known?.startedAtMs ?? nowMs,
      toldAtMs: isDue ? nowMs : known.toldAtMs,
    });
    if (isDue) this.#onStep(recordId, progress);
  }

  /** The longest under way first. */
  list(): Pull[] {
    return Array.from(this.#pulls.values(), ({ toldAtMs: _, ...pull }) => pull);
  }
}
