import { expect, it } from 'vitest';
import { NewestLines } from './newest-lines.ts';

it('lets the oldest lines go when they are too much, and says so', () => {
  const lines = new NewestLines();
  for (let at = 0; at < 100; at++) lines.add({ atMs: at, stream: 'stdout', text: `${at} ${'x'.repeat(200 * 1024)}` });
  const [note, ...keptLines] = lines.reportedLines();
  expect(note?.text).toBe('[terrarium] earlier lines are left out, because the log exceeds 8 MB');
  expect(keptLines.length).toBeGreaterThan(30);
  expect(keptLines.length).toBeLessThan(45);
  expect(keptLines.at(-1)?.atMs).toBe(99);
});

it('says nothing when all are there', () => {
  const lines = new NewestLines();
  lines.add({ atMs: 1, stream: 'stderr', text: 'a' });
  expect(lines.reportedLines()).toEqual([{ atMs: 1, stream: 'stderr', text: 'a' }]);
});

it('takes older lines only as far as they fit', () => {
  const lines = new NewestLines();
  const line = (atMs: number) => ({ atMs, stream: 'stdout' as const, text: 'x'.repeat(200 * 1024) });
  lines.add(line(100));
  lines.precede(Array.from({ length: 100 }, (_, atMs) => line(atMs)));
  const keptLines = lines.lines();
  expect(keptLines.length).toBeGreaterThan(30);
  expect(keptLines.length).toBeLessThan(45);
  expect(keptLines.slice(-2).map(({ atMs }) => atMs)).toEqual([99, 100]);
});
