import { styleText } from 'node:util';
import { expect, it } from 'vitest';
import { onOneLine, shownText } from './shown-text.ts';

const plain = { hasColour: false };
const coloured = { hasColour: true };
const esc = '\u001b';

it('what would act on a terminal is shown, line feeds and tabs are left', () => {
  expect(shownText(`a${esc}]0;title\u0007\r\b\u0000b\n\tc`, plain)).toBe(
    'a\\u001b]0;title\\u0007\\u000d\\u0008\\u0000b\n\tc',
  );
  expect(shownText('\u007f\u009b31m\u0085 \u202egnp\u2066\u200f\u2028', plain)).toBe(
    '\\u007f\\u009b31m\\u0085 \\u202egnp\\u2066\\u200f\\u2028',
  );
  expect(shownText('Grüße, 火, 👩‍🚀', plain)).toBe('Grüße, 火, 👩‍🚀');
});

it('JSON stays the same JSON', () => {
  const value = { name: `x${esc}[2J\u009b\u202e`, lines: ['a\nb'] };
  expect(JSON.parse(shownText(JSON.stringify(value, null, 2), coloured))).toEqual(value);
});

it('our own styles are let through where there is colour, nobody else’s sequences are', () => {
  for (const style of ['bold', 'dim', 'green'] as const) {
    const text = styleText(style, 'ready', { validateStream: false });
    expect(shownText(text, coloured)).toBe(text);
    expect(shownText(text, plain)).not.toContain(esc);
  }
  for (const sequence of ['[8m', '[31m', '[2J', '[1;1H', ']8;;http://x', '[0m', '']) {
    expect(shownText(`${esc}${sequence}x`, coloured)).not.toContain(esc);
  }
});

it('a line feed in a cell makes no second row', () => {
  expect(onOneLine('ada\nterrarium: all is well')).toBe('ada\\u000aterrarium: all is well');
});
