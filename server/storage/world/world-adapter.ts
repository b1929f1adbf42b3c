import type { Adapter } from 'lowdb';
import type { Commit } from '../../model/commit.ts';
import type { FsyncPolicy, StoreFiles } from '../files/files.ts';
import { Journal, type Retention, snapshotMissing } from './journal.ts';
import { type LiveWorld, parseWorldFile, worldFileContent } from './world-file.ts';
import { applyChanges, tryOperations } from './world-patch.ts';

export const WORLD_FILE = 'world.json';

/** A snapshot is due when the journal is longer than the last snapshot, but not below this size. */
const SNAPSHOT_MIN_BYTES = 4 * 1024 * 1024;

/**
 * Adapter for `Low` of lowdb: `read` loads the snapshot `world.json` and replays the journal, `write` makes a new snapshot. In between,
 * changes are only appended to the journal, so the cost of a commit does not depend on the size of the world.
 *
 * A crash at any time is harmless: the new snapshot replaces the old one atomically, its `seq` determines where the replay of the journal
 * starts, and the journal is moved to `history/` only afterwards. Commits that are later deleted from it are part of the snapshot.
 */
export class WorldAdapter implements Adapter<LiveWorld | null> {
  readonly #files: StoreFiles;
  readonly #fsync: FsyncPolicy;
  readonly #retention: Retention;
  readonly #onWarning: (message: string) => void;
  #journal: Journal | undefined;
  #snapshotSeq = -1;
  #journalLimitBytes = SNAPSHOT_MIN_BYTES;

  constructor(files: StoreFiles, fsync: FsyncPolicy, retention: Retention, onWarning: (message: string) => void) {
    this.#files = files;
    this.#fsync = fsync;
    this.#retention = retention;
    this.#onWarning = onWarning;
  }

  /** The world on disk, or null if there is none. Throws StoreError if it is damaged; nothing is changed then. */
  async read(): Promise<LiveWorld | null> {
    const content = await this.#files.read(WORLD_FILE);
    this.#files.guard(WORLD_FILE);
    if (!content) {
      if (await Journal.exists(this.#files)) throw snapshotMissing(this.#files, WORLD_FILE);
      await this.#openJournal(0, () => undefined);
      return null;
    }
    const world = parseWorldFile(this.#files.pathOf(WORLD_FILE), content);
    Journal.reportMissing(this.#files, world.seq, this.#onWarning);
    this.#snapshotSeq = world.seq;
    this.#journalLimitBytes = Math.max(SNAPSHOT_MIN_BYTES, content.length);
    await this.#openJournal(world.seq, (commit) => {
      applyChanges(world.resources, tryOperations(world.resources, commit.ops).changes);
      world.seq = commit.seq;
    });
    // The limits may be lower than before. What the disk refuses, the next snapshot tries again.
    await this.journal.trim(this.#snapshotSeq).catch(() => undefined);
    return world;
  }

  async write(world: LiveWorld | null): Promise<void> {
    if (!world) return;
    const { seq } = world;
    const records = [...world.resources.values()];
    // Also applies if this fails: the next attempt must wait, too.
    this.#journalLimitBytes = this.journal.file.sizeBytes + SNAPSHOT_MIN_BYTES;
    // Rejects if one of these commits was undone meanwhile, because the snapshot would not be a state of the world.
    await this.journal.file.settled();
    this.journal.file.check();
    const sizeBytes = await this.#files.replace(WORLD_FILE, worldFileContent(world.id, seq, records));
    this.#snapshotSeq = seq;
    await this.journal.rotate();
    await this.journal.trim(seq);
    this.#journalLimitBytes = Math.max(SNAPSHOT_MIN_BYTES, sizeBytes);
  }

  get journal(): Journal {
    if (!this.#journal) throw new Error('the world has not been read yet');
    return this.#journal;
  }

  get isSnapshotDue(): boolean {
    return this.journal.file.sizeBytes > this.#journalLimitBytes;
  }

  isSnapshotOf(world: LiveWorld): boolean {
    return this.#snapshotSeq === world.seq;
  }

  async #openJournal(afterSeq: number, apply: (commit: Commit) => void): Promise<void> {
    const options = { fsync: this.#fsync, retention: this.#retention };
    this.#journal = await Journal.open(this.#files, options, afterSeq, apply, this.#onWarning);
  }
}
