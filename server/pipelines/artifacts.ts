import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import type { CacheDefinition, JobDefinition } from './definition.ts';
import { matching } from './globs.ts';
import { expandText } from './variables.ts';

const DOTENV_FOLDER = '.terrarium-dotenv';

/** A name as it may stand in paths, whatever it holds. */
export function folderName(name: string): string {
  const plain = name.replace(/[^\w.-]+/g, '-').slice(0, 40);
  return `${plain}-${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;
}

export interface ArtifactStore {
  /** Of this run, one folder a job. */
  runDir: string;
  /** Of the commit's earlier runs, likewise. */
  keptDir: string;
}

/** Copies what a job leaves for others; resolves to lines about what it does not leave. */
export async function collectArtifacts(
  { name, definition: { artifacts } }: { name: string; definition: JobDefinition },
  {
    workDir,
    values,
    isSuccess,
    store,
    tracked,
  }: {
    workDir: string;
    values: Record<string, string>;
    isSuccess: boolean;
    store: ArtifactStore;
    tracked: ReadonlySet<string>;
  },
): Promise<string[]> {
  if (!artifacts) return [];
  const notes: string[] = [];
  const to = join(store.runDir, folderName(name));
  const when = artifacts.when ?? 'on_success';
  const isWanted = when === 'always' || (when === 'on_failure') !== isSuccess;
  const present = await pathsBelow(workDir);
  const named = (pattern: string) => relativeTo(workDir, expandText(pattern, values));
  if (isWanted && (artifacts.paths || artifacts.untracked)) {
    const chosen = new Set(artifacts.untracked ? present.filter((path) => !tracked.has(path)) : []);
    for (const pattern of artifacts.paths ?? []) {
      const found = matching(present, named(pattern));
      if (found.length === 0) notes.push(`artifacts: nothing is at ${pattern}`);
      for (const path of found) chosen.add(path);
    }
    const excluded = new Set((artifacts.exclude ?? []).flatMap((pattern) => matching(present, named(pattern))));
    await copyPaths(
      workDir,
      to,
      [...chosen].filter((path) => !excluded.has(path)),
    );
  }
  // Reports are taken whatever came of the job.
  for (const pattern of artifacts.reports?.dotenv ?? []) {
    const found = matching(present, named(pattern));
    if (found.length === 0) notes.push(`artifacts: there is no dotenv report at ${pattern}`);
    await copyPaths(workDir, join(to, DOTENV_FOLDER), found);
  }
  return notes;
}

/** Puts what other jobs have left into a job's folder; resolves to the variables that they have left. */
export async function bringArtifacts(
  names: readonly string[],
  workDir: string,
  store: ArtifactStore,
): Promise<Record<string, string>> {
  const variables: Record<string, string> = {};
  for (const name of names) {
    const from = [store.runDir, store.keptDir].map((dir) => join(dir, folderName(name))).find(existsSync);
    if (from === undefined) continue;
    const all = await pathsBelow(from);
    const isReport = (path: string) => path.startsWith(`${DOTENV_FOLDER}/`);
    await copyPaths(
      from,
      workDir,
      all.filter((path) => !isReport(path)),
    );
    for (const path of all.filter(isReport))
      Object.assign(variables, dotenvIn(await readFile(join(from, path), 'utf8')));
  }
  return variables;
}

/** Keeps the artifacts of a run for later ones of its commit. */
export async function keepArtifacts({ runDir, keptDir }: ArtifactStore): Promise<void> {
  await mkdir(keptDir, { recursive: true, mode: 0o700 });
  for (const name of await readdir(runDir)) {
    await rm(join(keptDir, name), { recursive: true, force: true });
    await rename(join(runDir, name), join(keptDir, name));
  }
}

/** Lines `NAME=value`, as reports hold them. */
function dotenvIn(content: string): Record<string, string> {
  const lines = content.split(/\r?\n/).flatMap((line) => {
    const [, name, value] = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=(.*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined) return [];
    return [[name, value.trim().replace(/^(["'])(.*)\1$/s, '$2')] as const];
  });
  return Object.fromEntries(lines);
}

export interface CachePlace {
  /** Of the project, for our eyes only. */
  dir: string;
  workDir: string;
  values: Record<string, string>;
}

/** Puts what earlier jobs have kept into a job's folder. */
export async function bringCaches(caches: readonly CacheDefinition[], place: CachePlace): Promise<void> {
  for (const [index, one] of caches.entries()) {
    if (expandText(one.policy ?? 'pull-push', place.values) === 'push') continue;
    const from = join(place.dir, await cacheName(one, index, place));
    if (existsSync(from)) await copyPaths(from, place.workDir, await pathsBelow(from));
  }
}

/** Keeps a job's caches for later ones. */
export async function keepCaches(
  caches: readonly CacheDefinition[],
  place: CachePlace,
  isSuccess: boolean,
): Promise<void> {
  for (const [index, one] of caches.entries()) {
    if (expandText(one.policy ?? 'pull-push', place.values) === 'pull') continue;
    const when = one.when ?? 'on_success';
    if (when !== 'always' && (when === 'on_success') !== isSuccess) continue;
    const present = await pathsBelow(place.workDir);
    const chosen = (one.paths ?? []).flatMap((pattern) =>
      matching(present, relativeTo(place.workDir, expandText(pattern, place.values))),
    );
    await copyPaths(place.workDir, join(place.dir, await cacheName(one, index, place)), chosen);
  }
}

async function cacheName({ key }: CacheDefinition, index: number, { workDir, values }: CachePlace): Promise<string> {
  if (typeof key !== 'object' || key === null) return folderName(expandText(key || 'default', values));
  const hash = createHash('sha256');
  for (const path of key.files) hash.update(await readFile(join(workDir, expandText(path, values))).catch(() => ''));
  return folderName(`${index}-${expandText(key.prefix ?? '', values)}-${hash.digest('hex')}`);
}

function relativeTo(workDir: string, path: string): string {
  return path.startsWith('/') ? relative(workDir, path) : path;
}

/** Files and links below a folder, without what git keeps there. */
async function pathsBelow(dir: string): Promise<string[]> {
  const found = await readdir(dir, { recursive: true, withFileTypes: true });
  return found
    .filter((one) => !one.isDirectory())
    .map((one) => relative(dir, join(one.parentPath, one.name)))
    .filter((path) => !path.startsWith('.git/'));
}

async function copyPaths(from: string, to: string, paths: readonly string[]): Promise<void> {
  if (paths.length === 0) return;
  await mkdir(to, { recursive: true });
  const copying = promisify(execFile)('rsync', ['--archive', '--from0', '--files-from=-', `${from}/`, `${to}/`]);
  copying.child.stdin?.on('error', () => undefined); // what it says at its end tells more
  copying.child.stdin?.end(paths.map((path) => `${path}\0`).join(''));
  await copying.catch(({ stderr, message }) => {
    throw new Error(`files could not be copied: ${(stderr || message).trim().split('\n')[0]}`);
  });
}
