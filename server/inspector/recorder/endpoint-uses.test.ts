import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { FolderFiles } from '../../storage/files/folder-files.ts';
import { RecordLogs } from '../../storage/records/record-logs.ts';
import { TestGateway, text } from '../../testing/gateway.ts';
import { endpointUses } from './endpoint-uses.ts';
import { Recorder } from './recorder.ts';

const BOUNDS = { memoryBytes: 4 << 20, maxItems: 1_000, maxBytes: 64 << 20, maxDays: 7, onWarning: () => {} };

it('counts the recorded requests of each endpoint, also those of an earlier run, and reports its last response and limit', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'terrarium-endpoints-'));
  const start = async () => {
    const files = await FolderFiles.open(dir);
    const logs = new RecordLogs({ ...BOUNDS, files, nowMs: Date.now });
    const recorder = new Recorder(logs);
    await logs.open();
    const stop = async () => {
      await logs.stop();
      files.release();
    };
    return { recorder, stop };
  };
  const gateway = await new TestGateway().start();
  const web = gateway.api('web');
  const called = gateway.endpoint(
    web,
    gateway.lambda(() => text('in'), { public: true }),
    { resource: '/a' },
  );
  const limited = gateway.endpoint(
    web,
    gateway.lambda(() => text('in'), { public: true }),
    { resource: '/b' },
  );
  const unused = gateway.endpoint(
    web,
    gateway.lambda(() => text('in'), { public: true }),
    { resource: '/c' },
  );
  const first = await start();
  for (const path of ['/web/a', '/web/a', '/web/missing']) {
    const traffic = gateway.nextExchange();
    await gateway.send('GET', path);
    first.recorder.addExchange(await traffic);
  }
  await first.stop();
  const second = await start();
  const limits = [{ endpointId: limited.id, perMinute: 5, used: 0, endsAtMs: undefined }];
  expect(endpointUses(second.recorder, [called, limited, unused], limits)).toEqual([
    { id: called.id, total: 2, last: { at: expect.any(String), status: 200 } },
    { id: limited.id, total: 0, limit: { perMinute: 5, used: 0 } },
  ]);
  await second.stop();
  await gateway.stop();
  await rm(dir, { recursive: true });
});
