import { expect, it } from 'vitest';
import { LogRing } from './log-ring.ts';

const line = (text: string) => ({ atMs: 0, stream: 'stdout' as const, text });

it('a log keeps the newest lines, oldest first', () => {
  const ring = new LogRing(10);
  for (let count = 1; count <= 1_234; count += 1) {
    ring.add(line(String(count)));
    const oldest = Math.max(1, count - 9);
    expect(ring.lines().map(({ text }) => Number(text))).toEqual(
      Array.from({ length: count - oldest + 1 }, (_, index) => oldest + index),
    );
  }
});

it('a log of very long lines keeps fewer of them', () => {
  const ring = new LogRing(10_000);
  for (let count = 0; count < 2_000; count += 1) ring.add(line('x'.repeat(16 * 1024)));
  const characters = ring.lines().reduce((sum, { text }) => sum + text.length, 0);
  expect(characters).toBeLessThanOrEqual(8 * 1024 * 1024);
  expect(ring.lines().length).toBeGreaterThan(100);
});
