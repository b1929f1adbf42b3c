import { once } from 'node:events';
import fs from 'node:fs';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { isAlive } from '../testing/is-alive.ts';
import { descendantsOf, killOrphans, killTree, OWN_GROUP, signalGroup } from './process-tree.ts';
import { type ChildProcess, startProgram } from './programs.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrarium-tree-'));
});
afterAll(() => rm(folder, { recursive: true }));

const started: { leader: ChildProcess; below: number[] }[] = [];
afterEach(() => {
  vi.unstubAllEnvs();
  for (const { leader, below } of started.splice(0)) {
    leader.kill('SIGKILL');
    for (const pid of below.filter(isAlive)) process.kill(pid, 'SIGKILL');
  }
});

const CHILD = "const c = require('child_process').spawn";
const OPTIONS = "{ detached: true, stdio: 'ignore', env: {} }";

/** A process with a child and a grandchild, each in a group of its own and with an empty environment. */
async function startTree(): Promise<{ leader: ChildProcess; below: number[] }> {
  const inner = `${CHILD}('sleep', ['600'], ${OPTIONS}); process.stdout.write(process.pid + ' ' + c.pid); setInterval(() => {}, 1e6)`;
  const outer = `${CHILD}(process.execPath, ['-e', ${JSON.stringify(inner)}], { detached: true, env: { PATH: process.env.PATH } });
    c.stdout.pipe(process.stdout); setInterval(() => {}, 1e6)`;
  const leader = startProgram(process.execPath, ['-e', outer], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: OWN_GROUP,
  });
  const [text] = await once(leader.stdout, 'data');
  const tree = { leader, below: String(text).split(' ').map(Number) };
  started.push(tree);
  return tree;
}

const waitUntilEnded = (pids: readonly number[]) =>
  vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]), { timeout: 60_000 });

describe.runIf(process.platform === 'linux').each(['linux', 'darwin', 'freebsd'] as const)('on %s', (system) => {
  it('lists what descends from a process', async () => {
    const { leader, below } = await startTree();
    expect((await descendantsOf([leader.pid ?? 0], system)).sort()).toEqual(below.sort());
    expect(await descendantsOf([below[1] ?? 0], system)).toEqual([]);
  });

  it('ends with a process what descends from it, without variables that show where it comes from', async () => {
    const { leader, below } = await startTree();
    await killTree(leader, system);
    await waitUntilEnded([leader.pid ?? 0, ...below]);
  });

  it('ends what a process had started that has ended', async () => {
    const { leader, below } = await startTree();
    leader.kill('SIGKILL');
    await waitUntilEnded([leader.pid ?? 0]);
    await killOrphans(below.slice(0, 1), system);
    await waitUntilEnded(below);
  });
});

it.runIf(process.platform === 'linux')('lists the processes of the machine once to end 50 orphans', async () => {
  const orphans = Array.from({ length: 50 }, () => startProgram('sleep', ['600'], { stdio: 'ignore', detached: true }));
  started.push(...orphans.map((leader) => ({ leader, below: [] })));
  const pids = orphans.map(({ pid }) => pid ?? 0);
  const list = vi.spyOn(fs, 'readdirSync');
  syncBuiltinESMExports();
  try {
    await killOrphans(pids, 'linux');
    expect(list.mock.calls.filter(([path]) => path === '/proc')).toHaveLength(1);
  } finally {
    list.mockRestore();
    syncBuiltinESMExports();
  }
  await waitUntilEnded(pids);
});

it('ends the process and its group where the parents of processes cannot be listed', async () => {
  const { leader } = await startTree();
  vi.stubEnv('PATH', folder);
  await killTree(leader, 'darwin');
  await waitUntilEnded([leader.pid ?? 0]);
});

it('ends a tree on Windows by its own program, and then the process itself', async () => {
  const { leader, below } = await startTree();
  const log = join(folder, 'taskkill.log');
  await writeFile(join(folder, 'taskkill'), `#!/bin/sh\necho "$@" >'${log}'\n`);
  await chmod(join(folder, 'taskkill'), 0o755);
  vi.stubEnv('PATH', `${folder}${delimiter}${process.env.PATH}`);
  await killOrphans([below[0] ?? 0], 'win32');
  expect(await readFile(log, 'utf8')).toBe(`/PID ${below[0]} /T /F\n`);
  await killTree(leader, 'win32');
  expect(await readFile(log, 'utf8')).toBe(`/PID ${leader.pid} /T /F\n`);
  await waitUntilEnded([leader.pid ?? 0]);
  expect(below.every(isAlive)).toBe(true);
});

it('sends no signal to the number of a process of Windows that has ended', async () => {
  const ended = startProgram('true', [], { stdio: 'ignore' });
  await once(ended, 'exit');
  const kill = vi.spyOn(process, 'kill');
  signalGroup(ended, 'SIGKILL', 'win32');
  expect(kill).not.toHaveBeenCalled();
  kill.mockRestore();
});
