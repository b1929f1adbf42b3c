import jsonPatch, { type Operation } from 'fast-json-patch';
import { Low } from 'lowdb';
import type { Cause, Change, Commit, CommitListener, CommitResource } from '../model/commit.ts';
import { PlatformError } from '../model/errors.ts';
import type { Uuid } from '../model/ids.ts';
import { reasonOf } from '../model/reason.ts';
import type { StoredResource, World } from '../model/record.ts';
import { pathOf } from '../model/resource-path.ts';
import type { WorldView } from '../model/world-view.ts';
import type { FsyncPolicy, Medium, StoreFiles } from './files.ts';
import { FolderFiles } from './folder-files.ts';
import type { Retention } from './journal.ts';
import { MemoryFiles } from './memory-files.ts';
import { FolderLost, StoreError } from './store-error.ts';
import { WORLD_FILE, WorldAdapter } from './world-adapter.ts';
import type { LiveWorld } from './world-file.ts';
import { WorldHistory } from './world-history.ts';
import { WorldIndex } from './world-index.ts';
import { applyChanges, changeBetween } from './world-patch.ts';

const { deepClone } = jsonPatch;

export interface StoreOptions {
  medium: Medium;
  /** Makes the first world; called when there is none yet. */
  createWorld(): World | Promise<World>;
  /** Epoch milliseconds. */
  nowMs(): number;
  /** Default `batch`. */
  fsync?: FsyncPolicy;
  /** How much of the history to keep; all of it unless given. */
  retention?: Retention;
  /** Told what went wrong without loss: a torn last line, a snapshot that could not be made. */
  onWarning(message: string): void;
  /** Freeze every record, so that code which changes one in place fails at once; for tests. Default false. */
  freeze?: boolean;
}

/** What a commit is to do: records to create or replace, ids to remove (unknown ones are left out). */
export interface CommitRequest {
  put?: readonly StoredResource[];
  remove?: readonly Uuid[];
}

const KEEP_ALL: Retention = { maxCommits: Number.POSITIVE_INFINITY, maxBytes: Number.POSITIVE_INFINITY };

/** Whether the last write reached the disk; `message` says what failed and what to do (D-015). */
export type StoreHealth = { isHealthy: true } | { isHealthy: false; message: string };

/**
 * Opens a world, or makes the first one.
 *
 * @throws StoreError when the data folder is damaged, in use, or not to be used; nothing in it was changed then
 */
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

/** `openStore` on files of any kind. */
export async function openStoreIn(files: StoreFiles, options: Omit<StoreOptions, 'medium'>): Promise<WorldStore> {
  const adapter = new WorldAdapter(files, options.fsync ?? 'batch', options.retention ?? KEEP_ALL, options.onWarning);
  const low = new Low<LiveWorld | null>(adapter, null);
  await low.read();
  if (!low.data) {
    const { id, resources } = await options.createWorld();
    low.data = { id, seq: 0, resources: new Map(Object.entries(deepClone(resources))) };
    await low.write().catch((error: unknown) => {
      const advice = 'Make room for it, and its folder writable for you, or choose another data folder.';
      throw new StoreError(files.pathOf(WORLD_FILE), `cannot be written (${reasonOf(error)}). ${advice}`);
    });
  }
  const index = new WorldIndex();
  if (options.freeze) deepFreeze([...low.data.resources.values()]);
  try {
    index.begin(low.data.resources.values());
  } catch (error) {
    const advice = 'Was it made by a newer version? Nothing was changed.';
    throw new StoreError(files.pathOf(WORLD_FILE), `cannot be used as a world: ${reasonOf(error)}. ${advice}`);
  }
  return new WorldStore(low.data, index, () => low.write(), adapter, options, files);
}

/** The world, its readers' view of it, and the one way to change it. */
export class WorldStore {
  /** Where it is kept, also for what is kept beside it. */
  readonly files: StoreFiles;
  /** The commits that led here, and the world as it was. */
  readonly history: WorldHistory;
  readonly view: WorldView;
  readonly #world: LiveWorld;
  readonly #index: WorldIndex;
  readonly #adapter: WorldAdapter;
  readonly #options: Omit<StoreOptions, 'medium'>;
  readonly #writeSnapshot: () => Promise<void>;
  readonly #listeners = new Set<CommitListener>();
  #snapshot: Promise<void> | undefined;
  #isSealed = false;
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

