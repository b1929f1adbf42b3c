import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { FolderFiles } from '../../storage/files/folder-files.ts';
import { RecordLogs } from '../../storage/records/record-logs.ts';
import { ActivityLog } from './activity-log.ts';

const BOUNDS = { memoryBytes: 4 << 20, maxItems: 1_000, maxBytes: 64 << 20, maxDays: 7, onWarning: () => {} };
const ENGINE = { address: 'unix:///one', state: 'ready' };

it('what happened besides commits is known after a restart, and an engine that is as it was is no news', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'terrarium-activity-'));
  let [nowMs, changeCount] = [1_000, 0];
  const start = async () => {
    const files = await FolderFiles.open(dir);
    const logs = new RecordLogs({ ...BOUNDS, files, nowMs: () => nowMs });
    const activity = new ActivityLog(
      logs,
      () => nowMs,
      () => changeCount++,
    );
    await logs.open();
    return {
      activity,
      stop: async () => {
        await logs.stop();
        files.release();
      },
    };
  };
  const before = await start();
  before.activity.sawEngine(ENGINE);
  nowMs = 2_000;
  const deployment = { atMs: nowMs, durationMs: 1, target: '/deploy', image: 'web:7' };
  before.activity.sawDeployment('acme/web', 'main', deployment);
  await before.stop();

  const { activity, stop } = await start();
  changeCount = 0;
  activity.sawEngine(ENGINE);
  expect(changeCount).toBe(0);
  nowMs = 3_000;
  activity.sawEngine({ ...ENGINE, state: 'gone' });
  activity.sawEngine({ address: 'unix:///other', state: 'ready' });
  expect(changeCount).toBe(2);
  expect(activity.since(0).map(({ kind, text }) => `${kind} ${text}`)).toEqual([
    'engine container engine ready',
    'engine container engine gone',
    'deploy deployed: acme/web, main (web:7)',
    'engine container engine ready',
  ]);
  expect(activity.since(2_500)).toHaveLength(2);
  await stop();
  await rm(dir, { recursive: true });
});
