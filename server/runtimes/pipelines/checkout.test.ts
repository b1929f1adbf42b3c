import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { makeCheckout } from './checkout.ts';
import { AUTHOR, git } from './git.ts';
import { readRepository } from './repository.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrarium-checkout-'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

it('has the lines as committed, also where git is configured to end them as Windows does', async () => {
  const dir = join(folder, 'repository');
  await git(folder, ['init', '--quiet', '--initial-branch', 'main', dir]);
  await writeFile(join(dir, 'job.sh'), 'echo one\necho two\n');
  await writeFile(join(dir, '.gitlab-ci.yml'), 'job:\n  script: sh job.sh\n');
  await git(dir, ['add', '--all']);
  await git(dir, [...AUTHOR, 'commit', '--quiet', '--message', 'one']);
  await writeFile(join(folder, '.gitconfig'), '[core]\n  autocrlf = true\n');
  vi.stubEnv('HOME', folder);
  const repository = await readRepository(dir, undefined);
  const to = join(folder, 'checkout');
  const { signal } = new AbortController();
  await makeCheckout({ repository, to, takesWorkingTree: false, defaultBranch: 'main', originUrl: dir, signal });
  expect(await readFile(join(to, 'job.sh'), 'utf8')).toBe('echo one\necho two\n');
});
