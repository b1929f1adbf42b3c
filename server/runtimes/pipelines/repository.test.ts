import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { commitsOf, findRef, readRepository } from './repository.ts';

let dir: string;
const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@localhost', ...args], { cwd: dir });
const commitOn = async (branch: string) => {
  git('init', '--quiet', `--initial-branch=${branch}`);
  await writeFile(join(dir, '.gitlab-ci.yml'), 'job: {script: "true"}\n');
  git('add', '.');
  git('commit', '--quiet', '-m', 'first');
};

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'terrarium-repository-'));
  vi.stubEnv('GIT_CONFIG_GLOBAL', join(dir, '.git', 'global'));
  vi.stubEnv('GIT_CONFIG_NOSYSTEM', '1');
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(dir, { recursive: true });
});

it('reads the project path from the remote, and ignores a remote that has no valid path', async () => {
  await commitOn('main');
  git('remote', 'add', 'origin', 'x');
  const paths: Record<string, string | undefined> = {};
  const pathsByUrl = {
    'https://host/group/shop.git': 'group/shop',
    'ssh://git@host:2222/group/sub.group/web/shop.git/': 'group/sub.group/web/shop',
    'git@host:group/web/shop.git': 'group/web/shop',
    // Of a folder, the ones above are no groups.
    '/srv/git/group/shop.git': 'group/shop',
    '../shop.git': undefined,
    '/tmp/my files/shop': undefined,
  };
  for (const url of Object.keys(pathsByUrl)) {
    git('remote', 'set-url', 'origin', url);
    paths[url] = (await readRepository(dir, undefined)).originPath;
  }
  expect(paths).toEqual(pathsByUrl);
});

it("takes the default branch from origin/HEAD, then from git's configuration, then from the only branch, then from the usual names", async () => {
  const defaultBranch = async () => (await readRepository(dir, undefined)).defaultBranch;
  await commitOn('master');
  expect(await defaultBranch()).toBe('master');
  git('config', 'init.defaultBranch', 'absent');
  expect(await defaultBranch()).toBe('master');
  git('switch', '--quiet', '-c', 'feature/a');
  expect(await defaultBranch()).toBe('master');
  git('config', 'init.defaultBranch', 'feature/a');
  expect(await defaultBranch()).toBe('feature/a');
  git('update-ref', 'refs/remotes/origin/release/next', 'HEAD');
  git('symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/release/next');
  expect(await defaultBranch()).toBe('release/next');
});

it('takes the branch that is checked out as the default branch before the first push if several have no usual name, and main if none is', async () => {
  await commitOn('trunk');
  git('remote', 'add', 'origin', 'https://host/group/shop.git');
  git('branch', 'feature/a');
  expect((await readRepository(dir, undefined)).defaultBranch).toBe('trunk');
  expect((await readRepository(dir, 'feature/a')).defaultBranch).toBe('trunk');
  git('switch', '--quiet', '--detach');
  expect((await readRepository(dir, 'feature/a')).defaultBranch).toBe('main');
  git('branch', '-D', 'feature/a');
  expect((await readRepository(dir, 'trunk')).defaultBranch).toBe('trunk');
  git('branch', 'main');
  expect((await readRepository(dir, 'trunk')).defaultBranch).toBe('main');
});

it('takes the only branch as the default branch before the first push, but main in a clone of one branch without origin/HEAD', async () => {
  await commitOn('trunk');
  git('remote', 'add', 'origin', 'https://host/group/shop.git');
  const beforeFirstPush = await readRepository(dir, undefined);
  expect(beforeFirstPush.defaultBranch).toBe('trunk');
  git('update-ref', 'refs/remotes/origin/trunk', 'HEAD');
  expect((await readRepository(dir, undefined)).defaultBranch).toBe('main');
});

it('finds commits in the order of their names, also beside names that lead to none', async () => {
  await commitOn('main');
  git('tag', '-a', 'v1', '-m', 'first');
  const sha = git('rev-parse', 'HEAD').toString().trim();
  const names = ['absent', 'HEAD', 'HEAD\nHEAD', '', 'refs/tags/v1', 'HEAD:.gitlab-ci.yml'];
  expect(await commitsOf(dir, names)).toEqual([undefined, sha, undefined, undefined, sha, undefined]);
  expect([await findRef(dir, 'main'), await findRef(dir, 'v1'), await findRef(dir, 'v2')]).toEqual([
    { sha },
    { sha, isTag: true },
    undefined,
  ]);
});
