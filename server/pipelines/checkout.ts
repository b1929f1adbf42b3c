import { existsSync } from 'node:fs';
import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { reasonOf } from '../model/reason.ts';
import { AUTHOR, git } from './git.ts';
import { PipelineError } from './pipeline-error.ts';
import { commitOf, DEFINITION, type Repository } from './repository.ts';

export interface CheckoutOptions {
  repository: Repository;
  /** Where it is made; must not be there yet. */
  to: string;
  /** Does it take along what is not committed? */
  takesWorkingTree: boolean;
  defaultBranch: string;
  /** What jobs find as `origin`: nothing is fetched from there. */
  originUrl: string;
  signal: AbortSignal;
}

/** A clone with the commit, which jobs get copies of: nothing that they do reaches the repository. */
export interface Checkout {
  dir: string;
  /** Of the commit, or of the one that the working tree was made. */
  sha: string;
  /** The commit from which the branch went its own way; undefined where that cannot be told. */
  baseSha: string | undefined;
  /** Title and message of the commit, and when it was made. */
  commit: { title: string; message: string; timestamp: string; author: string };
  /** Folders of submodules, which are empty, as on a server. */
  submodules: string[];
}

/** So many commits jobs find, as on a server, unless the definition says `GIT_DEPTH: 0`. */
const DEPTH = 20;

/**
 * Makes a checkout of the commit in a folder of its own.
 *
 * @throws PipelineError when git cannot
 */
export async function makeCheckout(options: CheckoutOptions): Promise<Checkout> {
  const { repository, to, takesWorkingTree, defaultBranch, originUrl, signal } = options;
  const { dir: source, branch, sha } = repository;
  const run = (...args: string[]) => git(to, args, { signal });
  try {
    await mkdir(to);
    await run('init', '--quiet', '--initial-branch', branch);
    // Also of a shallow repository, and also a commit that no branch leads to any more.
    const give = 'git -c uploadpack.allowAnySHA1InWant=true upload-pack';
    const far = (await wholeHistory(repository)) ? [] : ['--depth', String(DEPTH)];
    await run('fetch', '--quiet', '--no-tags', '--update-shallow', ...far, '--upload-pack', give, source, sha);
    await run('checkout', '--quiet', '-B', branch, sha);
    const baseSha = await findBase(source, { sha, branch, defaultBranch });
    await run('remote', 'add', 'origin', originUrl);
    await run('update-ref', `refs/remotes/origin/${branch}`, sha);
    if (takesWorkingTree) await takeWorkingTree(source, to, signal);
    const [made = sha, title = '', timestamp = '', author = '', ...message] = (
      await run('log', '-1', '--format=%H%n%s%n%cI%n%an <%ae>%n%B')
    ).split('\n');
    const modules = await run('ls-files', '--stage');
    const submodules = [...modules.matchAll(/^160000 .*\t(.*)$/gm)].flatMap(([, path]) => path ?? []);
    return {
      dir: to,
      sha: made,
      baseSha,
      commit: { title, message: message.join('\n').trimEnd(), timestamp, author },
      submodules,
    };
  } catch (failure) {
    signal.throwIfAborted();
    if (failure instanceof PipelineError) throw failure;
    const reason = reasonOf(failure);
    throw new PipelineError(`the commit ${sha.slice(0, 8)} of ${source} could not be checked out: ${reason}`, 1);
  }
}

async function wholeHistory({ dir, sha }: Repository): Promise<boolean> {
  return /^\s+GIT_DEPTH:\s*["']?0["']?\s*$/m.test(await git(dir, ['show', `${sha}:${DEFINITION}`]).catch(() => ''));
}

async function findBase(
  source: string,
  { sha, branch, defaultBranch }: { sha: string; branch: string; defaultBranch: string },
): Promise<string | undefined> {
  if (branch === defaultBranch) return commitOf(source, `${sha}~1`);
  for (const ref of [`refs/remotes/origin/${defaultBranch}`, `refs/heads/${defaultBranch}`]) {
    const base = await git(source, ['merge-base', ref, sha]).catch(() => '');
    if (base !== '') return base;
  }
  return undefined;
}

/** Makes what is not committed a commit of its own, in the checkout alone. */
async function takeWorkingTree(source: string, to: string, signal: AbortSignal): Promise<void> {
  const listed = await git(source, ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate'], {
    signal,
  });
  await git(to, ['rm', '-r', '--quiet', '--cached', '--ignore-unmatch', '.'], { signal });
  await git(to, ['clean', '-d', '--force', '--quiet'], { signal });
  for (const path of listed.split('\0').filter(Boolean)) {
    const from = join(source, path);
    if (existsSync(from))
      await cp(from, join(to, path), {
        recursive: true,
        verbatimSymlinks: true,
        filter: (one) => !one.endsWith('/.git'),
      });
  }
  await git(to, ['add', '--all', '--force'], { signal });
  const title = await git(to, ['log', '-1', '--format=%s'], { signal });
  const message = `${title} (with the working tree)`;
  await git(to, [...AUTHOR, 'commit', '--quiet', '--allow-empty', '--no-verify', '-m', message], { signal });
}

/** Files that differ between two commits, as paths from the top. */
export async function changedFiles(dir: string, from: string, to: string): Promise<string[]> {
  return (await git(dir, ['diff', '--name-only', '-z', from, to])).split('\0').filter(Boolean);
}

/** All files of the checkout's commit. */
export async function committedFiles(dir: string): Promise<string[]> {
  return (await git(dir, ['ls-files', '-z'])).split('\0').filter(Boolean);
}
