import { expect, it } from 'vitest';
import { addRun, comparable, type Run, runs } from './runs.ts';

const run = (result: Partial<Run['result']> = {}): Omit<Run, 'number'> => ({
  atMs: 0,
  event: '{}',
  code: 'exports.run = () => {}',
  result: {
    executionId: '1',
    lambdaId: 'one',
    durationMs: 5,
    cold: true,
    outcome: { ok: true, result: 'a' },
    logs: [],
    outbound: [],
    ...result,
  },
});

it('keeps the last dozen of each lambda, newest first, each with its number', () => {
  for (let count = 0; count < 15; count += 1) addRun('one', run());
  addRun('other', run());
  expect(runs.value.get('one')?.map(({ number }) => number)).toEqual([15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4]);
  expect(runs.value.get('other')).toHaveLength(1);
});

it('makes runs the same text that did the same at another time', () => {
  const call = { method: 'POST', url: 'https://x', status: 200 };
  const text = (at: string, durationMs: number, executionId: string) =>
    comparable({
      number: 1,
      ...run({
        executionId,
        durationMs,
        logs: [{ at, stream: 'stdout', text: 'hello' }],
        outbound: [{ ...call, durationMs }],
      }),
    });
  expect(text('2026-01-01T00:00:00Z', 3, 'a')).toBe(text('2026-02-02T00:00:00Z', 9, 'b'));
  expect(text('2026-01-01T00:00:00Z', 3, 'a')).toContain('hello');
});
