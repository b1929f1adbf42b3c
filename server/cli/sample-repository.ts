import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageFile } from '../package-file.ts';
import { demandPrograms, type Repository, readRepository } from './repository.ts';

const SAMPLE = 'fixtures/sample-app';
/** Nothing is ever fetched from there. */
const ORIGIN = 'http://scm.terrarium.invalid/fern-moss/shop.git';
const TITLE = 'Sell ferns';
/** Whoever sits here need not have told git who they are. */
const AUTHOR = ['-c', 'user.name=Terrarium', '-c', 'user.email=sample@terrarium.invalid', '-c', 'commit.gpgsign=false'];

/** Makes a repository of the sample app with a feature branch, works with it, and removes it. */
export async function withSampleRepository(
  branch: string,
  work: (repository: Repository) => Promise<void>,
): Promise<void> {
  await demandPrograms();
  const folder = await mkdtemp(join(tmpdir(), 'terrarium-sample-'));
  const dir = join(folder, 'shop');
  const git = (...args: string[]) => promisify(execFile)('git', ['-C', dir, ...args]);
  try {
    await cp(packageFile(SAMPLE), dir, { recursive: true });
    await git('init', '-q', '-b', branch);
    await git('add', '-A');
    await git(...AUTHOR, 'commit', '-q', '-m', TITLE);
    // As a clone has it: the runner looks there for the project and its default branch, and complains of what is not there.
    await git('remote', 'add', 'origin', ORIGIN);
    await git('update-ref', 'refs/remotes/origin/main', 'HEAD');
    await git('symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/main');
    await work(await readRepository(dir, branch));
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
