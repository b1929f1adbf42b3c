import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { beginOf } from '../../system/processes.ts';
import { testOptions } from '../../testing/small-world.ts';
import { lockFolder } from '../files/folder-lock.ts';
import { openStore } from './world-store.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'terrarium-lock-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

/** A running process, to be named by a lock. */
async function withProcess(use: (pid: number) => Promise<void>): Promise<number> {
  const child = spawn(process.execPath, ['-e', 'process.stdin.resume()'], { stdio: ['pipe', 'ignore', 'ignore'] });
  await once(child, 'spawn');
  const pid = child.pid ?? 0;
  try {
    await use(pid);
  } finally {
    child.stdin.end();
    await once(child, 'exit');
  }
  return pid;
}

test('a folder is locked once, and free again afterwards', async () => {
  const lock = await lockFolder(dir);
  expect(await readFile(join(dir, 'lock'), 'utf8')).toBe(`${process.pid}\n${await beginOf(process.pid)}\n`);
  await expect(lockFolder(dir)).rejects.toThrow(`is in use by process ${process.pid}`);
  lock.release();
  lock.release();
  expect(await readdir(dir)).toEqual([]);
  (await lockFolder(dir)).release();
});

test('the lock of a living process is respected, that of a dead one taken over', async () => {
  const lock = join(dir, 'lock');
  const pid = await withProcess(async (alive) => {
    await writeFile(lock, `${alive}\n`);
    await expect(lockFolder(dir)).rejects.toThrow(
      `${dir}: is in use by process ${alive}. Stop that process, or choose another data folder. ` +
        `If process ${alive} is not a Terrarium, or this folder is a copy of the one that it uses, delete ${lock} and start again.`,
    );
  });
  expect(await readFile(lock, 'utf8')).toBe(`${pid}\n`);
  const ownLock = await lockFolder(dir);
  expect(await readFile(lock, 'utf8')).toBe(`${process.pid}\n${await beginOf(process.pid)}\n`);
  ownLock.release();
});

test('the lock of a dead process whose id another process has now is taken over', async () => {
  await withProcess(async (pid) => {
    const began = await beginOf(pid);
    await writeFile(join(dir, 'lock'), `${pid}\n${began}\n`);
    await expect(lockFolder(dir)).rejects.toThrow(`is in use by process ${pid}`);
    const earlier = process.platform === 'linux' ? String(Number(began) - 1) : began.replace(/\d{4}/, '2001');
    for (const name of ['lock', 'lock.takeover']) await writeFile(join(dir, name), `${pid}\n${earlier}\n`);
    (await lockFolder(dir)).release();
  });
});

test('the lock of a platform in another thread of this process is respected until the thread ends', async () => {
  const lock = join(dir, 'lock');
  const holder = `const { openSync, writeFileSync } = require('node:fs');
    writeFileSync(${JSON.stringify(lock)}, ${JSON.stringify(`${process.pid}\n${await beginOf(process.pid)}\n`)});
    openSync(${JSON.stringify(lock)}, 'r');
    require('node:worker_threads').parentPort.on('message', () => {}).postMessage('locked');`;
  const thread = new Worker(holder, { eval: true });
  await once(thread, 'message');
  await expect(lockFolder(dir)).rejects.toThrow('Stop that platform');
  await thread.terminate();
  // Other systems do not show which files a process has open.
  if (process.platform === 'linux') (await lockFolder(dir)).release();
});

test("a lock with this process's id from before a restart is taken over", async () => {
  await writeFile(join(dir, 'lock'), `${process.pid}\n`);
  (await lockFolder(dir)).release();
});

test('a lock that a crash left empty is taken over', async () => {
  await writeFile(join(dir, 'lock'), '');
  (await lockFolder(dir)).release();
  expect(await readdir(dir)).toEqual([]);
});

test('of many who find a stale lock at once, one gets it', async () => {
  await writeFile(join(dir, 'lock'), `${await withProcess(async () => undefined)}\n`);
  const claims = await Promise.allSettled(Array.from({ length: 8 }, () => lockFolder(dir)));
  expect(claims.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});

test('a crash in the middle of taking over does not keep others out', async () => {
  const anonymous = `${await withProcess(async () => undefined)}\n`;
  for (const name of ['lock', 'lock.takeover']) await writeFile(join(dir, name), anonymous);
  const lock = await lockFolder(dir);
  expect(await readdir(dir)).toEqual(['lock']);
  lock.release();
});

test('two stores do not share a folder', async () => {
  const options = testOptions({ medium: { kind: 'folder', dir } });
  const store = await openStore(options);
  await expect(openStore(options)).rejects.toThrow('is in use');
  await store.close();
  await (await openStore(options)).close();
});

test('a store that cannot be opened does not keep its folder locked', async () => {
  await writeFile(join(dir, 'world.json'), 'no world');
  const options = testOptions({ medium: { kind: 'folder', dir } });
  await expect(openStore(options)).rejects.toThrow('world.json');
  expect(await readdir(dir)).toEqual(['world.json']);
});
