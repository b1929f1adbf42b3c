import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { LogRings } from './log-rings.ts';
import { OutputLines } from './process/output-lines.ts';

const MIB = 1024 * 1024;
const line = (text: string) => ({ atMs: Date.now(), stream: 'stdout' as const, text });

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** The heap without what the tests of other files have left: some of it, as code that is no longer run, goes only after some rounds. */
function heapBytes(): number {
  for (let bytes = Number.POSITIVE_INFINITY; ; ) {
    collectGarbage();
    const { heapUsed } = process.memoryUsage();
    if (heapUsed > bytes - MIB / 100) return heapUsed;
    bytes = heapUsed;
  }
}

/** Memory that `fill` still uses while its result is referenced. */
function heldBytes(fill: () => unknown): number {
  const beforeBytes = heapBytes();
  const held = fill();
  const bytes = heapBytes() - beforeBytes;
  expect(held).toBeDefined();
  return bytes;
}

it('takes the memory that it counts, whatever the lines are like', () => {
  const kinds: [text: string, count: number][] = [
    ['x'.repeat(16 * 1024), 1_500],
    ['ü€'.repeat(500), 6_000],
    ['short', 12_000],
  ];
  for (const [text, lines] of kinds) {
    // Several, so that memory of other tests in this process makes little difference.
    const several = Array.from({ length: 8 }, () => new LogRings(10_000));
    const bytes = heldBytes(() => {
      for (const rings of several)
        for (let count = 0; count < lines; count += 1) rings.add('one', line(Buffer.from(text).toString()));
      return several;
    });
    const countedBytes = several.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    expect(bytes).toBeGreaterThan(0.6 * countedBytes);
    expect(bytes).toBeLessThan(1.4 * countedBytes + MIB);
    for (const { sizeBytes } of several) expect(sizeBytes).toBeLessThanOrEqual(8 * MIB);
  }
});

it('reads it from chunked output, too', () => {
  const rings = new LogRings(10_000);
  const output = new OutputLines(10_000, (stream, text) => {
    if (text.startsWith('keep')) rings.add('one', { atMs: 0, stream, text });
  });
  const chunk = Buffer.from([...Array(1000).fill('x'.repeat(63)), 'keep this one line of the chunk', ''].join('\n'));
  const bytes = heldBytes(() => {
    for (let count = 0; count < 1000; count += 1) {
      output.renew();
      output.take('stdout', chunk);
    }
    return rings;
  });
  expect(rings.of('one').lines()).toHaveLength(1000);
  expect(bytes).toBeLessThan(MIB);
});

it('is one budget over all lambdas', () => {
  const rings = new LogRings(10_000, 4 * MIB);
  const bytes = heldBytes(() => {
    for (let count = 0; count < 8_000; count += 1) rings.add(`lambda ${count % 100}`, line('x'.repeat(1000 + count)));
    return rings;
  });
  expect(rings.sizeBytes).toBeLessThanOrEqual(4 * MIB);
  expect(bytes).toBeLessThan(6 * MIB);
  for (let at = 0; at < 100; at += 1) expect(rings.of(`lambda ${at}`).lines().length).toBeGreaterThan(0);
});

it('leaves a quiet lambda all its lines, however much the others write', () => {
  const rings = new LogRings(10_000, MIB);
  for (let count = 0; count < 50; count += 1) rings.add('quiet', line(`line ${count}`));
  for (let count = 0; count < 10_000; count += 1) rings.add(`chatty ${count % 7}`, line('x'.repeat(2000)));
  expect(rings.of('quiet').lines()).toHaveLength(50);
  const sizes = Array.from({ length: 7 }, (_, at) => rings.of(`chatty ${at}`).sizeBytes);
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
