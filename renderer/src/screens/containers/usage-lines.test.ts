import { expect, it } from 'vitest';
import { usageLines } from './usage-lines.ts';

const used = (instanceId: string, receivedBytes: number) => ({
  instanceId,
  cpus: 0.125,
  memoryBytes: 5,
  memoryLimitBytes: 10,
  receivedBytes,
  sentBytes: 0,
});

it('makes a line for each instance of now, with bytes as bytes a second', () => {
  const lines = usageLines([
    { atMs: 0, instances: [used('old', 0), used('a', 100)] },
    { atMs: 2_000, instances: [used('a', 300), used('b', 7)] },
    { atMs: 3_000, instances: [used('a', 300), used('b', 7)] },
  ]);
  expect(lines.map(({ instanceId }) => instanceId)).toEqual(['a', 'b']);
  expect(lines[0]).toMatchObject({ cpuPercent: [12.5, 12.5, 12.5], receivedPerS: [100, 0], memoryLimitBytes: 10 });
  expect(lines[1]?.receivedPerS).toEqual([0]);
});

it('has no lines for what does not run', () => {
  expect(usageLines([])).toEqual([]);
  expect(usageLines([{ atMs: 0, instances: [] }])).toEqual([]);
});
