import { existsSync } from 'node:fs';
import { cp, mkdir, readFile } from 'node:fs/promises';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { reasonOf } from '../../model/errors.ts';
import { gitSettings } from '../../system/git.ts';
import { AUTHOR, git } from './git.ts';
import { PipelineError } from './pipeline-error.ts';
import type { PipelineRequest } from './pipeline-request.ts';
import { commitsOf, DEFINITION, type Repository } from './repository.ts';

export interface CheckoutOptions {
  repository: Repository;
  to: string;
  takesWorkingTree: boolean;
  defaultBranch: string;
  /** The URL of `origin` for jobs: nothing is fetched from there. */
  originUrl: string;
  signal: AbortSignal;
}

/** A clone with the commit, which jobs get copies of: nothing that they do reaches the repository. */
export interface Checkout {
  dir: string;
  /** The commit, or the temporary commit of the working tree. */
  sha: string;
  /** The commit from which the branch went its own way; undefined where that cannot be known. */
  baseSha: string | undefined;
  /** The newest commit of the default branch that the repository knows. */
  defaultSha: string | undefined;
  /** `tagMessage` is empty for a tag without one, and undefined for a branch. */
  commit: { message: string; timestamp: string; author: string; tagMessage?: string | undefined };
  files: string[];
  /** Folders of submodules, which are empty, as on a server. */
  submodules: string[];
  /** Files whose content Git LFS keeps elsewhere. */
  lfsPointers: string[];
}

/** Number of commits that jobs find, as on a server, unless GIT_DEPTH says otherwise. */
const DEPTH = 20;

/**
 * Checks out the commit into a separate folder.
 * @throws PipelineError if git fails
 */
export async function makeCheckout(options: CheckoutOptions): Promise<Checkout> {
  const { repository, to, takesWorkingTree, defaultBranch, originUrl, signal } = options;
  const { dir: source, branch, isTag, sha } = repository;
  const run = (...args: string[]) => git(to, args, { signal });
  try {
    await mkdir(to);
    const tag = `refs/tags/${branch}`;
    const names = [`refs/remotes/origin/${defaultBranch}`, `refs/heads/${defaultBranch}`, `${sha}~1`, tag];
    const messageFormat = '%(if:equals=tag)%(objecttype)%(then)%(contents)%(end)';
    const [depth, [remoteSha, ownSha, parentSha, tagSha], tagMessage] = await Promise.all([
      depthFor(repository),
      commitsOf(source, names),
      isTag ? git(source, ['for-each-ref', `--format=${messageFormat}`, tag]) : undefined,
    ]);
    const defaultSha = remoteSha ?? ownSha;
    await run('init', '--quiet', '--initial-branch', branch);
    // Jobs find the lines as committed. Git for Windows would end them as Windows does.
    await run('config', 'core.autocrlf', 'false');
    await run('remote', 'add', 'origin', originUrl);
    // Also of a shallow repository, and also a commit that no branch leads to any more.
    const uploadCommand = 'git -c uploadpack.allowAnySHA1InWant=true upload-pack';
    const options = ['--quiet', '--update-shallow', '--upload-pack', uploadCommand];
    if (depth > 0) options.push('--depth', String(depth));
    const refs = new Map<string, string>();
    if (defaultSha !== undefined) refs.set(`refs/remotes/origin/${defaultBranch}`, defaultSha);
    // A run can be of a commit from which its tag was moved: then the tags of the repository are not taken.
    const isMoved = isTag && tagSha !== sha;
    if (isMoved) options.push('--no-tags');
    if (isTag) refs.set(tag, isMoved ? sha : tag);
    else refs.set(`refs/remotes/origin/${branch}`, sha);
    await run('fetch', ...options, source, ...Array.from(refs, ([ref, commit]) => `${commit}:${ref}`));
    await git(to, ['checkout', '--quiet', ...(isTag ? ['--detach'] : ['-B', branch]), sha], {
      signal,
      env: { GIT_LFS_SKIP_SMUDGE: '1' },
    });
    const [lfsPointers, baseSha] = await Promise.all([
      withoutContent(source, to),
      branch === defaultBranch ? pushedBase(source, remoteSha, sha, parentSha) : mergeBase(source, defaultSha, sha),
    ]);
    if (takesWorkingTree) await takeWorkingTree(source, to, signal);
    const [log, listed] = await Promise.all([
      run('log', '-1', '--format=%H%n%cI%n%an <%ae>%n%B'),
      run('ls-files', '-z', '--stage'),
    ]);
    const [commitSha = sha, timestamp = '', author = '', ...message] = log.split('\n');
    // As `mode object stage`, a tab and the path.
    const entries = Array.from(listed.matchAll(/(\d+) \S+ \d\t([^\0]+)/g), ([, mode, path = '']) => ({ mode, path }));
    return {
      dir: to,
      sha: commitSha,
      baseSha,
      defaultSha,
      commit: { message: message.join('\n').trimEnd(), timestamp, author, tagMessage },
      files: entries.map(({ path }) => path),
      submodules: entries.flatMap(({ mode, path }) => (mode === '160000' ? path : [])),
      lfsPointers,
    };
  } catch (failure) {
    signal.throwIfAborted();
    if (failure instanceof PipelineError) throw failure;
    const reason = reasonOf(failure);
    throw new PipelineError(`the commit ${sha.slice(0, 8)} of ${source} could not be checked out: ${reason}`, 1);
  }
}

