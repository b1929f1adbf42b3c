import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { removeIfPossible } from '../../system/files-in-use.ts';
import { makeTemporary } from '../../system/temporary.ts';
import { AUTHOR, git, requirePrograms } from './git.ts';
import { type Repository, readRepository } from './repository.ts';

export const SAMPLE_DIR = 'fixtures/sample-app';
export const SAMPLE_BRANCH = 'feature/ferns';
export const SAMPLE_PROJECT = 'fern-moss/shop';

/** Nothing is ever fetched from there. */
const ORIGIN = 'http://scm.terrarium.invalid/fern-moss/shop.git';
const TITLE = 'Sell ferns';
/** Its commit is the same each time: a job can be run again in it. */
const DATE = '2026-01-01T12:00:00Z';

/** Makes a repository of the sample app with a feature branch, works with it, and removes it. */
export async function withSampleRepository<T>(
  sampleDir: string,
  branch: string,
  work: (repository: Repository) => Promise<T>,
): Promise<T> {
  await requirePrograms();
  const folder = await makeTemporary('sample');
  const dir = join(folder, 'shop');
  const run = (...args: string[]) => git(dir, args, { env: { GIT_AUTHOR_DATE: DATE, GIT_COMMITTER_DATE: DATE } });
  try {
    await cp(sampleDir, dir, { recursive: true });
    await run('init', '-q', '-b', branch);
    await run('add', '-A');
    await run(...AUTHOR, 'commit', '-q', '--no-verify', '-m', TITLE);
    // As a clone has it: the runner looks there for the project and its default branch, and complains of what is not there.
    await run('remote', 'add', 'origin', ORIGIN);
    await run('update-ref', 'refs/remotes/origin/main', 'HEAD');
    await run('symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/main');
    return await work(await readRepository(dir, branch));
  } finally {
    await removeIfPossible(folder);
  }
}
