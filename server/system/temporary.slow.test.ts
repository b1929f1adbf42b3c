import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { canBeOtherUser, runAsOtherUser } from '../testing/other-user.ts';
import { ownerHere, sharesFolders } from './owner.ts';
import { makeTemporary, removeAbandoned, sharedTemporary } from './temporary.ts';
import { writeWhole } from './write-whole.ts';

let system: string;
beforeEach(async () => {
  system = await mkdtemp(join(tmpdir(), 'shared-'));
  await chmod(system, 0o1777);
  vi.stubEnv('TMPDIR', system);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(system, { recursive: true, maxRetries: 3 });
});

/** Makes and removes temporary folders, as platforms do that start and stop. */
const MAKE_AND_REMOVE = `
  const { mkdtempSync, rmdirSync } = require('node:fs');
  process.stdout.write('started');
  for (;;) rmdirSync(mkdtempSync(process.argv[1] + '/terrarium-tmp-'));
`;

async function endedPid(): Promise<number> {
  const ended = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
  await once(ended, 'exit');
  return ended.pid ?? 0;
}

describe('a temporary folder', () => {
  it('is private', async () => {
    const folder = await makeTemporary('import');
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
  });

  it('of a process that was killed is removed at the next start, whatever it was for', async () => {
    const localOwner = await ownerHere(undefined);
    for (const kind of ['import', 'sample', 'log', 'tmp']) {
      const folder = await makeTemporary(kind);
      await writeFile(join(folder, 'owner.json'), JSON.stringify({ ...localOwner, pid: await endedPid() }));
    }
    const living = await makeTemporary('import');
    await removeAbandoned();
    expect((await readdir(system)).map((name) => join(system, name))).toEqual([living]);
  });

  it('of an earlier boot is removed if it is certain that this machine made it', async () => {
    const owner = { ...(await ownerHere(undefined)), boot: 'an earlier one' };
    const folder = await makeTemporary('import');
    await writeFile(join(folder, 'owner.json'), JSON.stringify(owner));
    const other = await makeTemporary('import');
    await writeFile(join(other, 'owner.json'), JSON.stringify({ ...owner, machine: 'another one' }));
    await removeAbandoned();
    const remainingFolders = (await readdir(system)).map((name) => join(system, name));
    expect(remainingFolders.sort()).toEqual(sharesFolders(owner) ? [other] : [folder, other].sort());
  });

  it('may be removed by its process while another one looks for those left behind', async () => {
    const otherProcess = spawn(process.execPath, ['-e', MAKE_AND_REMOVE, system], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void otherProcess.kill());
    await once(otherProcess.stdout, 'data');
    for (let count = 0; count < 5_000; count += 1) await removeAbandoned();
  });

  it('is not removed through a link', async () => {
    const linkedFolder = join(system, 'mine');
    await mkdir(linkedFolder, { mode: 0o700 });
    await writeFile(
      join(linkedFolder, 'owner.json'),
      JSON.stringify({ ...(await ownerHere(undefined)), pid: await endedPid() }),
    );
    await symlink(linkedFolder, join(system, 'terrarium-import-link'));
    await removeAbandoned();
    expect(await readdir(linkedFolder)).toEqual(['owner.json']);
  });
});

describe.runIf(process.platform !== 'win32')('a folder that all processes of a user share', () => {
  it('is the same at each call, and private', async () => {
    const folder = sharedTemporary('pipelines') ?? '';
    expect(sharedTemporary('pipelines')).toBe(folder);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
  });

  it('is created again if others could have written to it', async () => {
    const folder = sharedTemporary('pipelines') ?? '';
    await writeFile(join(folder, 'cache'), 'of another user');
    await chmod(folder, 0o777);
    expect(sharedTemporary('pipelines')).toBe(folder);
    expect(await readdir(folder)).toEqual([]);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
  });

  it.runIf(canBeOtherUser)('is not used if another user has created it, as a folder or as a link', async () => {
    const folder = sharedTemporary('pipelines') ?? '';
    await rm(folder, { recursive: true });
    await runAsOtherUser('fs.mkdirSync(process.argv[1])', folder);
    expect(sharedTemporary('pipelines')).toBeUndefined();
    await rm(folder, { recursive: true });
    const ownFolder = join(system, 'own');
    await mkdir(ownFolder, { mode: 0o700 });
    await runAsOtherUser('fs.symlinkSync(process.argv[1], process.argv[2])', ownFolder, folder);
    expect(sharedTemporary('pipelines')).toBeUndefined();
    expect(await readdir(system)).toContain('own');
  });
});

it.runIf(canBeOtherUser)('a file is not written through a link of another user', async () => {
  const file = join(system, 'ready.json');
  const ownFile = join(system, 'own');
  await writeFile(ownFile, 'mine');
  await runAsOtherUser('fs.symlinkSync(process.argv[1], process.argv[2])', ownFile, `${file}.${process.pid}.tmp`);
  await writeWhole(file, 'new');
  expect((await stat(ownFile)).size).toBe('mine'.length);
});
