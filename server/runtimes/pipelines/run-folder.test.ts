import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ownerHere } from '../../system/owner.ts';
import { beginOf } from '../../system/processes.ts';
import { removeAbandoned } from '../../system/temporary.ts';
import { canBeOtherUser, runAsOtherUser } from '../../testing/other-user.ts';
import { startPlatform } from '../../testing/platform.ts';
import { restoreCaches, saveCaches, storeRunArtifacts } from './artifacts.ts';
import { storageRoot, sweepLeftovers, sweepStored } from './run-folder.ts';

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

describe('what runs store for later ones', () => {
  const DAY_MS = 24 * 3_600_000;
  const storage = () => storageRoot() ?? '';
  /** Stores a file of 1 kB for each path, last used before a number of days, in a project's folder that is older. */
  async function store(ages: Readonly<Record<string, number>>): Promise<void> {
    for (const [path, days] of Object.entries(ages)) {
      const item = join(storage(), path);
      await mkdir(item, { recursive: true });
      await writeFile(join(item, 'file'), 'x'.repeat(1024));
      const usedAt = new Date(Date.now() - days * DAY_MS);
      await utimes(item, usedAt, usedAt);
    }
    const old = new Date(Date.now() - 30 * DAY_MS);
    for (const project of await readdir(storage())) await utimes(join(storage(), project), old, old);
  }
  const stored = async () => {
    const entries = await readdir(storage(), { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile());
    return files.map(({ parentPath }) => relative(storage(), parentPath)).sort();
  };

  it('is removed seven days after its last use, whatever the age of its project', async () => {
    await store({ 'shop/artifacts/a': 8, 'shop/artifacts/b': 1, 'shop/cache/c': 6, 'shop/cache/d': 9 });
    await sweepLeftovers(async () => {});
    expect(await stored()).toEqual(['shop/artifacts/b', 'shop/cache/c']);
  });

  it('is removed above the size limit, the oldest of all projects first', async () => {
    await store({ 'shop/artifacts/a': 3, 'shop/cache/c': 1, 'blog/artifacts/b': 2, 'blog/cache/d': 4 });
    await sweepStored(2_500);
    expect(await stored()).toEqual(['blog/artifacts/b', 'shop/cache/c']);
  });

  it('is in use when a job restores a cache, and when a run stores artifacts of its commit again', async () => {
    await store({ 'shop/artifacts/sha': 6, 'shop/cache/other': 6 });
    const caches = [{ key: 'deps', paths: ['deps'] }];
    const workDir = join(folder, 'work');
    await mkdir(join(workDir, 'deps'), { recursive: true });
    await writeFile(join(workDir, 'deps', 'file'), '');
    const context = {
      dir: join(storage(), 'shop', 'cache'),
      checkoutDir: workDir,
      workDir,
      projectDir: workDir,
      values: {},
      tracked: new Set<string>(),
    };
    await saveCaches(caches, context, true);
    const [cache = ''] = (await readdir(context.dir)).filter((name) => name !== 'other');
    const old = new Date(Date.now() - 8 * DAY_MS);
    await utimes(join(context.dir, cache), old, old);
    await restoreCaches(caches, context);
    const runDir = join(folder, 'run');
    await mkdir(runDir);
    await storeRunArtifacts({ runDir, storedDir: join(storage(), 'shop', 'artifacts', 'sha') });
    await sweepStored(Number.POSITIVE_INFINITY);
    await store({});
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 2 * DAY_MS);
    await sweepStored(Number.POSITIVE_INFINITY);
    vi.restoreAllMocks();
    expect(await stored()).toEqual(['shop/artifacts/sha', join('shop/cache', cache, 'deps')]);
  });

  it('is removed when a platform starts, within its limit', async () => {
    await store({ 'shop/artifacts/a': 8, 'shop/artifacts/b': 2, 'shop/artifacts/c': 1 });
    for (const name of ['b', 'c']) {
      await writeFile(join(storage(), 'shop/artifacts', name, 'file'), Buffer.alloc(700 * 1024));
    }
    const platform = await startPlatform({ limits: { artifactMegabytes: 1 } });
    try {
      await expect.poll(stored).toEqual(['shop/artifacts/c']);
    } finally {
      await platform.stop();
    }
  });
});
