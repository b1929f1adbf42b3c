import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ownerHere } from '../../../system/owner.ts';
import { TemporaryFolders } from './lambda-code.ts';

let system: string;
beforeEach(async () => {
  system = await mkdtemp(path.join(tmpdir(), 't-'));
});
afterEach(() => rm(system, { recursive: true, force: true }));

it('is short where the temporary folder of the system is not', async () => {
  const long = path.join(system, 'x'.repeat(60));
  await mkdir(long);
  const folders = new TemporaryFolders(() => {}, system, long);
  await folders.clear();
  const folder = folders.provide('a');
  expect(folder).toMatch(/^\/tmp\/.{1,55}$/);
  await folders.stop();
  expect(existsSync(path.dirname(folder))).toBe(false);
});

it('is removed at the next start when its process has gone, and nothing else is', async () => {
  const ended = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
  await once(ended, 'exit');
  const localOwner = await ownerHere(undefined);
  const owners = {
    gone: { ...localOwner, pid: ended.pid },
    living: localOwner,
    elsewhere: { ...localOwner, pids: 'pid:[1]', pid: 1 },
  };
  for (const [name, owner] of Object.entries(owners)) {
    await mkdir(path.join(system, `terrarium-tmp-${name}`, '1'), { recursive: true });
    await chmod(path.join(system, `terrarium-tmp-${name}`), 0o700);
    await writeFile(path.join(system, `terrarium-tmp-${name}`, 'owner.json'), JSON.stringify(owner));
  }
  await mkdir(path.join(system, 'terrarium-tmp-without'));
  await writeFile(path.join(system, 'terrarium-tmp-file'), '');
  await new TemporaryFolders(() => {}, system, system).clear();
  expect((await readdir(system)).sort()).toEqual(
    ['elsewhere', 'file', 'living', 'without'].map((name) => `terrarium-tmp-${name}`),
  );
});

it('is made again when something has removed it', async () => {
  const folders = new TemporaryFolders(() => {}, system, system);
  await folders.clear();
  const folder = folders.provide('a');
  await rm(path.dirname(folder), { recursive: true });
  expect(folders.provide('a')).toBe(folder);
  expect(existsSync(folder)).toBe(true);
});

it('is in the data folder where the folder of the system cannot be written', async () => {
  const folders = new TemporaryFolders(() => {}, system, path.join(system, 'missing'));
  await folders.clear();
  const folder = folders.provide('a');
  expect(path.dirname(path.dirname(folder))).toBe(system);
  await folders.stop();
  expect(await readdir(system)).toEqual([]);
});
