import { expect, it } from 'vitest';
import { linesIn } from './output.ts';

/** A piece of output as a daemon frames it. */
function frame(...parts: (string | Buffer)[]): Buffer {
  const content = Buffer.concat(parts.map((part) => Buffer.from(part)));
  const head = Buffer.alloc(8);
  head[0] = 1;
  head.writeUInt32BE(content.length, 4);
  return Buffer.concat([head, content]);
}

it('cuts a line that never ends into pieces, each with the time of the line', async () => {
  const middle = Array.from({ length: 100 }, () => frame('x'.repeat(10_000)));
  const lines = await linesIn([frame('2026-01-01T00:00:00.000Z start'), ...middle, frame('end\n')]);
  expect(lines.length).toBeGreaterThan(10);
  expect(lines.every(({ text }) => text.length <= 80_000)).toBe(true);
  expect(new Set(lines.map(({ atMs }) => atMs))).toEqual(new Set([Date.parse('2026-01-01T00:00:00.000Z')]));
  expect(lines.map(({ text }) => text).join('')).toBe(`start${'x'.repeat(1_000_000)}end`);
});

it('joins the pieces of a long line, and leaves out their time stamps', async () => {
  const pieces = ['ä'.repeat(8_191), 'ö'.repeat(8_192), '2026-01-01T00:00:00Z of the program\n'];
  const framed = pieces.map((text, index) => frame(`2026-01-01T00:00:0${index}.123456789Z `, text));
  const lines = await linesIn([...framed, frame('2026-01-01T00:00:09.000000000Z next\n')]);
  expect(lines.map(({ text }) => text)).toEqual([pieces.join('').trimEnd(), 'next']);
});

it('joins a character that the border of two pieces divides', async () => {
  const euro = Buffer.from('€');
  const stamp = '2026-01-01T00:00:00.000000001Z ';
  const framed = [frame(stamp, 'x', euro.subarray(0, 1)), frame(stamp, euro.subarray(1), 'y\n')];
  expect((await linesIn(framed)).map(({ text }) => text)).toEqual(['x€y']);
});
