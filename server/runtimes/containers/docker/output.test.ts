import { expect, it } from 'vitest';
import { linesIn } from './output.ts';

/** A piece of output as a daemon frames it. */
function frame(text: string): Buffer {
  const head = Buffer.alloc(8);
  head[0] = 1;
  head.writeUInt32BE(Buffer.byteLength(text), 4);
  return Buffer.concat([head, Buffer.from(text)]);
}

it('cuts a line that never ends into pieces, each with the time of the line', async () => {
  const middle = Array.from({ length: 100 }, () => frame('x'.repeat(10_000)));
  const lines = await linesIn([frame('2026-01-01T00:00:00.000Z start'), ...middle, frame('end\n')]);
  expect(lines.length).toBeGreaterThan(10);
  expect(lines.every(({ text }) => text.length <= 80_000)).toBe(true);
  expect(new Set(lines.map(({ atMs }) => atMs))).toEqual(new Set([Date.parse('2026-01-01T00:00:00.000Z')]));
  expect(lines.map(({ text }) => text).join('')).toBe(`start${'x'.repeat(1_000_000)}end`);
});
