import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { lifeOf, ownerHere, wasInMemory } from './owner.ts';
import { beginOf, lifeOfProcess } from './processes.ts';

let folder: string;
let other: ChildProcess;
const otherPid = () => other.pid ?? 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrarium-processes-'));
  other = spawn('sleep', ['600']);
  await once(other, 'spawn');
});
afterAll(async () => {
  other.kill('SIGKILL');
  await rm(folder, { recursive: true });
});

async function endedPid(): Promise<number> {
  const child = spawn('true');
  await once(child, 'exit');
  return child.pid ?? 0;
}

/** Puts a program in place of `ps`. */
async function putPs(script: string): Promise<void> {
  const bin = await mkdtemp(join(folder, 'bin-'));
  await writeFile(join(bin, 'ps'), `#!/bin/sh\n${script}\n`);
  await chmod(join(bin, 'ps'), 0o755);
  vi.stubEnv('PATH', bin);
}

// macOS is not available here. Its only difference is that the start time is read with `ps`, which Linux has as well.
describe.runIf(process.platform === 'linux')('a process of a system without /proc', () => {
  const system = 'darwin';
  const localOwner = () => ownerHere(undefined, process.pid, system);
  afterEach(() => vi.unstubAllEnvs());

  it('is alive, whatever the time zone and the language of the caller', async () => {
    vi.stubEnv('TZ', 'Asia/Tokyo');
    const began = await beginOf(otherPid(), system);
    expect(began).toMatch(/^\w{3} \w{3} +\d+ [\d:]{8} \d{4} UTC$/);
    vi.stubEnv('TZ', 'America/New_York');
    vi.stubEnv('LC_ALL', 'de_DE.UTF-8');
    expect(await lifeOfProcess(otherPid(), began, system)).toBe('lives');
    expect(await lifeOf(await localOwner(), system)).toBe('lives');
  });

  it('has ended when its id is not in use, or that of a process with another start time', async () => {
    expect(await lifeOfProcess(await endedPid(), await beginOf(process.pid, system), system)).toBe('gone');
    expect(await lifeOfProcess(otherPid(), 'Mon Jan  1 00:00:00 2001 UTC', system)).toBe('gone');
  });

  it.each([
    ['prints nothing', ''],
    ['prints spaces', 'echo "  "'],
    ['fails', 'exit 1'],
    ['is missing', undefined],
  ])('is unknown, and not ended, where ps %s', async (_how, script) => {
    const owner = { ...(await localOwner()), pid: otherPid(), began: await beginOf(otherPid(), system) };
    const ended = await endedPid();
    if (script === undefined) vi.stubEnv('PATH', folder);
    else await putPs(script);
    expect(await lifeOf(owner, system)).toBe('unknown');
    expect(await wasInMemory([owner], system)).toBe(false);
    expect(await lifeOf({ ...owner, pid: ended }, system)).toBe('gone');
  });

  it('is unknown where its begin was noted in the words of another version, or not at all', async () => {
    const owner = { ...(await localOwner()), pid: otherPid() };
    for (const began of ['Di 24 Nov 01:59:36 2026', '']) {
      expect(await lifeOf({ ...owner, began }, system)).toBe('unknown');
      expect(await wasInMemory([{ ...owner, began }], system)).toBe(false);
    }
  });
});

it('a process is unknown, and not ended, without a start time', async () => {
  expect(await lifeOfProcess(otherPid(), '')).toBe('unknown');
  expect(await lifeOfProcess(otherPid(), '1')).toBe('gone');
  expect(await lifeOfProcess(otherPid(), await beginOf(otherPid()))).toBe('lives');
});
