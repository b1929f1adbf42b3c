import { type FSWatcher, lstatSync, readdirSync, type Stats, watch } from 'node:fs';
import { join, relative } from 'node:path';

/** Maximum number of folders, because each takes a handle of the system. */
const MAX_FOLDERS = 1_000;
/** An editor writes in several steps, and a tool writes many files. */
const SETTLE_MS = 50;
/** Files of editors, which are gone soon. */
const TEMPORARY_FILE = /^4913$|~$|^#|\.(?:swp|swx|tmp)$/;

/** Watches a folder and the folders in it, except for `node_modules` and hidden ones. */
export class WatchedFolder {
  readonly #folder: string;
  readonly #onSaved: (files: string[]) => void;
  readonly #watchers = new Map<string, { watcher: FSWatcher; identity: string | undefined }>();
  readonly #changedFiles = new Set<string>();
  /** Modification time and size of files when they were reported. */
  readonly #stamps = new Map<string, string>();
  #timer: NodeJS.Timeout | undefined;
  /** True if the folder has more folders than can be watched. */
  isCut = false;

  /** @param onSaved called with the paths, relative to the folder, of the files that changed within a short time */
  constructor(folder: string, onSaved: (files: string[]) => void) {
    this.#folder = folder;
    this.#onSaved = onSaved;
    this.#watch(folder, false);
  }

  stop(): void {
    clearTimeout(this.#timer);
    for (const folder of this.#watchers.keys()) this.#forget(folder);
  }

  /** Watches from the top downward. @param isNew true to report the files in it, which were written before it is watched */
  #watch(top: string, isNew: boolean): void {
    const waiting = [top];
    for (let folder = waiting.shift(); folder !== undefined; folder = waiting.shift()) {
      // A build removes a folder and makes another one of the same name.
      const identity = identityOf(folder);
      const watched = this.#watchers.get(folder);
      if (watched && watched.identity === identity) continue;
      this.#forget(folder);
      if (this.#watchers.size >= MAX_FOLDERS) {
        this.isCut = true;
        return;
      }
      waiting.push(...this.#watchOne(folder, identity, isNew));
    }
  }

  /** Watches one folder. Returns the folders in it. */
  #watchOne(folder: string, identity: string | undefined, isNew: boolean): string[] {
    try {
      const watcher = watch(folder, (_event, name) => name !== null && this.#sawChange(join(folder, name), name));
      this.#watchers.set(folder, { watcher, identity });
      watcher.on('error', () => this.#watchers.get(folder)?.watcher === watcher && this.#forget(folder));
      const entries = readdirSync(folder, { withFileTypes: true });
      if (isNew) for (const entry of entries) if (entry.isFile()) this.#sawChange(join(folder, entry.name), entry.name);
      return entries.flatMap((entry) =>
        entry.isDirectory() && !isSkipped(entry.name) ? [join(folder, entry.name)] : [],
      );
    } catch {
      this.#forget(folder); // it is gone, or not readable
      return [];
    }
  }

  #forget(folder: string): void {
    this.#watchers.get(folder)?.watcher.close();
    this.#watchers.delete(folder);
  }

  #sawChange(path: string, name: string): void {
    if (TEMPORARY_FILE.test(name) || (isSkipped(name) && name !== '.env')) return;
    const status = statusOf(path);
    if (status?.isDirectory()) {
      this.#watch(path, true);
      return;
    }
    if (!status && this.#watchers.has(path)) {
      this.#forget(path);
      return;
    }
    const stamp = status ? `${status.mtimeMs} ${status.size}` : 'gone';
    if (this.#stamps.get(path) === stamp) return;
    this.#stamps.set(path, stamp);
    this.#changedFiles.add(relative(this.#folder, path));
    this.#timer ??= setTimeout(() => this.#report(), SETTLE_MS);
  }

  #report(): void {
    this.#timer = undefined;
    const files = [...this.#changedFiles].sort();
    this.#changedFiles.clear();
    this.#onSaved(files);
  }
}

function statusOf(path: string): Stats | undefined {
  try {
    return lstatSync(path); // a link can lead out of the folder
  } catch {
    return undefined; // it is gone, or not readable
  }
}

/** Differs between two folders that have had the same path; a new one often gets the number of the old one. */
function identityOf(folder: string): string | undefined {
  const status = statusOf(folder);
  return status && `${status.ino} ${status.birthtimeMs}`;
}

function isSkipped(name: string): boolean {
  return name.startsWith('.') || name === 'node_modules';
}
