import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { requireEngine, testImage } from '../server/testing/engine.ts';
import { type Platform, startPlatform } from '../server/testing/platform.ts';

let platform: Platform;
let folder: string;
let image: string;
const docker = async (...args: string[]) => {
  const env = { ...process.env, DOCKER_CONFIG: folder };
  const { stdout, stderr } = await promisify(execFile)('docker', args, { env });
  return `${stdout}${stderr}`.trim();
};
const logIn = (password = platform.emulator.scmToken) =>
  docker('login', '--username', 'oauth2', '--password', password, registry());
const registry = () => new URL(platform.emulator.scmUrl).host;
const errorOf = async (path: string, init: RequestInit = {}) => {
  const headers = { authorization: `Bearer ${platform.emulator.scmToken}`, ...init.headers };
  const response = await fetch(`${platform.emulator.scmUrl}/v2/${path}`, { ...init, headers });
  const text = await response.text();
  return { status: response.status, text, location: response.headers.get('location') ?? '' };
};

beforeAll(async () => {
  await requireEngine();
  await testImage();
  folder = await mkdtemp(join(tmpdir(), 'terrarium registry '));
  platform = await startPlatform({ seed: 'demo', limits: { registryMegabytes: 4 } });
  image = `${registry()}/fern-moss/shop/web:1`;
});
afterAll(async () => {
  await docker('image', 'rm', '--force', image).catch(() => undefined);
  await platform?.stop();
  await rm(folder, { recursive: true, force: true });
});

it('takes what docker pushes, and gives it back to everybody on this machine', async () => {
  await docker('tag', 'terrarium-test/busybox:1', image);
  await expect(docker('push', image)).rejects.toThrow(/denied|unauthorized|permission/i);
  await expect(logIn('wrong')).rejects.toThrow(/unauthorized|401/i);
  expect(await logIn()).toContain('Login Succeeded');
  expect(await docker('push', image)).toMatch(/1: digest: sha256:[0-9a-f]{64}/);
  expect(JSON.parse((await errorOf('fern-moss/shop/web/tags/list')).text)).toEqual({
    name: 'fern-moss/shop/web',
    tags: ['1'],
  });
  await docker('logout', registry());
  await docker('image', 'rm', image);
  expect(await docker('pull', image)).toContain('Downloaded newer image');
  expect(await docker('run', '--rm', image, 'echo', 'from the registry')).toBe('from the registry');
});

it('refuses what is damaged, unknown, of another project or too much', async () => {
  const uploadStart = await errorOf('fern-moss/shop/blobs/uploads/', { method: 'POST' });
  expect(uploadStart.status).toBe(202);
  const wrong = `sha256:${'0'.repeat(64)}`;
  const path = uploadStart.location.replace('/v2/', '');
  expect(await errorOf(`${path}?digest=${wrong}`, { method: 'PUT', body: 'damaged' })).toMatchObject({
    status: 400,
    text: expect.stringContaining('DIGEST_INVALID'),
  });
  expect((await errorOf(path)).status).toBe(404);
  expect((await errorOf(`fern-moss/shop/blobs/${wrong}`)).status).toBe(404);
  expect((await errorOf('fern-moss/shop/manifests/..%2F..%2Fscm-token.json')).status).toBe(400);
  expect((await errorOf('fern-moss/shop/manifests/none')).text).toContain('MANIFEST_UNKNOWN');

  const next = await errorOf('fern-moss/shop/blobs/uploads/', { method: 'POST' });
  const large = await errorOf(next.location.replace('/v2/', ''), { method: 'PATCH', body: Buffer.alloc(5_000_000) });
  expect(large).toMatchObject({ status: 507, text: expect.stringContaining('is full: its limit is 4 MB') });
  // A rejected upload takes no space.
  expect((await errorOf(next.location.replace('/v2/', ''))).status).toBe(404);
  const again = await errorOf('fern-moss/shop/blobs/uploads/', { method: 'POST' });
  const small = await errorOf(again.location.replace('/v2/', ''), { method: 'PATCH', body: Buffer.alloc(500_000) });
  expect(small.status).toBe(202);
});
