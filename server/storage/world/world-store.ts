import jsonPatch from 'fast-json-patch';
import { type Adapter, Low } from 'lowdb';
import type { Cause, Change, Commit, CommitListener } from '../../model/commit.ts';
import { PlatformError, reasonOf } from '../../model/errors.ts';
import type { StoredResource, Uuid, World, WorldView } from '../../model/record.ts';
import { describeResource } from '../../model/resource-path.ts';
import {
  FolderLost,
  type FsyncPolicy,
  MemoryFiles,
  notWritten,
  type StorageBackend,
  StoreError,
  type StoreFiles,
} from '../files/files.ts';
import { FolderFiles } from '../files/folder-files.ts';
import { Journal, type JournalOptions, type Retention, snapshotMissing } from './journal.ts';
import { type LiveWorld, parseWorldFile, worldFileContent } from './world-file.ts';
import { WorldHistory } from './world-history.ts';
import { WorldIndex } from './world-index.ts';
import { applyChanges, changeBetween, tryOperations } from './world-patch.ts';

const { deepClone } = jsonPatch;

export interface StoreOptions {
  medium: StorageBackend;
  /** Makes the first world. What belongs to it in other files has to be saved when this resolves: the world is written last. */
  createWorld(files: StoreFiles): World | Promise<World>;
  nowMs(): number;
  fsync?: FsyncPolicy;
  retention?: Retention;
  /** Called for problems without data loss: an incomplete last line, a failed snapshot. */
  onWarning(message: string): void;
  /** Freeze all records, so that code that changes one in place fails immediately; for tests. Default false. */
  freeze?: boolean;
}

/** The content of a commit: records to create or replace, ids to remove (unknown ones are ignored). */
export interface CommitRequest {
  put?: readonly StoredResource[];
  remove?: readonly Uuid[];
}

const KEEP_ALL: Retention = { maxCommits: Number.POSITIVE_INFINITY, maxBytes: Number.POSITIVE_INFINITY };

/** The state of the last write to the disk; `message` says what failed and what to do (D-015). */
export type StoreHealth = { isHealthy: true } | { isHealthy: false; message: string };

/** Creates the first one, too. Throws StoreError if the data folder is damaged, in use, or unusable, and changes nothing then. */
export async function openStore(options: StoreOptions): Promise<WorldStore> {
  const { medium } = options;
  const files = medium.kind === 'memory' ? new MemoryFiles() : await FolderFiles.open(medium.dir);
  try {
    return await openStoreIn(files, options);
  } catch (error) {
    files.release();
    throw error;
  }
}

export async function openStoreIn(files: StoreFiles, options: Omit<StoreOptions, 'medium'>): Promise<WorldStore> {
  const adapter = new WorldAdapter(files, options);
  const low = new Low<LiveWorld | null>(adapter, null);
  await low.read();
  if (!low.data) {
    const { id, resources } = await options.createWorld(files);
    low.data = { id, seq: 0, resources: new Map(Object.entries(deepClone(resources))) };
    await low.write().catch((error: unknown) => {
      throw notWritten(files.pathOf(WORLD_FILE), error);
    });
  }
  if (options.freeze) deepFreeze([...low.data.resources.values()]);
  let index: WorldIndex;
  try {
    index = WorldIndex.indexOf(low.data.resources.values());
  } catch (error) {
    const advice = 'Was it made by a newer version? Nothing was changed.';
    throw new StoreError(files.pathOf(WORLD_FILE), `cannot be used as a world: ${reasonOf(error)}. ${advice}`);
  }
  return new WorldStore(low.data, index, () => low.write(), adapter, options, files);
}

export class WorldStore {
  readonly files: StoreFiles;
  readonly history: WorldHistory;
  readonly view: WorldView;
  readonly #world: LiveWorld;
  readonly #index: WorldIndex;
  readonly #adapter: WorldAdapter;
  readonly #options: Omit<StoreOptions, 'medium'>;
  readonly #writeSnapshot: () => Promise<void>;
  readonly #listeners = new Set<CommitListener>();
  #snapshot: Promise<void> | undefined;
  #isClosed = false;
  #closing: Promise<void> | undefined;

  constructor(
    world: LiveWorld,
    index: WorldIndex,
    writeSnapshot: () => Promise<void>,
    adapter: WorldAdapter,
    options: Omit<StoreOptions, 'medium'>,
    files: StoreFiles,
  ) {
    this.files = files;
    this.#world = world;
    this.#writeSnapshot = writeSnapshot;
    this.#adapter = adapter;
    this.#options = options;
    this.#index = index;
    this.view = index;
    this.history = new WorldHistory(world, adapter.journal);
  }

  /** The id of the world, the sequence number of its last commit, and all its resources. Read only. */
  get world(): Readonly<Pick<LiveWorld, 'id' | 'seq'>> & { readonly resources: ReadonlyMap<Uuid, StoredResource> } {
    return this.#world;
  }

  get seq(): number {
    return this.#world.seq;
  }

