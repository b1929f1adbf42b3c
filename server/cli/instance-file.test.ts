import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { beginOf } from '../system/processes.ts';
import { isCertain } from './instance-file.ts';

it('a process is the platform of a folder only by its id, its start time and its world, all three (D-219)', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'instance-'));
  onTestFinished(() => rm(dataDir, { recursive: true }));
  await writeFile(join(dataDir, 'world.json'), JSON.stringify({ id: 'world' }));
  const began = await beginOf(process.pid);
  const isThis = (change: object) =>
    isCertain({ pid: process.pid, began, worldId: 'world', dataDir, ...change } as Parameters<typeof isCertain>[0]); // the rest is not read
  expect(await isThis({})).toBe(true);
  expect(await isThis({ pid: process.ppid })).toBe(false);
  expect(await isThis({ began: '1' })).toBe(false);
  expect(await isThis({ worldId: 'another' })).toBe(false);
});
