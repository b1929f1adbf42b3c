import { expect, it } from 'vitest';
import { LogRing, LogRings } from './log-rings.ts';

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

it('a cursor leads to each later line once, and tells when some of them are gone', () => {
  const ring = new LogRing(3);
  const start = ring.cursor;
  expect(ring.after(start)).toEqual({ lines: [], hasGap: false });
  for (const text of ['a', 'b', 'c']) ring.add(line(text));
  expect(ring.after(start)).toEqual({ lines: ['a', 'b', 'c'].map(line), hasGap: false });
  const middle = ring.cursor;
  ring.add(line('d'));
  expect(ring.after(middle)).toEqual({ lines: [line('d')], hasGap: false });
  expect(ring.after(start)).toEqual({ lines: ['b', 'c', 'd'].map(line), hasGap: true });
});

it("another log's cursor leads to all there is, and to a gap", () => {
  const ring = new LogRing(3);
  ring.add(line('a'));
  expect(ring.after(new LogRing(3).cursor)).toEqual({ lines: [line('a')], hasGap: true });
  for (const nonsense of ['', '7', 'x-7', `${ring.cursor}0000000000000000`]) {
    expect(() => ring.after(nonsense)).toThrow(/is not a valid cursor/);
  }
});

it('after all logs are forgotten, a log that was read has the lines of earlier runs again', () => {
  const rings = new LogRings(10, undefined, { add() {}, earlier: () => [line('of an earlier run')] });
  rings.wholeOf('one');
  rings.add('one', line('of this run'));
  rings.forgetAll();
  expect(rings.wholeOf('one').lines()).toEqual([line('of an earlier run')]);
});
