import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ownerHere } from '../../system/owner.ts';
import { beginOf } from '../../system/processes.ts';
import { removeAbandoned } from '../../system/temporary.ts';
import { canBeOtherUser, runAsOtherUser } from '../../testing/other-user.ts';
import { sweepLeftovers } from './run-folder.ts';

let folder: string;
let other: ChildProcess;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrarium-sweep-'));
  vi.stubEnv('TMPDIR', folder);
  other = spawn('sleep', ['600']);
  await once(other, 'spawn');
});
afterEach(async () => {
  vi.unstubAllEnvs();
  other.kill('SIGKILL');
  await rm(folder, { recursive: true });
});

/** Contents of the folder for temporary files, without what runs share. */
const names = async () => (await readdir(folder)).filter((name) => !name.includes('pipelines-of')).sort();

describe.runIf(process.platform === 'linux')('the folders of earlier runs', () => {
  it('are removed when their process has ended, and left when it runs or may run', async () => {
    const ended = spawn('true');
    await once(ended, 'exit');
    const pid = other.pid ?? 0;
    const localOwner = await ownerHere(undefined);
    const owners = {
      ended: { ...localOwner, pid: ended.pid, began: '' },
      reused: { ...localOwner, pid, began: '1' },
      runs: { ...localOwner, pid, began: await beginOf(pid) },
      unknown: { ...localOwner, pid, began: '' },
    };
    for (const [name, owner] of Object.entries(owners)) {
      const path = join(folder, `terrarium-pipeline-${name}`);
      await mkdir(path, { mode: 0o700 });
      await writeFile(join(path, 'owner.json'), JSON.stringify({ ...owner, baseUrl: `http://localhost/${name}` }));
    }
    // A platform that starts has no access to what such a run has left on its own platform.
    await removeAbandoned();
    const givenBack: string[] = [];
    await sweepLeftovers(async ({ baseUrl }) => void givenBack.push(baseUrl));
    expect(await names()).toEqual(['terrarium-pipeline-runs', 'terrarium-pipeline-unknown']);
    expect(givenBack.sort()).toEqual(['http://localhost/ended', 'http://localhost/reused']);
  });

  it('are left alone behind a link, and no command is run that is named there', async () => {
    const ended = spawn('true');
    await once(ended, 'exit');
    const owner = { ...(await ownerHere(undefined)), pid: ended.pid, baseUrl: 'http://localhost' };
    const ownFolder = join(folder, 'mine');
    await mkdir(ownFolder, { mode: 0o700 });
    await writeFile(join(ownFolder, 'owner.json'), JSON.stringify(owner));
    await symlink(ownFolder, join(folder, 'terrarium-pipeline-link'));
    const path = join(folder, 'terrarium-pipeline-command');
    const [command, evidence] = [join(folder, 'command'), join(folder, 'evidence')];
    await writeFile(command, `#!/bin/sh\ntouch '${evidence}'\n`, { mode: 0o755 });
    await mkdir(path, { mode: 0o700 });
    await writeFile(join(path, 'owner.json'), JSON.stringify({ ...owner, engine: command }));
    await sweepLeftovers(async () => {});
    expect(await names()).toEqual(['command', 'mine', 'terrarium-pipeline-link']);
    expect(await readdir(ownFolder)).toEqual(['owner.json']);
  });

  it.runIf(canBeOtherUser)('are left alone if they are of another user', async () => {
    await chmod(folder, 0o1777);
    const path = join(folder, 'terrarium-pipeline-other');
    const owner = JSON.stringify({ ...(await ownerHere(undefined)), pid: 2 ** 22, baseUrl: 'http://localhost' });
    const script = `fs.mkdirSync(process.argv[1]); fs.writeFileSync(process.argv[1] + '/owner.json', process.argv[2])`;
    await runAsOtherUser(script, path, owner);
    const givenBack: string[] = [];
    await sweepLeftovers(async ({ baseUrl }) => void givenBack.push(baseUrl));
    expect([givenBack, await names()]).toEqual([[], ['terrarium-pipeline-other']]);
  });
});
