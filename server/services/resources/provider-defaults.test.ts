import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Platform, startPlatform } from '../../testing/platform.ts';
import type { Body } from '../../testing/tenant.ts';

let dir: string;
let platform: Platform;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'terrarium-defaults-'));
  // On disk, where a commit takes its time.
  platform = await startPlatform({ data: dir, fsync: 'always' });
});
afterAll(async () => {
  await platform?.stop();
  await rm(dir, { recursive: true, force: true });
});

describe('POST /root/providers/initialize by many at once (D-067, D-068)', () => {
  it('gives each the same defaults, created once', async () => {
    const { root } = platform;
    const initialize = () => root.post('/root/providers/initialize');
    const before: Body[] = (await initialize()).body.providers;
    for (const { id } of before) expect((await root.delete(`/root/providers/${id}?force=true`)).status).toBe(204);
    const replies = await Promise.all(Array.from({ length: 8 }, initialize));
    for (const { status, body } of replies) {
      expect(status).toBe(200);
      expect(body).toEqual({ status: 'initialized', providers: before });
    }
    const { body: listed } = await root.get('/root/providers');
    expect(listed.map((provider: Body) => provider.id).sort()).toEqual(before.map((provider) => provider.id).sort());
  });
});
