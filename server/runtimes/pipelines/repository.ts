import { access, lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { reasonOf } from '../../model/errors.ts';
import { git, requirePrograms } from './git.ts';
import { CANCELED, PipelineError } from './pipeline-error.ts';

export const DEFINITION = '.gitlab-ci.yml';
/** Maximum number of branches in the error for an unknown one. */
const NAMED_BRANCHES = 5;

/** Matches the remotes of servers: a project can be in a group of groups. */
const SERVER_PATH = /^(?:\w+:\/\/[^/]+\/|[^/:]+:)(\w[\w.-]*(?:\/\w[\w.-]*)*\/\w[\w.-]*?)(?:\.git)?\/?$/;
const FOLDER_PATH = /(?:^|[/:])(\w[\w.-]*\/\w[\w.-]*?)(?:\.git)?\/?$/;

/** The commit of a branch or tag for which a pipeline runs. */
export interface Repository {
  dir: string;
  branch: string;
  /** Set if `branch` is the name of a tag. */
  isTag?: true;
  sha: string;
  /**
   * The default branch: that of `origin/HEAD`, else the first that exists of git's configuration, `main` and `master`, else, before the first
   * push, the branch that is checked out or the only one; otherwise `main`.
   */
  defaultBranch: string;
  /** Path of the project that its remote `origin` names, e.g. `fern-moss/shop`; undefined if that is not a valid path. */
  originPath: string | undefined;
  /** Number of files of the folder that differ from the commit; 0 if another branch is checked out. */
  uncommitted: number;
}

/**
 * Finds the commit that a pipeline is for: that of the tag, or the newest of the branch, which is the one checked out unless given.
 *
 * @throws PipelineError for what has to be put right first
 */
export async function readRepository(dir: string, requestedBranch: string | undefined): Promise<Repository> {
  await access(dir).catch(() => {
    throw new PipelineError(`folder ${dir} does not exist. Give the folder of the repository.`);
  });
  const [top] = await Promise.all([findTop(dir), requirePrograms()]);
  await access(join(top, DEFINITION)).catch(() => {
    throw new PipelineError(`${top} has no ${DEFINITION}. Add one at the top level of the repository.`);
  });
  const [head, origin, defaultBranch] = await Promise.all([
    git(top, ['symbolic-ref', '--short', '-q', 'HEAD']).catch(() => ''),
    git(top, ['remote', 'get-url', 'origin']).catch(() => ''),
    findDefaultBranch(top),
  ]);
  const branch = requestedBranch ?? head;
  const [headSha, ...refShas] = await commitsOf(top, ['HEAD', ...refsOf(branch)]);
  if (headSha === undefined && branch === head) {
    throw new PipelineError(`${top} has no commit yet. Commit the files to build.`);
  }
  if (branch === '') {
    throw new PipelineError(`no branch is checked out in ${top} (its HEAD is detached). Select one with --branch.`);
  }
  const found = firstRef(refShas);
  // As CI itself checks out: the commit, and no branch.
  const sha = found?.sha ?? (head === '' ? headSha : undefined) ?? (await refuseBranch(top, branch));
  const isCheckedOut = sha === headSha && (head === branch || head === '');
  const status = isCheckedOut ? await git(top, ['status', '--porcelain', '--untracked-files=normal']) : '';
  return {
    dir: top,
    branch,
    ...found,
    sha,
    defaultBranch,
    originPath: (SERVER_PATH.exec(origin) ?? FOLDER_PATH.exec(origin))?.[1],
    uncommitted: status === '' ? 0 : status.split('\n').length,
  };
}

async function findTop(dir: string): Promise<string> {
  try {
    return await git(dir, ['rev-parse', '--show-toplevel']);
  } catch (failure) {
    if (failure instanceof PipelineError) throw failure;
    // One that another account owns, and that git does not trust, is a repository all the same.
    if (/dubious ownership/.test(String(failure)))
      throw new PipelineError(`git does not trust ${dir}: ${reasonOf(failure)}`);
    throw new PipelineError(
      `${dir} is not a git repository with a working tree. Run \`git init\` and commit there, or give another folder.`,
    );
  }
}

async function findDefaultBranch(top: string): Promise<string> {
  const [remote, configured, refs] = await Promise.all([
    git(top, ['symbolic-ref', '--quiet', 'refs/remotes/origin/HEAD']).catch(() => ''),
    git(top, ['config', '--get', 'init.defaultBranch']).catch(() => ''),
    git(top, ['for-each-ref', '--format=%(HEAD)%(refname)', 'refs/heads', 'refs/remotes']),
  ]);
  if (remote !== '') return remote.replace('refs/remotes/origin/', '');
  const names = Array.from(refs.matchAll(/^.refs\/(?:heads|remotes\/origin)\/(.+)$/gm), ([, name]) => name);
  const usual = [configured, 'main', 'master'].find((name) => names.includes(name));
  // After a fetch, the only branch may be a feature branch of a single-branch clone.
  if (usual !== undefined || refs.includes('refs/remotes/')) return usual ?? 'main';
  const [onlyName, ...moreNames] = names;
  return /^\*refs\/heads\/(.+)$/m.exec(refs)?.[1] ?? (moreNames.length === 0 ? onlyName : undefined) ?? 'main';
}

async function refuseBranch(top: string, branch: string): Promise<never> {
  const present = (await git(top, ['for-each-ref', '--format=%(refname:short)', 'refs/heads'])).split('\n');
  const branchList = present.slice(0, NAMED_BRANCHES).join(', ');
  throw new PipelineError(
    `${top} has no branch or tag '${branch}': run \`git switch ${branch}\` (with -c for a new branch), or select an existing one: ${branchList}`,
  );
}

/** The names that a branch or tag may have in a repository, in order of precedence. */
const refsOf = (name: string) => [`refs/heads/${name}`, `refs/remotes/origin/${name}`, `refs/tags/${name}`];

/** @param shas those of `refsOf` */
function firstRef(shas: readonly (string | undefined)[]): Pick<Repository, 'sha' | 'isTag'> | undefined {
  const [branchSha, remoteSha, tagSha] = shas;
  const sha = branchSha ?? remoteSha;
  if (sha !== undefined) return { sha };
  return tagSha === undefined ? undefined : { sha: tagSha, isTag: true };
}

/** The commit of the branch of that name, or else of the tag; undefined if there is neither. */
export async function findRef(dir: string, name: string): Promise<Pick<Repository, 'sha' | 'isTag'> | undefined> {
  return firstRef(await commitsOf(dir, refsOf(name)));
}

/** Undefined if it does not exist. */
export async function commitOf(dir: string, name: string): Promise<string | undefined> {
  return (await commitsOf(dir, [name]))[0];
}

/** The commits that names lead to, in the order of the names; undefined for a name that leads to none. */
export async function commitsOf(dir: string, names: readonly string[]): Promise<(string | undefined)[]> {
  // Git reads a name per line, and none contains a line feed.
  const input = names.map((name) => (name.includes('\n') ? '\n' : `${name}^{commit}\n`)).join('');
  const output = await git(dir, ['cat-file', '--batch-check=%(objectname)'], { input }).catch(() => '');
  const lines = output.split('\n');
  return names.map((_, index) => lines[index]?.match(/^[0-9a-f]+$/)?.[0]);
}

/** Time between two looks; longer where a look takes long. */
const LOOK_EVERY_MS = 250;
const LOOKS_SHARE = 10;

/**
 * Runs an action now, and again whenever the commit or the files of a repository have changed, except ignored files.
 * Changes in quick succession count as one. Git is asked, because file systems do not report all changes, and every
 * folder would need a watch.
 * @throws PipelineError when the signal is aborted
 */
export async function onChanges(dir: string, signal: AbortSignal, act: () => Promise<void>): Promise<void> {
  let tookMs = 0;
  const look = async () => {
    await pause(Math.max(LOOK_EVERY_MS, tookMs * LOOKS_SHARE), undefined, { signal }).catch(() => {
      throw new PipelineError('canceled', CANCELED);
    });
    const startedAtMs = performance.now();
    const state = await stateOf(dir, signal).catch(String);
    tookMs = performance.now() - startedAtMs;
    return state;
  };
  for (;;) {
    const before = await stateOf(dir, signal).catch(String);
    await act();
    let state = await look();
    while (state === before) state = await look();
    for (let next = await look(); next !== state; next = await look()) state = next;
  }
}

export async function stateOf(dir: string, signal?: AbortSignal): Promise<string> {
  const top = await git(dir, ['rev-parse', '--show-toplevel'], { signal });
  const status = await git(top, ['status', '--porcelain=v2', '--branch', '-z', '--untracked-files=all'], { signal });
  const listed = await git(top, ['ls-files', '-z', '--modified', '--others', '--exclude-standard'], { signal });
  const paths = listed.split('\0').filter(Boolean);
  const times = await Promise.all(
    paths.map((path) =>
      lstat(join(top, path)).then(
        ({ mtimeMs, size }) => [mtimeMs, size],
        () => [],
      ),
    ),
  );
  return JSON.stringify([status, paths, times]);
}
