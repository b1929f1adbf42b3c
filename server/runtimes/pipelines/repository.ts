import { access, lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { git, requirePrograms } from './git.ts';
import { CANCELED, PipelineError } from './pipeline-error.ts';

export const DEFINITION = '.gitlab-ci.yml';
/** Maximum number of branches in the error for an unknown one. */
const NAMED_BRANCHES = 5;

/** The commit of a branch or tag for which a pipeline runs. */
export interface Repository {
  /** Its top folder. */
  dir: string;
  branch: string;
  /** Set if `branch` is the name of a tag. */
  isTag?: true;
  sha: string;
  title: string;
  /** The branch that the repository merges into: that of `origin/HEAD`, or of git's configuration, or without a remote the only one; else `main`. */
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
  await requirePrograms();
  await access(dir).catch(() => {
    throw new PipelineError(`folder ${dir} does not exist. Give the folder of the repository.`);
  });
  const top = await git(dir, ['rev-parse', '--show-toplevel']).catch((failure) => {
    if (failure instanceof PipelineError) throw failure;
    // One that another account owns, and that git does not trust, is a repository all the same.
    if (/dubious ownership/.test(String(failure)))
      throw new PipelineError(`git does not trust ${dir}: ${failure.message}`);
    throw new PipelineError(
      `${dir} is not a git repository with a working tree. Run \`git init\` and commit there, or give another folder.`,
    );
  });
  await access(join(top, DEFINITION)).catch(() => {
    throw new PipelineError(`${top} has no ${DEFINITION}. Add one at the top level of the repository.`);
  });
  const head = await git(top, ['symbolic-ref', '--short', '-q', 'HEAD']).catch(() => '');
  const headSha = await commitOf(top, 'HEAD');
  if (headSha === undefined && (requestedBranch === undefined || requestedBranch === head)) {
    throw new PipelineError(`${top} has no commit yet. Commit the files to build.`);
  }
  const branch = requestedBranch ?? head;
  if (branch === '') {
    throw new PipelineError(`no branch is checked out in ${top} (its HEAD is detached). Select one with --branch.`);
  }
  const found = await findRef(top, branch);
  // As CI itself checks out: the commit, and no branch.
  const sha = found?.sha ?? (head === '' ? headSha : undefined) ?? (await refuseBranch(top, branch));
  const isCheckedOut = sha === headSha && (head === branch || head === '');
  const status = isCheckedOut ? await git(top, ['status', '--porcelain', '--untracked-files=normal']) : '';
  const origin = await git(top, ['remote', 'get-url', 'origin']).catch(() => '');
  return {
    dir: top,
    branch,
    ...found,
    sha,
    title: (await git(top, ['log', '-1', '--format=%s', sha])) || branch,
    defaultBranch: await findDefaultBranch(top),
    originPath: /(?:^|[/:])(\w[\w.-]*\/\w[\w.-]*?)(?:\.git)?\/?$/.exec(origin)?.[1],
    uncommitted: status === '' ? 0 : status.split('\n').length,
  };
}

async function findDefaultBranch(top: string): Promise<string> {
  const remote = await git(top, ['symbolic-ref', '--quiet', 'refs/remotes/origin/HEAD']).catch(() => '');
  if (remote !== '') return remote.replace('refs/remotes/origin/', '');
  const configured = await git(top, ['config', '--get', 'init.defaultBranch']).catch(() => '');
  if (configured !== '' && (await commitOf(top, `refs/heads/${configured}`)) !== undefined) return configured;
  // With a remote, the only branch may be a feature branch of a single-branch clone.
  if ((await git(top, ['remote'])) !== '') return 'main';
  const branches = await git(top, ['for-each-ref', '--format=%(refname:lstrip=2)', 'refs/heads']);
  return branches === '' || branches.includes('\n') ? 'main' : branches;
}

async function refuseBranch(top: string, branch: string): Promise<never> {
  const present = (await git(top, ['for-each-ref', '--format=%(refname:short)', 'refs/heads'])).split('\n');
  const branchList = present.slice(0, NAMED_BRANCHES).join(', ');
  throw new PipelineError(
    `${top} has no branch or tag '${branch}': run \`git switch ${branch}\` (with -c for a new branch), or select an existing one: ${branchList}`,
  );
}

/** The commit of the branch of that name, or else of the tag; undefined if there is neither. */
export async function findRef(dir: string, name: string): Promise<Pick<Repository, 'sha' | 'isTag'> | undefined> {
  const ofBranch = (await commitOf(dir, `refs/heads/${name}`)) ?? (await commitOf(dir, `refs/remotes/origin/${name}`));
  if (ofBranch !== undefined) return { sha: ofBranch };
  const sha = await commitOf(dir, `refs/tags/${name}`);
  return sha === undefined ? undefined : { sha, isTag: true };
}

/** Undefined if it does not exist. */
export function commitOf(dir: string, name: string): Promise<string | undefined> {
  return git(dir, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`]).catch(() => undefined);
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

/** The commit, and which files differ from it since when. */
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
