import { PlatformError, reasonOf } from '../../model/errors.ts';
import type { Uuid } from '../../model/record.ts';
import { notSaved } from '../files/append-file.ts';
import { StoreError, type StoreFiles } from '../files/files.ts';
import { unreadable } from '../files/read-file.ts';
import { parseWorldFile, worldFileContent } from './world-file.ts';
import type { PastWorld } from './world-history.ts';

const FOLDER = 'snapshots';
/** Each has the size of the world, and only users delete them. */
export const MAX_SNAPSHOTS = 100;
const ENDING = '.json';
/** Safe as a file name on all systems, also where case is ignored. */
const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;
/** The beginning of the file, which contains the commit number of the snapshot. */
const HEADER_BYTES = 512;
const SEQ = /"seq": (\d+)/;

export interface SnapshotInfo {
  name: string;
  seq: number;
  atMs: number;
  sizeBytes: number;
}

/** Named snapshots, each in a file `snapshots/<name>.json` with the format of `world.json`. */
export class NamedSnapshots {
  readonly #files: StoreFiles;
  readonly #writing = new Set<string>();

  constructor(files: StoreFiles) {
    this.#files = files;
  }

  /**
   * Saves a world.
   *
   * @throws PlatformError 400 for an invalid name, 409 for an existing one or too many snapshots, 503 if it cannot be saved
   */
  async save(name: string, worldId: Uuid, { seq, resources }: PastWorld): Promise<SnapshotInfo> {
    const file = fileOf(name);
    if (this.#writing.has(name)) throw nameTaken(name);
    this.#writing.add(name);
    try {
      if (await this.#find(name)) throw nameTaken(name);
      const existing = await this.list();
      if (existing.length >= MAX_SNAPSHOTS) throw tooMany(existing[0]?.name ?? '');
      await this.#files.replace(file, worldFileContent(worldId, seq, resources.values())).catch((error: unknown) => {
        throw notSaved('The snapshot', this.#files.pathOf(file), error);
      });
      return await this.get(name);
    } finally {
      this.#writing.delete(name);
    }
  }

  async list(): Promise<SnapshotInfo[]> {
    const files = (await this.#readable(FOLDER, this.#files.list(FOLDER))).filter((file) => file.endsWith(ENDING));
    const names = files.map((file) => file.slice(0, -ENDING.length)).filter((name) => NAME.test(name));
    const found = await Promise.all(names.map((name) => this.#find(name)));
    return found.flatMap((info) => info ?? []).sort((a, b) => a.atMs - b.atMs || a.seq - b.seq);
  }

  async get(name: string): Promise<SnapshotInfo> {
    const info = await this.#find(name);
    if (info) return info;
    throw unknown(name);
  }

  /** The world of a snapshot. Throws 400, 404, and 503 if its file is damaged. */
  async read(name: string): Promise<PastWorld> {
    const file = fileOf(name);
    const content = await this.#readable(file, this.#files.read(file));
    if (!content) throw unknown(name);
    const path = this.#files.pathOf(file);
    try {
      return parseWorldFile(path, content);
    } catch (error) {
      const reason = reasonOf(error instanceof StoreError ? error.cause : error);
      const message = `snapshot '${name}' cannot be used: ${path} is damaged (${reason}). Restore it from a copy or delete it.`;
      throw new PlatformError('storage_failed', message, { cause: error });
    }
  }

  async remove(name: string): Promise<void> {
    await this.get(name);
    await this.#files.remove(fileOf(name));
  }

  async #find(name: string): Promise<SnapshotInfo | undefined> {
    const file = fileOf(name);
    const handle = await this.#readable(file, this.#files.openRead(file));
    if (!handle) return undefined;
    try {
      const header = (await handle.read(0, Math.min(HEADER_BYTES, handle.sizeBytes))).toString('utf8');
      const { sizeBytes, modifiedAtMs } = handle;
      return { name, seq: Number(SEQ.exec(header)?.[1] ?? 0), atMs: Math.floor(modifiedAtMs), sizeBytes };
    } finally {
      await handle.close();
    }
  }

  async #readable<T>(name: string, reading: Promise<T>): Promise<T> {
    return reading.catch((error: unknown) => {
      if (error instanceof PlatformError) throw error;
      const { message } = error instanceof StoreError ? error : unreadable(this.#files.pathOf(name), error);
      throw new PlatformError('storage_failed', message, { cause: error });
    });
  }
}

function fileOf(name: string): string {
  if (NAME.test(name)) return `${FOLDER}/${name}${ENDING}`;
  const rule =
    'must begin with a lower-case letter or digit, followed by up to 63 of those, dots, hyphens and underscores';
  throw new PlatformError(
    'invalid_parameter',
    `'${name.slice(0, 80)}' is not a valid name of a snapshot, which ${rule}`,
  );
}

function unknown(name: string): PlatformError {
  return new PlatformError('not_found', `snapshot '${name}' not found`);
}

function nameTaken(name: string): PlatformError {
  return new PlatformError('name_taken', `snapshot '${name}' already exists. Choose another name, or delete it first.`);
}

function tooMany(oldestName: string): PlatformError {
  const advice = `Delete one that you do not need; the oldest is '${oldestName}'.`;
  return new PlatformError('limit_reached', `there are ${MAX_SNAPSHOTS} snapshots, which is the maximum. ${advice}`);
}