/** The largest GIT_DEPTH of the definition; 0 is the whole history. Each job gets a copy of its own depth. */
async function depthFor({ dir, sha }: Repository): Promise<number> {
  const definition = await git(dir, ['show', `${sha}:${DEFINITION}`]).catch(() => '');
  const depths = Array.from(definition.matchAll(/^\s+GIT_DEPTH:\s*["']?(\d{1,9})["']?\s*$/gm), ([, depth]) =>
    Number(depth),
  );
  return depths.includes(0) ? 0 : Math.max(DEPTH, ...depths);
}

/** The commit with which a push of the default branch compares: the newest that the remote has, or the parent of one that it has. */
async function pushedBase(
  dir: string,
  remoteSha: string | undefined,
  sha: string,
  parentSha: string | undefined,
): Promise<string | undefined> {
  const base = await mergeBase(dir, remoteSha, sha);
  return base === undefined || base === sha ? parentSha : base;
}

function mergeBase(dir: string, tip: string | undefined, sha: string): Promise<string | undefined> | undefined {
  return tip === undefined ? undefined : git(dir, ['merge-base', tip, sha]).catch(() => undefined);
}

const LFS_POINTER = 'version https://git-lfs.github.com/spec/v1';

/** Brings what Git LFS has in the repository; resolves to the files that remain pointers. */
async function withoutContent(source: string, to: string): Promise<string[]> {
  const listed = (await git(to, ['ls-files', '-z', ':(attr:filter=lfs)'])).split('\0').filter(Boolean);
  if (listed.length === 0) return [];
  const storage = await git(source, ['rev-parse', '--path-format=absolute', '--git-path', 'lfs']);
  await git(to, ['-c', `lfs.storage=${storage}`, 'lfs', 'checkout']).catch(() => undefined); // it may not be installed
  const contents = await Promise.all(listed.map((path) => readFile(join(to, path), 'latin1').catch(() => '')));
  return listed.filter((_, index) => contents[index]?.startsWith(LFS_POINTER));
}

async function takeWorkingTree(source: string, to: string, signal: AbortSignal): Promise<void> {
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate'];
  const listed = await git(source, list, { signal });
  await git(to, ['rm', '-r', '--quiet', '--cached', '--ignore-unmatch', '.'], { signal });
  await git(to, ['clean', '-d', '--force', '--quiet'], { signal });
  for (const path of listed.split('\0').filter(Boolean)) {
    const from = join(source, path);
    if (existsSync(from))
      await cp(from, join(to, path), {
        recursive: true,
        verbatimSymlinks: true,
        filter: (file) => !file.endsWith('/.git'),
      });
  }
  await git(to, ['add', '--all', '--force'], { signal });
  const [date = '', title] = (await git(to, ['log', '-1', '--format=%cI%n%s'], { signal })).split('\n');
  const message = `${title} (with the working tree)`;
  // The same changes are the same commit.
  const env = { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
  await git(to, [...AUTHOR, 'commit', '--quiet', '--allow-empty', '--no-verify', '-m', message], { signal, env });
}

export async function changedFiles(dir: string, from: string, to: string): Promise<string[]> {
  return (await git(dir, ['diff', '--name-only', '-z', from, to])).split('\0').filter(Boolean);
}

/** Pushes the commit of a run, and the default branch, to the mock GitLab, where jobs and tools expect them. Reports a failure. */
export async function pushCommit(
  { repository: { dir, branch, isTag, sha }, takesWorkingTree }: PipelineRequest,
  checkout: Checkout,
  options: {
    originUrl: string;
    token: string;
    defaultBranch: string;
    signal: AbortSignal;
    printLine(line: string): void;
  },
): Promise<void> {
  const { originUrl, token, defaultBranch, signal, printLine } = options;
  const settings = gitSettings({ 'http.extraHeader': `PRIVATE-TOKEN: ${token}`, 'http.proxy': '' });
  const env = { ...settings, GIT_CONFIG_GLOBAL: devNull };
  const pushOptions = ['ci.skip', 'terrarium.local-run'].map((option) => `--push-option=${option}`);
  const push = (from: string, ...refs: string[]) =>
    git(from, ['push', '--quiet', '--no-verify', ...pushOptions, originUrl, ...refs], { env, signal });
  const ref = `refs/${isTag ? 'tags' : 'heads'}/${branch}`;
  const base = branch === defaultBranch ? undefined : checkout.defaultSha;
  try {
    // The mock GitLab may have newer commits: its default branch is kept then, and the branch of the run is replaced.
    const both = [...(base === undefined ? [] : [`${base}:refs/heads/${defaultBranch}`]), `${sha}:${ref}`];
    await push(dir, ...both).catch(() => push(dir, `+${sha}:${ref}`));
    if (takesWorkingTree) await push(checkout.dir, `+${checkout.sha}:${ref}`);
  } catch (failure) {
    if (signal.aborted) return;
    printLine(
      `the commit is not in the repository of the mock GitLab, because it could not be pushed there: ${reasonOf(failure)}`,
    );
  }
}
