import type { Commit } from '../../model/commit.ts';
import { PlatformError } from '../../model/errors.ts';
import type { ResourcesById } from '../../model/record.ts';
import type { Journal } from './journal.ts';
import type { LiveWorld } from './world-file.ts';
import { applyChanges, tryOperations } from './world-patch.ts';

/** A moment in the history of a world: right after a commit (0: as created), or a time in epoch milliseconds. */
export type Moment = { seq: number } | { atMs: number };

/** A past world. Records are never changed in place: unchanged ones are shared with the current world. */
export interface PastWorld {
  seq: number;
  resources: ResourcesById;
}

/** Past worlds, by undoing commits from the current one: the time depends on their number, and only the journal is needed on disk. */
export class WorldHistory {
  readonly #world: LiveWorld;
  readonly #journal: Journal;

  constructor(world: LiveWorld, journal: Journal) {
    this.#world = world;
    this.#journal = journal;
  }

  /** The kept durable commits before a sequence number (default: all), newest first. */
  commits(beforeSeq?: number): AsyncGenerator<Commit> {
    return this.#journal.backwards(beforeSeq);
  }

  /** The first and last moment for `worldAt`, as commits (0: the world as created). */
  async span(): Promise<{ oldest: number; newest: number }> {
    const { seq: newest } = this.#world;
    return { oldest: Math.max(0, Math.min(newest, (await this.#journal.oldestSeq()) - 1)), newest };
  }

  /** One commit. Throws PlatformError 404 if it does not exist yet or is no longer kept. */
  async get(seq: number): Promise<Commit> {
    for await (const commit of this.commits(seq + 1)) {
      if (commit.seq === seq) return commit;
      break;
    }
    throw await this.#unknown(`commit ${seq}`, { seq });
  }

  /** Throws 404 for the future or before the oldest kept commit; 503 if a file is damaged, or a commit was undone meanwhile. */
  async worldAt(moment: Moment): Promise<PastWorld> {
    let { seq } = this.#world;
    const resources = new Map(this.#world.resources);
    await this.#journal.file.settled();
    if ('seq' in moment && moment.seq === seq) return { seq, resources };
    if ('seq' in moment && moment.seq > seq) throw await this.#unknown(`commit ${moment.seq}`, moment);
    for await (const commit of this.commits(seq + 1)) {
      if ('seq' in moment ? commit.seq <= moment.seq : commit.atMs <= moment.atMs) return { seq, resources };
      applyChanges(resources, tryOperations(resources, commit.inverse));
      seq = commit.seq - 1;
    }
    // All kept commits are undone: earlier states are only known if every commit is kept.
    if ('seq' in moment ? moment.seq === seq : seq === 0) return { seq, resources };
    throw await this.#unknown('that moment', moment);
  }

  async #unknown(momentText: string, moment: Moment): Promise<PlatformError> {
    const newest = this.#world.seq;
    if ('seq' in moment && moment.seq > newest) {
      return new PlatformError('not_found', `${momentText} does not exist yet; the newest commit is ${newest}`);
    }
    const oldestSeq = await this.#journal.oldestSeq();
    let begin = `commit ${oldestSeq}`;
    for await (const { atMs } of this.commits(oldestSeq + 1)) begin += ` of ${new Date(atMs).toISOString()}`;
    return new PlatformError('not_found', `the history does not go back to ${momentText}; it starts at ${begin}`);
  }
}
