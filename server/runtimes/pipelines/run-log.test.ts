import { afterEach, expect, it, vi } from 'vitest';
import { RunLog } from './run-log.ts';

afterEach(() => vi.restoreAllMocks());

it.each([24, -24])('a job lasts as long as it lasted if the clock is set by %d hours meanwhile', (hours) => {
  const lines: string[] = [];
  const reportLine = (line: string) => void lines.push(line);
  const jobs = [{ name: 'build', stage: 'build', state: 'waiting' as const }];
  const log = new RunLog({ jobs, secrets: [], reportLine, report: async () => undefined });
  log.begin('build');
  const { now } = Date;
  vi.spyOn(Date, 'now').mockImplementation(() => now() + hours * 3_600_000);
  log.note('build', 'compiles');
  log.end();
  expect(log.elapsedMs('build')).toBeGreaterThanOrEqual(0);
  expect(log.elapsedMs('build')).toBeLessThan(3_600_000);
  expect(lines).toEqual([expect.stringMatching(/^\[\d\d:\d\d:\d\d +\d+(\.\d)? m?s\] build {2}compiles$/)]);
});
