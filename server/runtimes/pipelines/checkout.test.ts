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

/** A repository with these files, committed, and its checkout. */
async function checkOut(
  files: Readonly<Record<string, string>>,
  prepare = async (_dir: string): Promise<unknown> => undefined,
  branch?: string,
  changeLater = async (_dir: string): Promise<unknown> => undefined,
) {
  const dir = join(folder, 'repository');
  await git(folder, ['init', '--quiet', '--initial-branch', 'main', dir]);
  const all = { ...files, '.gitlab-ci.yml': 'job:\n  script: sh job.sh\n' };
  for (const [name, content] of Object.entries(all)) await writeFile(join(dir, name), content);
  await git(dir, ['add', '--all']);
  await git(dir, [...AUTHOR, 'commit', '--quiet', '--message', 'one']);
  await prepare(dir);
  const repository = await readRepository(dir, branch);
  await changeLater(dir);
  const to = join(folder, 'checkout');
  const { signal } = new AbortController();
  return makeCheckout({ repository, to, takesWorkingTree: false, defaultBranch: 'main', originUrl: dir, signal });
}

it('has the lines as committed, also where git is configured to end them as Windows does', async () => {
  await writeFile(join(folder, '.gitconfig'), '[core]\n  autocrlf = true\n');
  const { dir } = await checkOut({ 'job.sh': 'echo one\necho two\n' }, async () => vi.stubEnv('HOME', folder));
  expect(await readFile(join(dir, 'job.sh'), 'utf8')).toBe('echo one\necho two\n');
});

it('names files and submodules as they are written, and finds the commit before', async () => {
  const { files, submodules, baseSha, defaultSha, sha } = await checkOut({ 'für alle.txt': 'a\n' }, async (dir) => {
    const entry = `160000,${await git(dir, ['rev-parse', 'HEAD'])},größe "1"`;
    await git(dir, ['update-index', '--add', '--cacheinfo', entry]);
    await git(dir, [...AUTHOR, 'commit', '--quiet', '--message', 'two']);
  });
  expect(files.sort()).toEqual(['.gitlab-ci.yml', 'für alle.txt', 'größe "1"']);
  expect(submodules).toEqual(['größe "1"']);
  expect(defaultSha).toBe(sha);
  expect(baseSha).toBe(await git(join(folder, 'repository'), ['rev-parse', 'HEAD~1']));
});

it.each([
  [undefined, /^v1-1-g/, undefined],
  ['v1', /^v1$/, 'Release notes\n\n- first'],
  ['light', /^v1-1-g/, ''],
])('"git describe" finds annotated tags, as on GitLab, in the pipeline of %s', async (ref, version, message) => {
  const addTags = async (dir: string) => {
    await git(dir, [...AUTHOR, 'tag', '--annotate', 'v1', '--message', 'Release notes\n\n- first']);
    await git(dir, [...AUTHOR, 'commit', '--quiet', '--allow-empty', '--message', 'two']);
    await git(dir, ['tag', 'light']);
  };
  const { dir, commit } = await checkOut({}, addTags, ref);
  expect(await git(dir, ['describe'])).toMatch(version);
  expect(commit.tagMessage).toBe(message);
  expect(await git(dir, ['for-each-ref', '--format=%(refname)', 'refs/remotes'])).toBe('refs/remotes/origin/main');
});

it('a tag that was moved to the newest commit is at the commit of its run', async () => {
  const addTag = (dir: string) => git(dir, ['tag', 'v1']);
  const moveTag = async (dir: string) => {
    await git(dir, [...AUTHOR, 'commit', '--quiet', '--allow-empty', '--message', 'two']);
    await git(dir, ['tag', '--force', 'v1']);
  };
  const { dir, sha } = await checkOut({}, addTag, 'v1', moveTag);
  expect(await git(dir, ['rev-parse', 'v1', 'HEAD'])).toBe(`${sha}\n${sha}`);
  expect(sha).toBe(await git(join(folder, 'repository'), ['rev-parse', 'HEAD~1']));
});
