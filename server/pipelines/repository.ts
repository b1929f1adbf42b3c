import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { demandPrograms, git } from './git.ts';
import { PipelineError } from './pipeline-error.ts';

export const DEFINITION = '.gitlab-ci.yml';
/** So many branches are named to whoever mistyped one. */
const NAMED_BRANCHES = 5;

/** What a pipeline is run for: a commit of a branch. */
export interface Repository {
  /** Its top folder. */
  dir: string;
  branch: string;
  sha: string;
  /** Title of the commit. */
  title: string;
  /** Path of the project that its remote `origin` names, e.g. `fern-moss/shop`. */
  originPath: string | undefined;
  /** How many files of the folder differ from the commit; 0 where another branch is checked out. */
  uncommitted: number;
}

/**
 * Finds the commit that a pipeline is for: the newest of the branch, which is the one checked out unless given.
 *
 * @throws PipelineError for what has to be put right first
 */
export async function readRepository(dir: string, wanted: string | undefined): Promise<Repository> {
  await demandPrograms();
  await access(dir).catch(() => {
    throw new PipelineError(`there is no folder ${dir}: name the repository's`);
  });
  const top = await git(dir, ['rev-parse', '--show-toplevel']).catch((failure) => {
    if (failure instanceof PipelineError) throw failure;
    // One that another account owns, and that git does not trust, is a repository all the same.
    if (/dubious ownership/.test(String(failure)))
      throw new PipelineError(`git does not trust ${dir}: ${failure.message}`);
    throw new PipelineError(
      `${dir} is no git repository with files: run \`git init\` and commit there, or name another folder`,
    );
  });
  await access(join(top, DEFINITION)).catch(() => {
    throw new PipelineError(`${top} has no ${DEFINITION}: a pipeline needs a definition at the top of its repository`);
  });
  const head = await git(top, ['symbolic-ref', '--short', '-q', 'HEAD']).catch(() => '');
  const headSha = await commitOf(top, 'HEAD');
  if (headSha === undefined && (wanted === undefined || wanted === head)) {
    throw new PipelineError(`${top} has no commit yet: commit what the pipeline shall build`);
  }
  const branch = wanted ?? head;
  if (branch === '') {
    throw new PipelineError(`no branch is checked out in ${top} (its HEAD is detached): name one with --branch`);
  }
  const sha = await shaOf(top, { branch, head, headSha });
  const isCheckedOut = sha === headSha && (head === branch || head === '');
  const status = isCheckedOut ? await git(top, ['status', '--porcelain', '--untracked-files=normal']) : '';
  const origin = await git(top, ['remote', 'get-url', 'origin']).catch(() => '');
  return {
    dir: top,
    branch,
    sha,
    title: (await git(top, ['log', '-1', '--format=%s', sha])) || branch,
    originPath: /([^/:]+\/[^/]+?)(?:\.git)?\/?$/.exec(origin)?.[1],
    uncommitted: status === '' ? 0 : status.split('\n').length,
  };
}

async function shaOf(
  top: string,
  { branch, head, headSha }: { branch: string; head: string; headSha: string | undefined },
): Promise<string> {
  for (const ref of [`refs/heads/${branch}`, `refs/remotes/origin/${branch}`]) {
    const sha = await commitOf(top, ref);
    if (sha !== undefined) return sha;
  }
  // As CI itself checks out: the commit, and no branch.
  if (head === '' && headSha !== undefined) return headSha;
  const present = (await git(top, ['for-each-ref', '--format=%(refname:short)', 'refs/heads'])).split('\n');
  const shown = present.slice(0, NAMED_BRANCHES).join(', ');
  throw new PipelineError(
    `${top} has no branch '${branch}': run \`git switch ${branch}\` (with -c for a new branch), or name one that is there: ${shown}`,
  );
}

/** Undefined for what is not there. */
export function commitOf(dir: string, name: string): Promise<string | undefined> {
  return git(dir, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`]).catch(() => undefined);
}
