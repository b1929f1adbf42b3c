import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { basic, send } from '../testing/checked-client.ts';
import { startPlatform } from '../testing/platform.ts';

const KEY = { rootApiKey: 'records', rootApiSecret: 'test' };
const auth = basic('records', 'test');

let data = '';
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'terrarium-recording-'));
});
afterEach(() => rm(data, { recursive: true }));

describe('a platform that cannot record in files', () => {
  it('reports it in /health, /about and the status of the window until recording in files works again', async () => {
    const file = join(data, 'records');
    await writeFile(file, '');
    const platform = await startPlatform({ data, ...KEY });
    try {
      const { metaUrl, baseUrl } = platform.emulator;
      const health = () => send('GET', `${metaUrl}/health`);
      const failed = [expect.stringMatching(/recorded in memory only.*not a directory/)];
      expect(await health()).toMatchObject({ status: 503, body: { status: 'unhealthy', failed } });
      expect((await send('GET', `${metaUrl}/about`)).body).toMatchObject({ status: 'unhealthy' });
      expect((await send('GET', `${baseUrl}/inspect/status`, { auth })).body).toMatchObject({
        store: { isHealthy: true },
        failed,
      });
      expect((await send('POST', `${metaUrl}/root`, { auth, body: { name: 'acme' } })).status).toBe(201);
      await rm(file);
      await mkdir(file);
      await expect.poll(async () => (await health()).status).toBe(200);
      expect((await send('GET', `${baseUrl}/inspect/status`, { auth })).body.failed).toEqual([]);
    } finally {
      await platform.stop();
    }
  });

  it('starts and stays healthy where a folder is in place of a file of records', async () => {
    await mkdir(join(data, 'records', 'requests-000000000000000.bin'), { recursive: true });
    const platform = await startPlatform({ data, ...KEY });
    try {
      expect(platform.warnings).toEqual([expect.stringMatching(/cannot be read.*was moved to/)]);
      expect((await send('GET', `${platform.emulator.metaUrl}/health`)).status).toBe(200);
    } finally {
      await platform.stop();
    }
  });
});
