import { createHash, randomUUID } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import { copyFile, lstat, mkdir, readdir, readFile, readlink, rm, utimes } from 'node:fs/promises';
import { dirname, join, posix, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { z } from 'zod';
import { DOTENV_FOLDER } from '../../mocks/scm/scm-pipelines.ts';
import { reasonOf } from '../../model/errors.ts';
import type { PipelineJob } from '../../model/pipeline-run.ts';
import { readSecret, writeSecret } from '../../storage/files/read-file.ts';
import { makeLink, removeTree, renameFile } from '../../system/files-in-use.ts';
import type { CacheDefinition, JobDefinition } from './definition-schema.ts';
import { expandText } from './job-variables.ts';
import { exactMatch, lastMatchOf, matching } from './pattern.ts';
import { noteUse, storageRoot } from './run-folder.ts';

/** Files that are copied at the same time. */
const AT_A_TIME = 8;
const OWNER_WRITES = 0o200;

const isReport = (path: string) => path.startsWith(`${DOTENV_FOLDER}/`);

/** A name with all characters replaced that are not allowed in paths. */
export function folderName(name: string): string {
  const plain = name.replace(/[^\w.-]+/g, '-').slice(0, 40);
  return `${plain}-${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;
}

export interface ArtifactStore {
  runDir: string;
  /** The folder of the artifacts of earlier runs of the commit, with one folder for each job. */
  storedDir: string;
}

/** Folder in which runs of a project keep data for later runs; undefined if another user has taken the name. */
export function projectStorageFolder(projectUrl: string): string | undefined {
  const storageFolder = storageRoot();
  return storageFolder && join(storageFolder, folderName(projectUrl));
}

/** Folder of the artifacts of a job of a commit, which may not exist. */
export function storedArtifacts(projectUrl: string, sha: string, job: string): string | undefined {
  const projectFolder = projectStorageFolder(projectUrl);
  return projectFolder && join(projectFolder, 'artifacts', sha, folderName(job));
}

/** Stores the variables of a run for retries of its jobs, because its record has no values. */
export async function storeVariables(projectUrl: string, runId: string, typed: Readonly<Record<string, string>>) {
  const projectFolder = projectStorageFolder(projectUrl);
  if (projectFolder === undefined || Object.keys(typed).length === 0) return;
  await mkdir(join(projectFolder, 'variables'), { recursive: true, mode: 0o700 });
  await writeSecret(join(projectFolder, 'variables', runId), typed);
}

/** The variables that were given with a run; none if they are no longer there. */
export async function storedVariables(projectUrl: string, runId: string): Promise<Record<string, string>> {
  const projectFolder = projectStorageFolder(projectUrl);
  if (projectFolder === undefined) return {};
  return (await readSecret(join(projectFolder, 'variables', runId), z.record(z.string(), z.string()))) ?? {};
}

/** Files that a job left, with their sizes; none for a folder that does not exist. */
export async function artifactFiles(dir: string | undefined): Promise<{ path: string; bytes: number }[]> {
  if (dir === undefined) return [];
  const paths = (await pathsBelow(dir)).filter((path) => !isReport(path)).sort();
  return Promise.all(paths.map(async (path) => ({ path, bytes: (await lstat(join(dir, path))).size })));
}

/** Stores a job's artifacts, and notes missing files; resolves to what its reports say, and to why a server rejects them. */
export async function uploadArtifacts(
  { name, definition: { artifacts } }: { name: string; definition: JobDefinition },
  {
    isSuccess,
    store,
    note,
    ...context
  }: ArtifactContext & { isSuccess: boolean; store: ArtifactStore; note(text: string): void },
): Promise<{ results: Pick<PipelineJob, 'tests' | 'coverage'>; fault?: string }> {
  const { workDir } = context;
  if (!artifacts) return { results: {} };
  let fault: string | undefined;
  const to = join(store.runDir, folderName(name));
  const present = await pathsBelow(workDir);
  const found = (patterns: readonly string[] = []) => patterns.flatMap((pattern) => filesOf(pattern, present, context));
  if (isKept(artifacts, isSuccess) && (artifacts.paths || artifacts.untracked)) {
    const chosen = chosenFiles(artifacts, present, context, (pattern) => note(`artifacts: no files match ${pattern}`));
    const exclusions = (artifacts.exclude ?? []).map((pattern) => exactMatch(pathInProject(pattern, context)));
    for (const path of chosen) if (exclusions.some((excludes) => excludes(path))) chosen.delete(path);
    await copyPaths(workDir, to, [...chosen]);
  }
  // Reports are stored regardless of the job's result.
  const { dotenv = [], junit = [], coverage_report: coverage } = artifacts.reports ?? {};
  for (const pattern of dotenv) {
    const files = found([pattern]);
    if (files.length === 0) note(`artifacts: no dotenv report matches ${pattern}`);
    const texts = await Promise.all(files.map((path) => readFile(join(workDir, path), 'utf8')));
    fault ??= texts.map((text, at) => faultOfDotenv(files[at] ?? '', text)).find((found) => found !== undefined);
    if (fault === undefined) await copyPaths(workDir, join(to, DOTENV_FOLDER), files);
  }
  const read = (path: string) => readFile(join(workDir, path), 'utf8');
  const tests = found(junit);
  if (junit.length > 0 && tests.length === 0) note(`artifacts: no JUnit report matches ${junit.join(', ')}`);
  const [report] = await Promise.all(
    found(coverage && [coverage.path])
      .slice(0, 1)
      .map(read),
  );
  const [, rate] = /<coverage\b[^>]*\bline-rate=["']([\d.]{1,20})["']/.exec(report ?? '') ?? [];
  const results = {
    ...(tests.length > 0 && { tests: testsIn(await Promise.all(tests.map(read))) }),
    ...(rate !== undefined && { coverage: percent(Number(rate) * 100) }),
  };
  return { results, ...(fault !== undefined && { fault }) };
}

/** Folder with what a job has left: in this run, or else in an earlier one of the commit; undefined if there is none. */
export const artifactsIn = ({ runDir, storedDir }: ArtifactStore, name: string): string | undefined =>
  [runDir, storedDir].map((dir) => join(dir, folderName(name))).find(existsSync);

/** Replaces what a job has left before, also in earlier runs, by nothing: it runs. */
export async function clearArtifacts({ runDir }: ArtifactStore, name: string): Promise<void> {
  const dir = join(runDir, folderName(name));
  await removeTree(dir);
  await mkdir(dir);
}

/** Puts what other jobs have left into a job's folder. */
export async function bringArtifacts(names: readonly string[], workDir: string, store: ArtifactStore): Promise<void> {
  for (const from of names.flatMap((name) => artifactsIn(store, name) ?? []))
    await copyPaths(
      from,
      workDir,
      (await pathsBelow(from)).filter((path) => !isReport(path)),
    );
}

export async function dotenvOf(names: readonly string[], store: ArtifactStore): Promise<Record<string, string>> {
  const variables: Record<string, string> = {};
  for (const from of names.flatMap((name) => artifactsIn(store, name) ?? []))
    for (const path of (await pathsBelow(join(from, DOTENV_FOLDER))).sort())
      for (const { name, value } of dotenvLines(await readFile(join(from, DOTENV_FOLDER, path), 'utf8')))
        variables[name] = value;
  return variables;
}

export async function storeRunArtifacts({ runDir, storedDir }: ArtifactStore): Promise<void> {
  await mkdir(storedDir, { recursive: true, mode: 0o700 });
  for (const name of await readdir(runDir)) {
    await removeTree(join(storedDir, name));
    await renameFile(join(runDir, name), join(storedDir, name));
  }
  await noteUse(storedDir);
}

/** The lines of a dotenv report, each with its name and value: a server knows no comments, empty lines and quotes. */
function dotenvLines(content: string): { name: string; value: string }[] {
  const lines = content.replace(/^\uFEFF/, '').split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line) => {
    const [name = '', ...value] = line.split('=');
    return { name: value.length > 0 ? name.trim() : '', value: value.join('=').trim() };
  });
}

/** Returns why a server rejects a dotenv report; undefined if it accepts it. */
function faultOfDotenv(path: string, content: string): string | undefined {
  const at = dotenvLines(content).findIndex(({ name }) => !/^\w+$/.test(name));
  return at < 0
    ? undefined
    : `line ${at + 1} of the dotenv report ${path} is not NAME=value; comments and empty lines are not allowed`;
}

interface ArtifactContext {
  workDir: string;
  /** The path of `workDir` in the job, which differs from it in a container. */
  projectDir: string;
  values: Readonly<Record<string, string>>;
  tracked: ReadonlySet<string>;
}

export interface CacheContext extends ArtifactContext {
  /** The cache folder of the project, private to the platform. */
  dir: string;
  /** The checkout that jobs get copies of: keys of caches are from the files of the commit. */
  checkoutDir: string;
}

/** Returns the files of a job that patterns match, and, if requested, those that are not part of the commit. */
function chosenFiles(
  { paths = [], untracked }: { paths?: readonly string[] | undefined; untracked?: boolean | undefined },
  present: readonly string[],
  context: ArtifactContext,
  onMissing?: (pattern: string) => void,
): Set<string> {
  const chosen = new Set(untracked ? present.filter((path) => !context.tracked.has(path)) : []);
  for (const pattern of paths) {
    const found = filesOf(pattern, present, context);
    if (found.length === 0) onMissing?.(pattern);
    for (const path of found) chosen.add(path);
  }
  return chosen;
}

/** Puts what earlier jobs have kept into a job's folder. */
export async function restoreCaches(caches: readonly CacheDefinition[], context: CacheContext): Promise<void> {
  for (const [index, cache] of caches.entries()) {
    if (expandText(cache.policy ?? 'pull-push', context.values) === 'push') continue;
    const from = join(context.dir, await cacheName(cache, index, context));
    if (!existsSync(from)) continue;
    await noteUse(from);
    await bringCache(from, context.workDir);
  }
}

async function bringCache(from: string, workDir: string): Promise<void> {
  const { ino } = await lstat(from);
  try {
    await copyPaths(from, workDir, await pathsBelow(from));
  } catch (failure) {
    const now = await lstat(from).catch(() => undefined);
    if (now?.ino === ino) throw failure;
    // Another job has replaced it meanwhile.
    if (now) await bringCache(from, workDir);
  }
}

/** Stores a job's caches; resolves to messages about paths without files. */
export async function saveCaches(
  caches: readonly CacheDefinition[],
  context: CacheContext,
  isSuccess: boolean,
): Promise<string[]> {
  const notes: string[] = [];
  for (const [index, cache] of caches.entries()) {
    if (expandText(cache.policy ?? 'pull-push', context.values) === 'pull') continue;
    if (!isKept(cache, isSuccess)) continue;
    const chosen = chosenFiles(cache, await pathsBelow(context.workDir), context, (pattern) =>
      notes.push(`cache: no files match ${pattern}`),
    );
    // As on the server, nothing is archived then, and the cache stays as it is.
    if (chosen.size === 0) continue;
    const to = join(context.dir, await cacheName(cache, index, context));
    const draft = `${to}.${randomUUID()}`;
    try {
      await copyPaths(context.workDir, draft, [...chosen]);
      await removeTree(to);
      // If another job has just kept it, that one stays.
      await renameFile(draft, to).catch(() => undefined);
    } finally {
      await removeTree(draft);
    }
  }
  return notes;
}

async function cacheName(
  { key, unprotect }: CacheDefinition,
  index: number,
  { checkoutDir, projectDir, values }: CacheContext,
): Promise<string> {
  // As on the server, so that a branch cannot change what jobs of a protected one find.
  const suffix = values.CI_COMMIT_REF_PROTECTED === 'true' && !unprotect ? 'protected' : 'non_protected';
  if (typeof key !== 'object' || key === null) return folderName(`${expandText(key || 'default', values)}-${suffix}`);
  const hash = createHash('sha256');
  for (const file of key.files) {
    const path = pathInProject(file, { projectDir, values });
    hash.update(await readFile(join(checkoutDir, path)).catch(() => ''));
  }
  return folderName(`${index}-${expandText(key.prefix ?? '', values)}-${hash.digest('hex')}-${suffix}`);
}

const isKept = ({ when = 'on_success' }: { when?: string | undefined }, isSuccess: boolean) =>
  when === 'always' || (when === 'on_failure') !== isSuccess;

const filesOf = (pattern: string, present: readonly string[], context: ArtifactContext) =>
  matching(present, pathInProject(pattern, context));

/** Expands variables in a path of the definition, and returns it relative to the project's folder. */
function pathInProject(text: string, { projectDir, values }: Pick<CacheContext, 'projectDir' | 'values'>): string {
  const path = expandText(text, values);
  return path.startsWith('/') ? posix.relative(projectDir, path) || '.' : path;
}

/** Files and links below a folder, which may not exist, without what git keeps there. */
async function pathsBelow(dir: string): Promise<string[]> {
  const found = existsSync(dir) ? await readdir(dir, { recursive: true, withFileTypes: true }) : [];
  return found
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(dir, join(entry.parentPath, entry.name)))
    .filter((path) => !path.startsWith('.git/'));
}

export async function copyPaths(from: string, to: string, paths: readonly string[]): Promise<void> {
  const queue = paths.values();
  // All take from one queue.
  await Promise.all(Array.from({ length: AT_A_TIME }, () => copyEach(from, to, queue)));
}

async function copyEach(from: string, to: string, queue: Iterable<string>): Promise<void> {
  for (const path of queue) {
    const [source, target] = [join(from, path), join(to, path)];
    try {
      await mkdir(dirname(target), { recursive: true });
      const found = await lstat(source);
      // One that is there may be read-only, or a link.
      await rm(target, { force: true });
      if (found.isSymbolicLink()) await makeLink(await readlink(source), target);
      else if (found.isFile()) {
        await copyFile(source, target, constants.COPYFILE_FICLONE);
        // What tells builds whether something has changed.
        if (found.mode & OWNER_WRITES) await utimes(target, found.atime, found.mtime);
      }
    } catch (failure) {
      throw new Error(`${path} could not be copied: ${reasonOf(failure)}`);
    }
  }
}

const MAX_NAMES = 20;
const MAX_NAME_CHARACTERS = 255;
/** A part of XML without elements, or an element that says something about a test. */
const JUNIT =
  /<!\[CDATA\[.*?(?:\]\]>|$)|<!--.*?(?:-->|$)|<(testcase|failure|error|skipped)\b((?:"[^"]*"|'[^']*'|[^>"'])*)>/gs;
const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

export function testsIn(reports: readonly string[]): NonNullable<PipelineJob['tests']> {
  const tests = reports.flatMap((report) => {
    const found: { name: string; result?: string }[] = [];
    for (const [, element, attributes = ''] of report.matchAll(JUNIT)) {
      const last = found.at(-1);
      if (element === 'testcase') found.push({ name: nameIn(attributes) });
      else if (element !== undefined && last) last.result ??= element;
    }
    return found;
  });
  const skipped = tests.filter(({ result }) => result === 'skipped').length;
  const failing = tests.filter(({ result }) => result === 'failure' || result === 'error').map(({ name }) => name);
  return { total: tests.length, failed: failing.length, skipped, failing: failing.slice(0, MAX_NAMES) };
}

function nameIn(attributes: string): string {
  const [, quoted = '""'] = /(?:^|\s)name\s*=\s*("[^"]*"|'[^']*')/.exec(attributes) ?? [];
  const name = quoted.slice(1, -1).replace(/&(\w+);/g, (match, entity: string) => ENTITIES[entity] ?? match);
  return name.slice(0, MAX_NAME_CHARACTERS);
}

/**
 * Reads the keyword `coverage` in a line of output: the first number of the last match.
 *
 * @throws PipelineError for a pattern that is not valid
 */
export function coverageReader(keyword: string): (line: string) => number | undefined {
  const [, source = keyword, flags] = /^\/(.*)\/([a-z]*)$/s.exec(keyword) ?? [];
  const match = lastMatchOf(source, flags);
  return (line) => {
    const [number] = /\d+(?:\.\d+)?/.exec(match(stripVTControlCharacters(line)) ?? '') ?? [];
    return number === undefined ? undefined : percent(Number(number));
  };
}

const percent = (value: number) => Math.round(value * 100) / 100;
