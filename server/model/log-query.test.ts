import { describe, expect, it } from 'vitest';
import { PlatformError } from './errors.ts';
import { type LogParameters, parseLogQuery, selectLines } from './log-query.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const lines = Array.from({ length: 1_500 }, (_, index) => ({
  atMs: NOW - (1_500 - index) * 1_000,
  stream: index % 2 === 0 ? ('stdout' as const) : ('stderr' as const),
  text: `line ${index}`,
}));
const select = (parameters: LogParameters) =>
  selectLines(lines, parseLogQuery(parameters, NOW)).map(({ text }) => text);

describe('a log query (D-191)', () => {
  it('gives the newest 1,000 lines, newest last, when it asks for no time', () => {
    expect(select({})).toHaveLength(1_000);
    expect(select({}).at(-1)).toBe('line 1499');
  });

  it.each([
    ['10s', 10],
    ['2m', 120],
    ['1h', 1_500],
    ['1d', 1_500],
    ['0s', 0],
    ['all', 1_500],
    ['2026-03-01T11:59:50Z', 10],
    ['2026-03-01T12:59:50+01:00', 10],
    ['2026-03-01T11:59:50', 10],
    ['2026-03-01', 1_500],
  ])('with time %s gives %i lines', (time, count) => {
    expect(select({ time })).toHaveLength(count);
  });

  it('leaves out standard error on request', () => {
    expect(select({ time: '10s', stderr: 'false' })).toEqual([1490, 1492, 1494, 1496, 1498].map((n) => `line ${n}`));
    expect(select({ time: '10s', stderr: 'true' })).toHaveLength(10);
  });

  it.each([
    { time: '' },
    { time: '5' },
    { time: '-5m' },
    { time: '5w' },
    { time: '1.5h' },
    { time: 'yesterday' },
    { time: '2026-13-01' },
    { time: 'ALL' },
    { stderr: 'no' },
    { stderr: '' },
  ])('is a 400 for %j', (parameters) => {
    expect(() => select(parameters)).toThrow(PlatformError);
  });
});
