import type { Adapter } from 'lowdb';
import type { Commit } from '../model/commit.ts';
import type { FsyncPolicy, StoreFiles } from './files.ts';
import { Journal, type Retention, snapshotMissing } from './journal.ts';
import { type LiveWorld, parseWorldFile, worldFileContent } from './world-file.ts';
import { applyChanges, tryOperations } from './world-patch.ts';

/** The snapshot. */
export const WORLD_FILE = 'world.json';

/** A snapshot is due when the journal is longer than the last snapshot, but not for less than this. */
const SNAPSHOT_MIN_BYTES = 4 * 1024 * 1024;

/**
 * How lowdb's `Low` keeps a world: `read` is the snapshot `world.json` plus the journal since, `write` makes a new
 * snapshot. What happens between the two goes into the journal alone, so a commit costs the same in any world.
 *
 * A crash at any instant is harmless: the new snapshot takes the old one's place in one step, its `seq` tells from
 * where the journal has to be replayed, and the journal is moved to `history/` only afterwards. What is deleted of it
 * later, because more is kept than wanted, the snapshot contains.
 */
export class WorldAdapter implements Adapter<LiveWorld | null> {
  readonly #files: StoreFiles;
  readonly #fsync: FsyncPolicy;
  readonly #retention: Retention;
  readonly #onWarning: (message: string) => void;
  #journal: Journal | undefined;
  #snapshotSeq = -1;
  /** How long the journal may grow until the next snapshot. */
  #journalLimitBytes = SNAPSHOT_MIN_BYTES;

  constructor(files: StoreFiles, fsync: FsyncPolicy, retention: Retention, onWarning: (message: string) => void) {
    this.#files = files;
    this.#fsync = fsync;
    this.#retention = retention;
    this.#onWarning = onWarning;
  }

  /** The world on disk, or null when there is none. Throws StoreError when it is damaged; nothing is changed then. */
  async read(): Promise<LiveWorld | null> {
    const content = await this.#files.read(WORLD_FILE);
    this.#files.guard(WORLD_FILE);
    if (!content) {
      if (await Journal.exists(this.#files)) throw snapshotMissing(this.#files, WORLD_FILE);
      await this.#openJournal(0, () => undefined);
      return null;
    }
    const world = await parseWorldFile(this.#files.pathOf(WORLD_FILE), content);
    this.#snapshotSeq = world.seq;
    this.#journalLimitBytes = Math.max(SNAPSHOT_MIN_BYTES, content.length);
    await this.#openJournal(world.seq, (commit) => {
      applyChanges(world.resources, tryOperations(world.resources, commit.ops).changes);
      world.seq = commit.seq;
    });
    return world;
  }

  /** Makes a snapshot of the world as it is at this moment, in the background of whatever goes on. */
  async write(world: LiveWorld | null): Promise<void> {
    if (!world) return;
    const { seq } = world;
    const records = [...world.resources.values()];
    // Holds if this fails: the next attempt has to wait, too.
    this.#journalLimitBytes = this.journal.file.sizeBytes + SNAPSHOT_MIN_BYTES;
    // Rejects when one of these commits was taken back meanwhile: then this is no state of the world.
    await this.journal.file.settled();
    this.journal.file.check();
    const sizeBytes = await this.#files.replace(WORLD_FILE, worldFileContent(world.id, seq, records));
    this.#snapshotSeq = seq;
    await this.journal.rotate();
    await this.journal.trim(this.#retention, seq);
    this.#journalLimitBytes = Math.max(SNAPSHOT_MIN_BYTES, sizeBytes);
  }

  get journal(): Journal {
    if (!this.#journal) throw new Error('the world has not been read yet');
    return this.#journal;
  }

  /** Has the journal outgrown the snapshot? */
  get isSnapshotDue(): boolean {
    return this.journal.file.sizeBytes > this.#journalLimitBytes;
  }

  /** Does the snapshot hold all that there is? */
  isSnapshotOf(world: LiveWorld): boolean {
    return this.#snapshotSeq === world.seq;
  }

  async #openJournal(afterSeq: number, apply: (commit: Commit) => void): Promise<void> {
    this.#journal = await Journal.open(this.#files, this.#fsync, afterSeq, apply, this.#onWarning);
  }
}
