import { execFile } from 'node:child_process';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { basic, send } from './client.ts';
import { type Platform, refusal, startPlatform } from './platform.ts';

/** A real file system of a few megabytes: what happens when it is full, or becomes read-only. */
const SIZE = '4m';
const CHUNK = Buffer.alloc(64 * 1024);

const run = promisify(execFile);
const folder = await mkdtemp(join(tmpdir(), 'terrarium disk '));
const obstacle = await mount();
if (obstacle) {
  console.warn(`the tests of a full and a read-only disk are skipped: ${obstacle}`);
  if (process.env.CI && process.getuid?.() === 0) throw new Error(`they have to run here: ${obstacle}`);
}

/** Mounts the small file system; resolves to the reason when that is not allowed here. */
async function mount(): Promise<string | undefined> {
  if (process.platform !== 'linux') return 'they mount a tmpfs, which takes Linux';
  const failure = (error: unknown) => String(error instanceof Error ? error.message : error).trim();
  return run('mount', ['-t', 'tmpfs', '-o', `size=${SIZE},mode=0700`, 'tmpfs', folder]).then(() => undefined, failure);
}

const remount = (option: 'ro' | 'rw') => run('mount', ['-o', `remount,${option}`, folder]);

/** Takes all the room that is left; gives back what frees it again. */
function fillUp(): () => void {
  const path = join(folder, 'filler');
  const file = openSync(path, 'w');
  try {
    for (let length = CHUNK.length; length >= 1; ) {
      try {
        writeSync(file, CHUNK, 0, length);
      } catch {
        length = Math.floor(length / 2);
      }
    }
  } finally {
    closeSync(file);
  }
  return () => rmSync(path);
}

let platform: Platform;
const start = async () => {
  platform = await startPlatform({
    data: join(folder, 'data'),
    rootApiKey: 'disk',
    rootApiSecret: 'test',
    publicGatewayUrl: 'http://gateway.example', // a gateway at another port each time would be written into the world
  });
};
const auth = basic('disk', 'test');
const meta = (method: string, path: string, body?: unknown) =>
  send(method, `${platform.emulator.metaUrl}${path}`, { auth, body });
const names = async (): Promise<string[]> =>
  (await meta('GET', '/orgs')).body.map(({ name }: { name: string }) => name);

beforeAll(async () => {
  if (!obstacle) await start();
});
afterAll(async () => {
  await platform?.stop();
  if (!obstacle) await run('umount', [folder]);
  await rm(folder, { recursive: true });
});

describe.skipIf(obstacle !== undefined)('on a small disk', () => {
  it('refuses writes with the reason when it is full, keeps what was acknowledged, and goes on when there is room', async () => {
    expect((await meta('POST', '/root', { name: 'before' })).status).toBe(201);
    const free = fillUp();
    const big = { name: 'refused', description: 'x'.repeat(100_000) };
    const refused = await meta('POST', '/root', big);
    expect(refused).toMatchObject(refusal(503));
    expect(refused.body.message).toMatch(/journal\.jsonl failed .*The disk is full: free some space, then repeat/);
    expect(await meta('GET', '/health')).toMatchObject({
      status: 503,
      body: { failed: [expect.stringContaining('full')] },
    });
    const { baseUrl } = platform.emulator;
    const snapshot = await send('POST', `${baseUrl}/inspect/snapshots`, { auth, body: { name: 'no-room' } });
    expect(snapshot).toMatchObject(refusal(503));
    expect(snapshot.body.message).toContain('The disk is full');
    expect(await names()).toEqual(['root', 'before']);

    free();
    expect((await meta('POST', '/root', { name: 'after' })).status).toBe(201);
    expect(await meta('GET', '/health')).toMatchObject({ status: 200 });
    await platform.stop();
    await start();
    expect(await names()).toEqual(['root', 'before', 'after']);
    expect((await send('GET', `${platform.emulator.baseUrl}/inspect/snapshots`, { auth })).body).toEqual([]);
  });

  it('refuses writes with the reason when it has become read-only, and goes on when it is writable again', async () => {
    await platform.stop();
    await start(); // so that no file is open for writing, which would keep the disk from becoming read-only
    await remount('ro');
    const refused = await meta('POST', '/root', { name: 'refused' });
    expect(refused).toMatchObject(refusal(503));
    expect(refused.body.message).toContain('The file system is read-only: make it writable');
    expect(await names()).toEqual(['root', 'before', 'after']);
    await remount('rw');
    expect((await meta('POST', '/root', { name: 'writable' })).status).toBe(201);
    await platform.stop();

    await remount('ro');
    await expect(start()).rejects.toThrow(/lock: cannot be written \(EROFS\)/);
    await remount('rw');
    await start();
    expect(await names()).toEqual(['root', 'before', 'after', 'writable']);
  });
});
