import { expect, it } from 'vitest';
import { NewestLines } from './newest-lines.ts';

it('lets the oldest lines go when they are too much, and says so', () => {
  const lines = new NewestLines();
  for (let at = 0; at < 100; at++) lines.add({ atMs: at, stream: 'stdout', text: `${at} ${'x'.repeat(200 * 1024)}` });
  const [note, ...kept] = lines.told();
  expect(note?.text).toBe('[terrarium] lines before this one are left out: together they are more than 8 MB');
  expect(kept.length).toBeGreaterThan(30);
  expect(kept.length).toBeLessThan(45);
  expect(kept.at(-1)?.atMs).toBe(99);
});

it('says nothing when all are there', () => {
  const lines = new NewestLines();
  lines.add({ atMs: 1, stream: 'stderr', text: 'a' });
  expect(lines.told()).toEqual([{ atMs: 1, stream: 'stderr', text: 'a' }]);
});
