import { expect, it } from 'vitest';
import { OutputLines } from './in-flight-calls.ts';

function collect(limitLines: number) {
  const lines: string[] = [];
  const output = new OutputLines(limitLines, (stream, text) =>
    lines.push(`${stream === 'stdout' ? 'o' : 'e'}:${text}`),
  );
  return { lines, output };
}

it('lines are put together from pieces, each stream for itself, characters never torn', () => {
  const { lines, output } = collect(100);
  const bytes = Buffer.from('grüße\r\n\nzwei');
  for (const byte of bytes) {
    output.take('stdout', Buffer.from([byte]));
    output.take('stderr', Buffer.from([byte]));
  }
  expect(lines).toEqual(['o:grüße', 'e:grüße', 'o:', 'e:']);
  output.flush();
  expect(lines.slice(4)).toEqual(['o:zwei', 'e:zwei']);
  output.flush();
  expect(lines).toHaveLength(6);
});

it('a line that never ends is cut into pieces', () => {
  const { lines, output } = collect(100);
  output.take('stdout', Buffer.alloc(100_000, 'x'));
  output.flush();
  expect(lines.map((line) => line.length - 2)).toEqual([16384, 16384, 16384, 16384, 16384, 16384, 1696]);
});

it('output over the budget is dropped, once with a word about it, until the budget is renewed', () => {
  const { lines, output } = collect(3);
  output.take('stdout', Buffer.from('1\n2\n3\n4\n5\n'));
  output.take('stdout', Buffer.from('6\n'));
  output.flush();
  expect(lines.slice(0, 3)).toEqual(['o:1', 'o:2', 'o:3']);
  expect(lines.slice(3)).toEqual([expect.stringContaining('output cut here')]);
  output.renew();
  output.take('stderr', Buffer.from('again\n'));
  expect(lines.at(-1)).toBe('e:again');
});

it('a flood of bytes counts against the budget like a flood of lines', () => {
  const { lines, output } = collect(1_000_000);
  for (let count = 0; count < 1_000; count += 1) output.take('stdout', Buffer.alloc(64 * 1024, 'x'));
  expect(output.isOverBudget).toBe(true);
  expect(lines.join('').length).toBeLessThan(1_100_000);
});
