import type { Commit } from '../model/commit.ts';
import { PlatformError } from '../model/errors.ts';
import type { Uuid } from '../model/ids.ts';
import type { StoredResource } from '../model/record.ts';
import type { Journal } from './journal.ts';
import { inTurns } from './turns.ts';
import type { LiveWorld } from './world-file.ts';
import { applyChanges, tryOperations } from './world-patch.ts';

/** A moment in the life of a world: right after a commit (0: as created), or a time in epoch milliseconds. */
export type Moment = { seq: number } | { atMs: number };

/** The world as it was. Records are never changed in place: those that are still the same are the present ones. */
export interface PastWorld {
  /** The last commit that it contains. */
  seq: number;
  resources: ReadonlyMap<Uuid, StoredResource>;
}

/**
 * The way back. A past world is made by undoing commits, the newest first, from the present one: that takes as long as
 * there are commits in between, and not as long as the world is big, and needs nothing on disk but the journal.
 */
export class WorldHistory {
  readonly #world: LiveWorld;
  readonly #journal: Journal;

  constructor(world: LiveWorld, journal: Journal) {
    this.#world = world;
    this.#journal = journal;
  }

  /** The durable commits before a sequence number (all unless given), newest first, as far back as they are kept. */
  commits(beforeSeq?: number): AsyncGenerator<Commit> {
    return this.#journal.backwards(beforeSeq);
  }

  /** The first and the last moment that `worldAt` knows, as commits (0: the world as created). */
  async span(): Promise<{ oldest: number; newest: number }> {
    const { seq: newest } = this.#world;
    return { oldest: Math.max(0, Math.min(newest, (await this.#journal.oldestSeq()) - 1)), newest };
  }

  /** One commit. Throws PlatformError 404 when it is not made yet, or no longer kept. */
  async get(seq: number): Promise<Commit> {
    for await (const commit of this.commits(seq + 1)) {
      if (commit.seq === seq) return commit;
      break;
    }
    throw await this.#unknown(`commit ${seq}`, { seq });
  }

  /**
   * The world as it was at a moment.
   *
   * @throws PlatformError 404 when it has not come yet, or is before the oldest one that is kept; 503 when a file of the
   *   history is damaged, or what was not durable yet had to be taken back meanwhile
   */
  async worldAt(moment: Moment): Promise<PastWorld> {
    let { seq } = this.#world;
    // At this moment all of it, which takes a millisecond; in its places while others have their turn.
    const records = [...this.#world.resources.values()];
    const resources = new Map<Uuid, StoredResource>();
    await Promise.all([this.#journal.file.settled(), inTurns(records, (record) => resources.set(record.id, record))]);
    if ('seq' in moment && moment.seq === seq) return { seq, resources };
    if ('seq' in moment && moment.seq > seq) throw await this.#unknown(`commit ${moment.seq}`, moment);
    for await (const commit of this.commits(seq + 1)) {
      if ('seq' in moment ? commit.seq <= moment.seq : commit.atMs <= moment.atMs) return { seq, resources };
      applyChanges(resources, tryOperations(resources, commit.inverse).changes);
      seq = commit.seq - 1;
    }
    // All that is kept is undone: what was before that is known only of a world whose every commit is kept.
    if ('seq' in moment ? moment.seq === seq : seq === 0) return { seq, resources };
    throw await this.#unknown('that moment', moment);
  }

  async #unknown(what: string, moment: Moment): Promise<PlatformError> {
    const newest = this.#world.seq;
    if ('seq' in moment && moment.seq > newest) {
      return new PlatformError(404, `${what} has not been made yet; the newest is ${newest}`);
    }
    const oldestSeq = await this.#journal.oldestSeq();
    let begin = `commit ${oldestSeq}`;
    for await (const { atMs } of this.commits(oldestSeq + 1)) begin += ` of ${new Date(atMs).toISOString()}`;
    return new PlatformError(404, `${what} is before what is kept of the history, which begins with ${begin}`);
  }
}