  /** In the view at once; resolves when durable, or to undefined if nothing changes. Else rejects with 503 and undoes it with later ones. */
  async commit(request: CommitRequest, cause: Cause): Promise<Commit | undefined> {
    if (this.#isClosed) throw new PlatformError('stopping', 'the platform is stopping, so the change was not made');
    const { changes, ops, inverse, resources } = this.#prepare(request);
    if (changes.length === 0) return undefined;
    if (this.#options.freeze) deepFreeze(changes);
    this.#apply(changes);
    this.#world.seq += 1;
    const commit: Commit = { seq: this.#world.seq, atMs: this.#options.nowMs(), cause, ops, inverse, resources };
    return new Promise((resolve, reject) => {
      this.#adapter.journal.append(commit, (failure) => {
        if (failure) {
          this.#apply(changes.toReversed().map(invert));
          this.#world.seq -= 1;
          reject(failure);
        } else {
          this.#notify(commit, changes);
          if (this.#adapter.isSnapshotDue) this.#startSnapshot();
          resolve(commit);
        }
      });
    });
  }

  /** The content of a commit that is valid in the present world. */
  #prepare({ put = [], remove = [] }: CommitRequest) {
    const next = new Map<Uuid, StoredResource | undefined>(put.map((record) => [record.id, record]));
    for (const id of remove) next.set(id, undefined);
    const present = this.#world.resources;
    const differences = [...next].flatMap(([id, record]) => changeBetween(id, present.get(id), record) ?? []);
    const changes = differences.map(({ change }) => change);
    const findNext = (id: Uuid) => (next.has(id) ? next : present).get(id);
    return {
      changes,
      ops: differences.flatMap(({ ops }) => ops),
      inverse: differences.toReversed().flatMap(({ inverse }) => inverse),
      // Those that exist afterwards, then those that are removed.
      resources: [
        ...changes.flatMap(({ after }) => (after ? describeResource(after, findNext) : [])),
        ...changes.flatMap(({ before, after }) =>
          before && !after ? describeResource(before, (id) => present.get(id)) : [],
        ),
      ],
    };
  }

  /** Calls the listener for each commit once it is durable, in order. Returns a function that unsubscribes. */
  onCommit(listener: CommitListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  health(): StoreHealth {
    const { failure } = this.#adapter.journal.file;
    return failure ? { isHealthy: false, message: failure.message } : { isHealthy: true };
  }

  /** Finds out whether the journal can be written to again if its last write failed. */
  retry(): void {
    this.#adapter.journal.file.retry();
  }

  /** From now on every commit is refused with 503; earlier ones are saved. */
  seal(): void {
    this.#isClosed = true;
  }

  /** Waits for pending writes, makes a snapshot, and releases the data folder. A lost folder is not changed. */
  close(): Promise<void> {
    this.seal();
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #apply(changes: readonly Change[]): void {
    this.#index.apply(changes);
    applyChanges(this.#world.resources, changes);
  }

  #notify(commit: Commit, changes: readonly Change[]): void {
    for (const listener of this.#listeners) {
      try {
        listener(commit, changes);
      } catch (error) {
        this.#options.onWarning(`A listener failed on commit ${commit.seq}: ${reasonOf(error)}`);
      }
    }
  }

  #startSnapshot(): void {
    this.#snapshot ??= this.#writeSnapshot()
      .catch((error: unknown) =>
        this.#options.onWarning(
          error instanceof FolderLost
            ? `The world file was not updated: ${error.message}.`
            : `The world file could not be updated (${reasonOf(error)}). No data is lost: the journal contains all changes.`,
        ),
      )
      .finally(() => {
        this.#snapshot = undefined;
      });
  }

  async #close(): Promise<void> {
    await this.#snapshot;
    await this.#adapter.journal.file.settled().catch(() => undefined);
    if (!this.#adapter.isSnapshotOf(this.#world)) this.#startSnapshot();
    await this.#snapshot;
    await this.#adapter.journal.file.close().finally(() => this.files.release());
  }
}

function invert({ before, after }: Change): Change {
  return { ...(after && { before: after }), ...(before && { after: before }) };
}

function deepFreeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const member of Object.values(value)) deepFreeze(member);
}

const WORLD_FILE = 'world.json';

/** A snapshot is due when the journal is longer than the last snapshot, but not below this size. */
const SNAPSHOT_MIN_BYTES = 4 * 1024 * 1024;

/**
 * Adapter for `Low` of lowdb: `read` loads the snapshot `world.json` and replays the journal, `write` makes a new snapshot. In between,
 * changes are only appended to the journal, so the cost of a commit does not depend on the size of the world.
 *
 * A crash at any time is harmless: the new snapshot replaces the old one atomically, its `seq` determines where the replay of the journal
 * starts, and the journal is moved to `history/` only afterwards. Commits that are later deleted from it are part of the snapshot.
 */
class WorldAdapter implements Adapter<LiveWorld | null> {
  readonly #files: StoreFiles;
  readonly #options: JournalOptions;
  #journal: Journal | undefined;
  #snapshotSeq = -1;
  #journalLimitBytes = SNAPSHOT_MIN_BYTES;

  constructor(files: StoreFiles, { fsync = 'batch', retention = KEEP_ALL, onWarning }: Omit<StoreOptions, 'medium'>) {
    this.#files = files;
    this.#options = { fsync, retention, onWarning };
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
    Journal.reportMissing(this.#files, world.seq, this.#options);
    this.#snapshotSeq = world.seq;
    this.#journalLimitBytes = Math.max(SNAPSHOT_MIN_BYTES, content.length);
    await this.#openJournal(world.seq, (commit) => {
      applyChanges(world.resources, tryOperations(world.resources, commit.ops));
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
    this.#journal = await Journal.open(this.#files, this.#options, afterSeq, apply);
  }
}
