import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Json } from '../../model/json.ts';
import { type TextFormat, textOf } from './seed-text.ts';

/** Parts of texts that YAML folds, trims or takes for its own syntax. */
const PIECES = [
  ...[' ', '  ', '\t', '\n', '\n\n', '\r', '\r\n', '\u0085', '\u2028', '\u2029', '\ufeff', '\u00a0', '\0', '\x7f'],
  ...[
    'a',
    'é',
    'x'.repeat(100),
    '- ',
    '? ',
    ': ',
    ', ',
    ' #',
    '|',
    '>',
    '[',
    '{',
    "'",
    '"',
    '\\',
    '%',
    '@',
    '&',
    '*',
    '!',
  ],
];

const readers: Record<TextFormat, (text: string) => unknown> = {
  yaml: (text) => parse(text, { stringKeys: true }),
  json: JSON.parse,
};

/** Writes a text as a value and as a key, at the top, in lists and two levels down, and reads all of it again. */
function writeAndRead(text: string, format: TextFormat) {
  const members: [string, Json][] = [
    [text, { name: text }],
    [`other ${text}`, [{ first: text, [text]: '' }, [text, text]]],
  ];
  const expected = { [text]: text, nested: { [text]: Object.fromEntries(members) } };
  return { expected, document: readers[format](textOf(expected, format)) };
}

describe.each(['yaml', 'json'] as const)('the text of a seed in %s', (format) => {
  it('keeps each kind of white space, line break and syntax character at the beginning, in the middle and at the end', () => {
    for (const piece of PIECES) {
      for (const text of [piece, `${piece}a`, `a${piece}`, `a${piece}b`, `${piece}\n`, `\n${piece}`]) {
        const { document, expected } = writeAndRead(text, format);
        expect(document, JSON.stringify(text)).toEqual(expected);
      }
    }
  });

  it('keeps any sequence of white space, line breaks and syntax characters', () => {
    const texts = fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(texts, (text) => {
        const { document, expected } = writeAndRead(text, format);
        expect(document).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });
});

it('a seed in YAML has no character but the line feed that some reader takes for a line break', () => {
  const text = 'a\r\u0085\u2028\u2029\ufeff\nb';
  const written = textOf({ [text]: text }, 'yaml');
  expect(written).not.toMatch(/[\r\u0085\u2028\u2029\ufeff]/);
  expect(parse(written, { stringKeys: true })).toEqual({ [text]: text });
});
