import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEmulator } from '../../platform/emulator.ts';
import { makeAccount, rootPairOf } from '../../testing/account.ts';
import { send } from '../../testing/checked-client.ts';
import { type Platform, refusal, startPlatform } from '../../testing/platform.ts';
import { folderSizes, partOfDataFolder } from './settings-routes.ts';

let folder: string;
let platform: Platform;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrarium settings '));
  platform = await startPlatform({ data: join(folder, 'data'), scmToken: 'not-for-anybody', limits: { logLines: 99 } });
});
afterAll(async () => {
  await platform?.stop();
  await rm(folder, { recursive: true });
});

const settingsOf = (url: string, auth: string) => send('GET', `${url}/inspect/settings`, { auth });

describe('GET {base_url}/inspect/settings', () => {
  it('shows the value and the source of each setting, and hides secrets', async () => {
    const { status, headers, body } = await settingsOf(platform.emulator.baseUrl, rootPairOf(platform));
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(JSON.stringify(body)).not.toContain('not-for-anybody');
    const named = (key: string) => body.settings.find((setting: { key: string }) => setting.key === key);
    expect(named('limits.logLines')).toMatchObject({
      value: 99,
      source: 'option',
      flag: '--limits-log-lines',
      env: 'TERRARIUM_LIMITS_LOG_LINES',
    });
    expect(named('scmToken')).toMatchObject({ value: '****', source: 'option', isSecret: true });
    expect(named('fsync')).toMatchObject({ value: 'batch', source: 'default', origin: 'default', isSecret: false });
    expect(named('publicBaseUrl').value).toBeNull();
    const { baseUrl, crmUrl } = platform.emulator;
    expect(body.addresses).toMatchObject({ baseUrl, crmUrl });
  });

  it('says where they came from when a command has read them', async () => {
    const origins = new Map([
      ['fsync', 'TERRARIUM_FSYNC'],
      ['basePort', '--base-port'],
      ['seed', 'terrarium.json'],
    ]);
    const emulator = await startEmulator({ seed: 'empty', containers: { engine: 'none' } }, { origins });
    const { apiKey, apiSecret = '' } = emulator.rootCredentials;
    const auth = `Basic ${Buffer.from(`${apiKey}:${apiSecret}`).toString('base64')}`;
    const { body } = await settingsOf(emulator.baseUrl, auth);
    const sources = Object.fromEntries(
      body.settings.map((setting: Record<string, string>) => [setting.key, setting.source]),
    );
    expect(sources).toMatchObject({ fsync: 'environment', basePort: 'flag', seed: 'file', host: 'default' });
    expect(body.folder).toBeUndefined();
    // Pipeline runs of all platforms leave their artifacts in one folder.
    const isSized = (entry: { part: string }) => entry.part !== 'artifacts' && 'sizeBytes' in entry;
    expect(body.stored.filter(isSized)).toEqual([]);
    await emulator.stop();
  });

  it('tells how much is kept, and how much may be', async () => {
    await platform.root.create('/root', { name: 'kept' });
    const rules = { auth: rootPairOf(platform), body: { rules: [] } };
    expect(await send('PUT', `${platform.emulator.baseUrl}/inspect/outbound`, rules)).toMatchObject({ status: 200 });
    const { body } = await settingsOf(platform.emulator.baseUrl, rootPairOf(platform));
    expect(body.folder).toBe(join(folder, 'data'));
    const part = (name: string) => body.stored.find((entry: { part: string }) => entry.part === name);
    expect(part('world')).toMatchObject({ files: 1, sizeBytes: expect.any(Number), items: expect.any(Number) });
    expect(part('history')).toMatchObject({ maxItems: 100_000, maxBytes: 256 * 1024 * 1024, files: 1 });
    expect(part('history').sizeBytes).toBeGreaterThan(100);
    // Two logs of leads share a row, and no log is among the other files.
    expect(part('leads')).toMatchObject({ items: 0, maxItems: 20_000, maxBytes: 128 * 1024 * 1024 });
    expect(part('registry')).toMatchObject({ maxBytes: 8192 * 1024 * 1024 });
    expect(part('artifacts')).toMatchObject({
      folder: expect.stringContaining('pipelines'),
      maxBytes: 4096 * 1024 * 1024,
    });
    expect(part('outbound')).toMatchObject({ items: 1, files: 1, sizeBytes: expect.any(Number) });
    for (const name of ['workbench', 'sync', 'servicePorts']) expect(part(name)).toMatchObject({ items: 0 });
    expect(part('credentials').sizeBytes).toBeGreaterThan(0);
    expect(body.memory.map((entry: { part: string }) => entry.part)).toEqual([
      'invocations',
      'requests',
      'records',
      'logs',
    ]);
    expect(body.isCut).toBe(false);
  });

  it('is for the root user only', async () => {
    const { bearer } = await makeAccount(platform, 'curious');
    expect(await settingsOf(platform.emulator.baseUrl, bearer)).toMatchObject(refusal(403));
    expect((await send('GET', `${platform.emulator.baseUrl}/inspect/settings`)).status).toBe(401);
  });
});

describe('sizes of a data folder', () => {
  it('are listed by purpose for any contents, and are empty without a folder', async () => {
    const dir = await mkdtemp(join(folder, 'sizes-'));
    await writeFile(join(dir, 'world.json'), '12345');
    await writeFile(join(dir, 'world.json.tmp'), '1');
    await writeFile(join(dir, 'whatever'), '123');
    await mkdir(join(dir, 'set-aside', '2026-11-01'), { recursive: true });
    await writeFile(join(dir, 'set-aside', '2026-11-01', 'world.json'), '1234');
    const { parts, isCut } = await folderSizes(dir, (name) => partOfDataFolder(name, () => undefined));
    expect(Object.fromEntries(parts)).toEqual({
      world: { files: 2, sizeBytes: 6 },
      other: { files: 1, sizeBytes: 3 },
      earlierWorlds: { files: 1, sizeBytes: 4 },
    });
    expect(isCut).toBe(false);
    expect((await folderSizes(join(dir, 'none'), () => 'other')).parts.size).toBe(0);
  });
});
