import { devNull } from 'node:os';
import { reasonOf } from '../../model/errors.ts';
import { gitSettings } from '../../system/git.ts';
import { type Checkout, defaultCommit } from './checkout.ts';
import { git } from './git.ts';
import type { PipelineRequest } from './pipeline-request.ts';

/** Pushes the commit of a run, and the default branch, to the mock GitLab, where jobs and tools expect them. Reports a failure. */
export async function pushCommit(
  { repository: { dir, branch, isTag, sha }, takesWorkingTree }: PipelineRequest,
  checkout: Checkout,
  {
    url,
    token,
    defaultBranch,
    signal,
    say,
  }: { url: string; token: string; defaultBranch: string; signal: AbortSignal; say(line: string): void },
): Promise<void> {
  const settings = gitSettings({ 'http.extraHeader': `PRIVATE-TOKEN: ${token}`, 'http.proxy': '' });
  const env = { ...settings, GIT_CONFIG_GLOBAL: devNull };
  const options = ['ci.skip', 'terrarium.local-run'].map((one) => `--push-option=${one}`);
  const push = (from: string, ...refs: string[]) =>
    git(from, ['push', '--quiet', '--no-verify', ...options, url, ...refs], { env, signal });
  const ref = `refs/${isTag ? 'tags' : 'heads'}/${branch}`;
  const base = branch === defaultBranch ? undefined : await defaultCommit(dir, defaultBranch);
  try {
    // The mock GitLab may have newer commits: its default branch is kept then, and the branch of the run is replaced.
    const both = [...(base === undefined ? [] : [`${base}:refs/heads/${defaultBranch}`]), `${sha}:${ref}`];
    await push(dir, ...both).catch(() => push(dir, `+${sha}:${ref}`));
    if (takesWorkingTree) await push(checkout.dir, `+${checkout.sha}:${ref}`);
  } catch (failure) {
    if (signal.aborted) return;
    say(
      `the commit is not in the repository of the mock GitLab, because it could not be pushed there: ${reasonOf(failure)}`,
    );
  }
}
