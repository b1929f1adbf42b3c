import fc from 'fast-check';
import { expect, it } from 'vitest';
import { partsOf, wantedTexts } from './marked-text.tsx';

it('finds what a query looks for, with and without fields and quotation marks', () => {
  expect(wantedTexts('  Ada company:Engines "of the  world" email:"a \\"b" -name:bob ')).toEqual([
    'ada',
    'engines',
    'of the world',
    'a "b',
  ]);
  expect(wantedTexts('')).toEqual([]);
  expect(wantedTexts('"no end')).toEqual([]);
});

it('marks every place in any letter case, the longer word first', () => {
  expect(partsOf('Ada, ADAM', ['ada', 'adam'])).toEqual([
    { at: 0, part: 'Ada', isWanted: true },
    { at: 3, part: ', ', isWanted: false },
    { at: 5, part: 'ADAM', isWanted: true },
  ]);
});

it('never changes the text', () => {
  fc.assert(
    fc.property(fc.string(), fc.array(fc.string({ minLength: 1, maxLength: 3 })), (text, wanted) => {
      expect(
        partsOf(text, wanted)
          .map(({ part }) => part)
          .join(''),
      ).toBe(text);
    }),
  );
});