  /** The world's id, the sequence number of its last commit, and all its resources. Read only. */
  get world(): Readonly<Pick<LiveWorld, 'id' | 'seq'>> & { readonly resources: ReadonlyMap<Uuid, StoredResource> } {
    return this.#world;
  }

  /** Sequence number of the last commit in the view; 0 in a world as created. */
  get seq(): number {
    return this.#world.seq;
  }

  /**
   * Makes one commit of all that is asked. It is in the view before the promise is returned, which resolves once it is
   * durable; to undefined when nothing changes. Rejects with PlatformError 503 when it could not be saved, and then it
   * is out of the view again, with every later commit that was not durable yet.
   */
  async commit(request: CommitRequest, cause: Cause): Promise<Commit | undefined> {
    if (this.#isSealed) throw new PlatformError(503, 'The emulator is stopping; the change was not made.');
    const wanted = new Map<Uuid, StoredResource | undefined>();
    for (const record of request.put ?? []) wanted.set(record.id, record);
    for (const id of request.remove ?? []) wanted.set(id, undefined);
    const changes: Change[] = [];
    const ops: Operation[] = [];
    const inverse: Operation[] = [];
    for (const [id, record] of wanted) {
      const made = changeBetween(id, this.#world.resources.get(id), record);
      if (!made) continue;
      changes.push(made.change);
      ops.push(...made.ops);
      inverse.unshift(...made.inverse);
    }
    return this.#commit(changes, ops, inverse, cause);
  }

  /**
   * Makes ready what a start need not know of a large world, while others have their turn. Until that is done, whoever asks the view
   * first for who names whom, or for a part of a long list, waits for it: in a world of 100,000 resources for a tenth of a second.
   */
  completeView(): Promise<void> {
    return this.#index.complete();
  }

  /** Told of each commit once it is durable, in order. Returns what ends it. */
  onCommit(listener: CommitListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  health(): StoreHealth {
    const { failure } = this.#adapter.journal.file;
    return failure ? { isHealthy: false, message: failure.message } : { isHealthy: true };
  }

  /** From now on every commit is refused with 503; those that were made are saved. */
  seal(): void {
    this.#isSealed = true;
  }

  /** Waits for what is under way, makes a snapshot, and gives the data folder free. One that is lost is left as it is. */
  close(): Promise<void> {
    this.seal();
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** @param ops nobody changes them afterwards, nor the changes */
  async #commit(
    changes: readonly Change[],
    ops: Operation[],
    inverse: Operation[],
    cause: Cause,
  ): Promise<Commit | undefined> {
    if (changes.length === 0) return undefined;
    if (this.#options.freeze) deepFreeze(changes);
    const removed = changes.flatMap(({ before, after }) => (before && !after ? this.#described(before) : []));
    this.#apply(changes);
    this.#world.seq += 1;
    const left = changes.flatMap(({ after }) => (after ? this.#described(after) : []));
    const resources = [...left, ...removed];
    const commit: Commit = { seq: this.#world.seq, atMs: this.#options.nowMs(), cause, ops, inverse, resources };
    return new Promise((resolve, reject) => {
      this.#adapter.journal.append(commit, (failure) => {
        if (failure) {
          this.#apply(changes.toReversed().map(turnedBack));
          this.#world.seq -= 1;
          reject(failure);
        } else {
          this.#tell(commit, changes);
          if (this.#adapter.isSnapshotDue) this.#startSnapshot();
          resolve(commit);
        }
      });
    });
  }

  #described(record: StoredResource): CommitResource {
    const path = pathOf(record, (id) => this.#world.resources.get(id));
    return { id: record.id, type: record.type, name: record.name, path };
  }

  #apply(changes: readonly Change[]): void {
    const prepared = this.#index.prepare(changes);
    applyChanges(this.#world.resources, changes);
    this.#index.apply(prepared);
  }

  #tell(commit: Commit, changes: readonly Change[]): void {
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
            ? `The world file was left as it is: ${error.message}.`
            : `The world file could not be brought up to date (${reasonOf(error)}). ` +
                'Nothing is lost: the journal has every change; it is tried again later.',
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

function turnedBack({ before, after }: Change): Change {
  return { ...(after && { before: after }), ...(before && { after: before }) };
}

function deepFreeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const member of Object.values(value)) deepFreeze(member);
}
