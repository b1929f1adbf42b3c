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
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { restoreCaches, saveCaches } from './artifacts.ts';

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
  const cacheContext = { dir, values: {}, projectDir: '/builds/local/repo', tracked: new Set(['committed']) };
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
  const cacheContext = { dir, values: {}, projectDir: '/builds/local/repo', tracked: new Set<string>() };
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
  const cacheContext = { dir, projectDir, values: { CI_PROJECT_DIR: projectDir }, tracked: new Set<string>() };
  const caches = [{ key: 'k', paths: ['$CI_PROJECT_DIR/deps/', 'absent/'] }];
  const notes = await saveCaches(caches, { ...cacheContext, workDir }, true);
  expect(notes).toEqual(['cache: no files match absent/']);
  await restoreCaches(caches, { ...cacheContext, workDir: nextDir });
  expect(await readFile(join(nextDir, 'deps', 'file'), 'utf8')).toBe('content');
});

it('the key of a cache follows the content of a file below $CI_PROJECT_DIR', async () => {
  const workDir = join(folder, 'work');
  await mkdir(workDir, { recursive: true });
  const projectDir = '/builds/local/repo';
  const values = { CI_PROJECT_DIR: projectDir };
  const cacheContext = { dir: join(folder, 'kept'), projectDir, values, tracked: new Set<string>(), workDir };
  const caches = [{ key: { files: ['$CI_PROJECT_DIR/lock'] }, paths: ['deps'] }];
  await writeFile(join(workDir, 'lock'), 'first');
  await writeFile(join(workDir, 'deps'), 'of the first lock');
  await saveCaches(caches, cacheContext, true);
  await rm(join(workDir, 'deps'));
  await writeFile(join(workDir, 'lock'), 'second');
  await restoreCaches(caches, cacheContext);
  await expect(readFile(join(workDir, 'deps'))).rejects.toThrow('ENOENT');
  await writeFile(join(workDir, 'lock'), 'first');
  await restoreCaches(caches, cacheContext);
  expect(await readFile(join(workDir, 'deps'), 'utf8')).toBe('of the first lock');
});
