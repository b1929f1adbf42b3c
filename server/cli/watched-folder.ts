import { type FSWatcher, readdirSync, type Stats, statSync, watch } from 'node:fs';
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
  readonly #watchers = new Map<string, FSWatcher>();
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
    this.#watch(folder);
  }

  stop(): void {
    clearTimeout(this.#timer);
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  /** Folders near the top are watched first. */
  #watch(top: string): void {
    const waiting = [top];
    for (let folder = waiting.shift(); folder !== undefined; folder = waiting.shift()) {
      if (this.#watchers.has(folder)) continue;
      if (this.#watchers.size >= MAX_FOLDERS) {
        this.isCut = true;
        return;
      }
      waiting.push(...this.#watchOne(folder));
    }
  }

  /** Watches one folder. Returns the folders in it. */
  #watchOne(folder: string): string[] {
    const forget = () => {
      this.#watchers.get(folder)?.close();
      this.#watchers.delete(folder);
    };
    try {
      const watcher = watch(folder, (_event, name) => name !== null && this.#sawChange(join(folder, name), name));
      watcher.on('error', forget);
      this.#watchers.set(folder, watcher);
      const entries = readdirSync(folder, { withFileTypes: true });
      return entries.flatMap((entry) =>
        entry.isDirectory() && !isSkipped(entry.name) ? [join(folder, entry.name)] : [],
      );
    } catch {
      forget(); // it is gone, or not readable
      return [];
    }
  }

  #sawChange(path: string, name: string): void {
    if (TEMPORARY_FILE.test(name) || (isSkipped(name) && name !== '.env')) return;
    const status = statusOf(path);
    if (status?.isDirectory()) {
      this.#watch(path);
      return;
    }
    if (!status && this.#watchers.has(path)) {
      this.#watchers.get(path)?.close();
      this.#watchers.delete(path);
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
    return statSync(path);
  } catch {
    return undefined; // it is gone, or not readable
  }
}

function isSkipped(name: string): boolean {
  return name.startsWith('.') || name === 'node_modules';
}
