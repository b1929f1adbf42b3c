import { expect, it } from 'vitest';
import { LogRings } from './log-rings.ts';
import { OutputLines } from './process/in-flight-calls.ts';

const MIB = 1024 * 1024;
const line = (text: string) => ({ atMs: Date.now(), stream: 'stdout' as const, text });

it('keeps at most 8 MiB of one lambda, whatever its lines are like', () => {
  const kinds: [text: string, count: number][] = [
    ['x'.repeat(16 * 1024), 1_500],
    ['ü€'.repeat(500), 6_000],
    ['short', 12_000],
  ];
  for (const [text, count] of kinds) {
    const rings = new LogRings(10_000);
    for (let added = 0; added < count; added += 1) rings.add('one', line(text));
    expect(rings.sizeBytes).toBeLessThanOrEqual(8 * MIB);
    expect(rings.ringOf('one').lines().at(-1)?.text).toBe(text);
  }
});

it('counts only the kept lines of output that comes in chunks', () => {
  const rings = new LogRings(10_000);
  const output = new OutputLines(10_000, (stream, text) => {
    if (text.startsWith('keep')) rings.add('one', { atMs: 0, stream, text });
  });
  const chunk = Buffer.from([...Array(1000).fill('x'.repeat(63)), 'keep this one line of the chunk', ''].join('\n'));
  for (let count = 0; count < 1000; count += 1) {
    output.renew();
    output.take('stdout', chunk);
  }
  expect(rings.ringOf('one').lines()).toHaveLength(1000);
  expect(rings.sizeBytes).toBeLessThan(MIB);
});

it('is one budget over all lambdas', () => {
  const rings = new LogRings(10_000, 4 * MIB);
  for (let count = 0; count < 8_000; count += 1) rings.add(`lambda ${count % 100}`, line('x'.repeat(1000 + count)));
  expect(rings.sizeBytes).toBeLessThanOrEqual(4 * MIB);
  for (let at = 0; at < 100; at += 1) expect(rings.ringOf(`lambda ${at}`).lines().length).toBeGreaterThan(0);
});

it('leaves a quiet lambda all its lines, however much the others write', () => {
  const rings = new LogRings(10_000, MIB);
  for (let count = 0; count < 50; count += 1) rings.add('quiet', line(`line ${count}`));
  for (let count = 0; count < 10_000; count += 1) rings.add(`chatty ${count % 7}`, line('x'.repeat(2000)));
  expect(rings.ringOf('quiet').lines()).toHaveLength(50);
  const sizes = Array.from({ length: 7 }, (_, at) => rings.ringOf(`chatty ${at}`).sizeBytes);
  expect(Math.max(...sizes)).toBeLessThan(1.5 * Math.min(...sizes));
  expect(rings.sizeBytes).toBeLessThanOrEqual(MIB);
});

it('returns the memory of a deleted lambda', () => {
  const rings = new LogRings(10_000);
  rings.add('one', line('x'.repeat(1000)));
  rings.forget('one');
  rings.forget('never there');
  expect(rings.sizeBytes).toBe(0);
});
