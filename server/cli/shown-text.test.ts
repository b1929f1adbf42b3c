import { styleText } from 'node:util';
import { expect, it } from 'vitest';
import { onOneLine, toTextView } from './terminal.ts';

const plain = { hasColour: false };
const coloured = { hasColour: true };
const esc = '\u001b';

it('control characters are escaped, except line feeds and tabs', () => {
  expect(toTextView(`a${esc}]0;title\u0007\r\b\u0000b\n\tc`, plain)).toBe(
    'a\\u001b]0;title\\u0007\\u000d\\u0008\\u0000b\n\tc',
  );
  expect(toTextView('\u007f\u009b31m\u0085 \u202egnp\u2066\u200f\u2028', plain)).toBe(
    '\\u007f\\u009b31m\\u0085 \\u202egnp\\u2066\\u200f\\u2028',
  );
  expect(toTextView('Grüße, 火, 👩‍🚀', plain)).toBe('Grüße, 火, 👩‍🚀');
});

it('escaped JSON parses to the same value', () => {
  const value = { name: `x${esc}[2J\u009b\u202e`, lines: ['a\nb'] };
  expect(JSON.parse(toTextView(JSON.stringify(value, null, 2), coloured))).toEqual(value);
});

it('the styles of `styled` and other colors of the text are kept on a terminal with colors, all other sequences are escaped', () => {
  for (const style of ['bold', 'dim', 'green', 'red', 'yellow', 'cyan'] as const) {
    const text = styleText(style, 'ready', { validateStream: false });
    expect(toTextView(text, coloured)).toBe(text);
    expect(toTextView(text, plain)).not.toContain(esc);
  }
  for (const sequence of ['[8m', '[30m', '[41m', '[1;8m', '[2J', '[1;1H', ']8;;http://x', '']) {
    expect(toTextView(`${esc}${sequence}x`, coloured)).not.toContain(esc);
  }
});

it('a line feed in a cell is escaped', () => {
  expect(onOneLine('ada\nterrarium: all is well')).toBe('ada\\u000aterrarium: all is well');
});
