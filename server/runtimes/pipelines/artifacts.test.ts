import { existsSync } from 'node:fs';
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { artifactFiles, artifactsIn, dotenvOf, restoreCaches, saveCaches, uploadArtifacts } from './artifacts.ts';
import type { JobDefinition } from './definition-schema.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrarium-artifacts-'));
  // No program is needed.
  vi.stubEnv('PATH', folder);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

it('caches are copied with links, execution bits and times, over files that are read-only', async () => {
  const [workDir, dir, nextDir] = ['work', 'kept', 'next'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  await mkdir(join(workDir, 'out', 'bin'), { recursive: true });
  await writeFile(join(workDir, 'out', 'bin', 'tool'), 'one', { mode: 0o755 });
  await symlink('bin/tool', join(workDir, 'out', 'link'));
  await utimes(join(workDir, 'out', 'bin', 'tool'), 1_000, 1_000);
  await writeFile(join(workDir, 'out', 'read-only'), 'one', { mode: 0o444 });
  await writeFile(join(workDir, 'made'), 'one');
  await writeFile(join(workDir, 'committed'), 'one');
  const caches = [
    { key: 'k', paths: ['out/'] },
    { key: 'u', untracked: true },
  ];
  const cacheContext = {
    dir,
    checkoutDir: workDir,
    values: {},
    projectDir: '/builds/local/repo',
    tracked: new Set(['committed']),
  };
  await saveCaches(caches, { ...cacheContext, workDir }, true);
  await chmod(join(workDir, 'out', 'read-only'), 0o644);
  await writeFile(join(workDir, 'out', 'read-only'), 'two');
  await chmod(join(workDir, 'out', 'read-only'), 0o444);
  await saveCaches(caches, { ...cacheContext, workDir }, true);
  await restoreCaches(caches, { ...cacheContext, workDir: nextDir });
  const tool = await lstat(join(nextDir, 'out', 'bin', 'tool'));
  expect([tool.mode & 0o777, tool.mtimeMs]).toEqual([0o755, 1_000_000]);
  expect(await readlink(join(nextDir, 'out', 'link'))).toBe('bin/tool');
  expect(await readFile(join(nextDir, 'out', 'read-only'), 'utf8')).toBe('two');
  expect((await readdir(nextDir)).sort()).toEqual(['made', 'out']);
});

it('"cache": a job replaces the cache by what it has kept, and without such files leaves it as it is', async () => {
  const [workDir, dir, nextDir] = ['work', 'kept', 'next'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const caches = [{ key: 'k', paths: ['out/'] }];
  const cacheContext = {
    dir,
    checkoutDir: workDir,
    values: {},
    projectDir: '/builds/local/repo',
    tracked: new Set<string>(),
  };
  await mkdir(join(workDir, 'out'), { recursive: true });
  for (const name of ['kept', 'deleted']) await writeFile(join(workDir, 'out', name), name);
  await saveCaches(caches, { ...cacheContext, workDir }, true);
  await rm(join(workDir, 'out', 'deleted'));
  // Jobs of one run keep it at the same time.
  await Promise.all([1, 2, 3].map(() => saveCaches(caches, { ...cacheContext, workDir }, true)));
  await mkdir(join(nextDir, 'out'), { recursive: true });
  await writeFile(join(nextDir, 'out', 'committed'), '');
  await restoreCaches(caches, { ...cacheContext, workDir: nextDir });
  expect((await readdir(join(nextDir, 'out'))).sort()).toEqual(['committed', 'kept']);
  await rm(join(workDir, 'out'), { recursive: true });
  await saveCaches(caches, { ...cacheContext, workDir }, true);
  expect(await readdir(dir, { recursive: true })).toContainEqual(expect.stringContaining('kept'));
  expect(await readdir(dir)).toHaveLength(1);
});

it('paths below the project folder of a container match, and a cache path that matches no file is reported', async () => {
  const [workDir, dir, nextDir] = ['work', 'kept', 'next'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  await mkdir(join(workDir, 'deps'), { recursive: true });
  await writeFile(join(workDir, 'deps', 'file'), 'content');
  const projectDir = '/builds/local/repo';
  const cacheContext = {
    dir,
    checkoutDir: workDir,
    projectDir,
    values: { CI_PROJECT_DIR: projectDir },
    tracked: new Set<string>(),
  };
  const caches = [{ key: 'k', paths: ['$CI_PROJECT_DIR/deps/', 'absent/'] }];
  const notes = await saveCaches(caches, { ...cacheContext, workDir }, true);
  expect(notes).toEqual(['cache: no files match absent/']);
  await restoreCaches(caches, { ...cacheContext, workDir: nextDir });
  expect(await readFile(join(nextDir, 'deps', 'file'), 'utf8')).toBe('content');
});

it('the key of a cache follows the content of a file of the commit, below $CI_PROJECT_DIR', async () => {
  const [workDir, checkoutDir] = [join(folder, 'work'), join(folder, 'checkout')];
  await mkdir(workDir, { recursive: true });
  await mkdir(checkoutDir);
  const projectDir = '/builds/local/repo';
  const values = { CI_PROJECT_DIR: projectDir };
  const tracked = new Set<string>();
  const cacheContext = { dir: join(folder, 'kept'), checkoutDir, projectDir, values, tracked, workDir };
  const caches = [{ key: { files: ['$CI_PROJECT_DIR/lock'] }, paths: ['deps'] }];
  await writeFile(join(checkoutDir, 'lock'), 'first');
  await writeFile(join(workDir, 'lock'), 'changed by the job');
  await writeFile(join(workDir, 'deps'), 'of the first lock');
  await saveCaches(caches, cacheContext, true);
  await rm(join(workDir, 'deps'));
  await writeFile(join(checkoutDir, 'lock'), 'second');
  await restoreCaches(caches, cacheContext);
  await expect(readFile(join(workDir, 'deps'))).rejects.toThrow('ENOENT');
  await writeFile(join(checkoutDir, 'lock'), 'first');
  await restoreCaches(caches, cacheContext);
  expect(await readFile(join(workDir, 'deps'), 'utf8')).toBe('of the first lock');
});

it('"cache": protected and other branches share one only with `unprotect`', async () => {
  const workDir = join(folder, 'work');
  await mkdir(workDir, { recursive: true });
  const context = {
    dir: join(folder, 'kept'),
    checkoutDir: workDir,
    projectDir: '/p',
    workDir,
    tracked: new Set<string>(),
  };
  const onProtected = { ...context, values: { CI_COMMIT_REF_PROTECTED: 'true' } };
  const onOther = { ...context, values: { CI_COMMIT_REF_PROTECTED: 'false' } };
  for (const unprotect of [false, true]) {
    const caches = [{ key: 'k', paths: ['deps'], unprotect }];
    await writeFile(join(workDir, 'deps'), 'of the default branch');
    await saveCaches(caches, onProtected, true);
    await rm(join(workDir, 'deps'));
    await restoreCaches(caches, onOther);
    expect(existsSync(join(workDir, 'deps'))).toBe(unprotect);
    await restoreCaches(caches, onProtected);
    expect(await readFile(join(workDir, 'deps'), 'utf8')).toBe('of the default branch');
  }
});

describe('artifacts of a job', () => {
  /** Stores the artifacts of a job with these files. */
  async function upload(
    files: Readonly<Record<string, string>>,
    artifacts: JobDefinition['artifacts'],
    note: (text: string) => void = () => undefined,
  ) {
    const [workDir, runDir] = [join(folder, 'work'), join(folder, 'run')];
    const store = { runDir, storedDir: join(folder, 'stored') };
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(workDir, path)), { recursive: true });
      await writeFile(join(workDir, path), text);
    }
    const definition = { stage: 'build', variables: {}, artifacts };
    const context = {
      workDir,
      projectDir: '/builds/a',
      values: {},
      tracked: new Set<string>(),
      isSuccess: true,
      store,
      note,
    };
    const { fault } = await uploadArtifacts({ name: 'a', definition }, context);
    return { fault, store, files: (await artifactFiles(artifactsIn(store, 'a'))).map(({ path }) => path) };
  }

  it('notes missing files also if a report cannot be read', async () => {
    await mkdir(join(folder, 'work'));
    await symlink('none', join(folder, 'work', 'v.env'));
    const notes: string[] = [];
    const artifacts = { paths: ['dist/'], reports: { dotenv: ['v.env'] } };
    await expect(upload({}, artifacts, (text) => notes.push(text))).rejects.toMatchObject({ code: 'ENOENT' });
    expect(notes).toEqual(['artifacts: no files match dist/']);
  });

  it('"artifacts:exclude": does not mean what is below a folder', async () => {
    const files = { 'dist/app': '', 'dist/secret/key': '', 'dist/deep/b.o': '', 'dist/a.o': '' };
    expect((await upload(files, { paths: ['dist/'], exclude: ['dist/secret/', 'dist/*.o'] })).files).toEqual([
      'dist/app',
      'dist/deep/b.o',
      'dist/secret/key',
    ]);
    await rm(join(folder, 'run'), { recursive: true });
    const { files: fewer } = await upload({}, { paths: ['dist/'], exclude: ['dist/secret/**/*', 'dist/**/*.o'] });
    expect(fewer).toEqual(['dist/app']);
  });

  it('"artifacts:reports:dotenv": values are as written, with their quotes', async () => {
    const text = 'URL="http://a"\r\nB = c=d \nEMPTY=\n1A=x';
    const { store, fault } = await upload({ 'v.env': text }, { reports: { dotenv: ['v.env'] } });
    expect(fault).toBeUndefined();
    expect(await dotenvOf(['a'], store)).toEqual({ URL: '"http://a"', B: 'c=d', EMPTY: '', '1A': 'x' });
  });

  it.each([
    ['a comment', 'A=1\n# text\n', 2],
    ['an empty line', 'A=1\n\nB=2\n', 2],
    ['no value', 'A\n', 1],
    ['`export`', 'export A=1\n', 1],
    ['a name with a hyphen', 'A-B=1\n', 1],
  ])('"artifacts:reports:dotenv": %s is an error with its line', async (_title, text, line) => {
    const { store, fault } = await upload({ 'v.env': text }, { reports: { dotenv: ['v.env'] } });
    expect(fault).toBe(
      `line ${line} of the dotenv report v.env is not NAME=value; comments and empty lines are not allowed`,
    );
    expect(await dotenvOf(['a'], store)).toEqual({});
  });
});
