import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { nearestFolderWith } from '../../../system/nearest-folder.ts';

/** Matches the files that Node loads as code. Other files may be data that the lambda itself writes while it runs. */
const CODE = /\.([cm]?[jt]s|json|node|wasm)$/i;
/** Folders of version control, and of a platform that runs in the folder of a lambda. */
const SKIPPED_FOLDERS = ['.git', '.terrarium'];
/** Linked packages that are looked at. */
const MOST_LINKED = 100;
/** Files that are looked at: those nearest to the folder first, then those of its linked packages, and packages of `node_modules` last. */
const MOST_FILES = 2_000;
/** Between two looks there is at least that time, and so many times what the last one took: 1 % of the time at most. */
const LEAST_PAUSE_MS = 10;
const PAUSE_FACTOR = 100;

export class CodeFiles {
  /** Differs when a file differs. */
  readonly revision: string;
  readonly #files: ReadonlyMap<string, string>;
  #nextLookMs = 0;

  constructor(files: Iterable<string>) {
    this.#files = new Map(Array.from(files, (file) => [file, stateOf(file)]));
    this.revision = createHash('sha256')
      .update(JSON.stringify([...this.#files]))
      .digest('hex')
      .slice(0, 32);
  }

  /** True if one of the files has changed or gone. Between two checks, which take a bounded part of the time, the answer is no. */
  hasChanged(): boolean {
    const nowMs = performance.now();
    if (nowMs < this.#nextLookMs) return false;
    const isSame = [...this.#files].every(([file, state]) => stateOf(file) === state);
    const endMs = performance.now();
    this.#nextLookMs = endMs + Math.max(LEAST_PAUSE_MS, PAUSE_FACTOR * (endMs - nowMs));
    return !isSame;
  }
}

export function codeFilesIn(folder: string): string[] {
  return entriesOf(folder).flatMap(({ file, isFolder }) => (isFolder ? [] : [file]));
}

export function codeFilesBelow(packageFolder: string): string[] {
  const folder = path.resolve(packageFolder);
  const files: string[] = [];
  const visitedFolders = new Set([realpathSync(folder)]);
  const ownFolders = [folder];
  const linked = linkedPackages(realpathSync(folder)).filter((target) => isNew(target, visitedFolders));
  const installed: string[] = [];
  for (
    let next = ownFolders.shift();
    next !== undefined && files.length < MOST_FILES;
    next = ownFolders.shift() ?? linked.shift() ?? installed.shift()
  ) {
    for (const { file, isFolder } of entriesOf(next)) {
      if (!isFolder) files.push(file);
      else if (isNew(file, visitedFolders)) {
        const isOwn = file.startsWith(`${folder}${path.sep}`);
        if (file.includes(`${path.sep}node_modules`, isOwn ? folder.length : 0)) installed.push(file);
        else (isOwn ? ownFolders : linked).push(file);
      }
    }
  }
  return files.slice(0, MOST_FILES);
}

/** The other packages of its workspace that a package depends on: a `node_modules` above it links to them. */
function linkedPackages(folder: string, targets = new Set<string>()): string[] {
  const home = nearestFolderWith(['package.json'], folder);
  for (const name of home === undefined ? [] : dependenciesIn(path.join(home, 'package.json'))) {
    const installed = path.join('node_modules', name);
    const link = path.join(nearestFolderWith([installed], folder) ?? '', installed);
    if (targets.size >= MOST_LINKED || !lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink()) continue;
    const target = realpathSync(link);
    const isAround = `${folder}${path.sep}`.startsWith(`${target}${path.sep}`);
    if (isAround || target.includes(`${path.sep}node_modules`) || targets.has(target)) continue;
    targets.add(target);
    linkedPackages(target, targets);
  }
  return [...targets];
}

function dependenciesIn(file: string): string[] {
  try {
    const { dependencies, optionalDependencies, peerDependencies, devDependencies } = JSON.parse(
      readFileSync(file, 'utf8'),
    );
    return Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies, ...devDependencies });
  } catch {
    return []; // loading the code reports what is wrong with it
  }
}

interface Entry {
  file: string;
  isFolder: boolean;
}

function entriesOf(folder: string): Entry[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry): Entry[] => {
      const file = path.join(folder, entry.name);
      const stats = entry.isSymbolicLink() ? statSync(file, { throwIfNoEntry: false }) : entry;
      if (stats?.isDirectory()) return SKIPPED_FOLDERS.includes(entry.name) ? [] : [{ file, isFolder: true }];
      return stats?.isFile() && CODE.test(entry.name) ? [{ file, isFolder: false }] : [];
    });
  } catch {
    // The file is missing or not readable; loading it reports the reason.
    return [];
  }
}

/** A link may lead back to a folder above it. */
function isNew(folder: string, visitedFolders: Set<string>): boolean {
  const realPath = realpathSync(folder);
  if (visitedFolders.has(realPath)) return false;
  visitedFolders.add(realPath);
  return true;
}

function stateOf(file: string): string {
  try {
    const { size, mtimeMs, ctimeMs, ino } = statSync(file);
    return `${size} ${mtimeMs} ${ctimeMs} ${ino}`;
  } catch {
    return 'gone';
  }
}
