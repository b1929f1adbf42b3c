import fc from 'fast-check';
import { expect, it } from 'vitest';
import { partsOf } from '../../components/log-expression.ts';
import { finderOf, wantedTexts } from './marked.tsx';

it('finds matches of a query, with and without fields and quotation marks', () => {
  expect(wantedTexts('  Ada company:Engines "of the  world" email:"a \\"b" -name:bob ')).toEqual([
    'ada',
    'engines',
    'of the world',
    'a "b',
  ]);
  expect(wantedTexts('')).toEqual([]);
  expect(wantedTexts('"no end')).toEqual([]);
});

const partsWith = (text: string, searchTexts: readonly string[]) => partsOf(text, finderOf(searchTexts) ?? /^\b$/g);

it('marks every place in any letter case, the longer word first', () => {
  expect(partsWith('Ada, ADAM', ['ada', 'adam'])).toEqual([
    { at: 0, text: 'Ada', isFound: true },
    { at: 3, text: ', ', isFound: false },
    { at: 5, text: 'ADAM', isFound: true },
  ]);
  expect(partsWith('1+1 = 2', ['1+1'])[0]).toEqual({ at: 0, text: '1+1', isFound: true });
});

it('never changes the text', () => {
  fc.assert(
    fc.property(fc.string(), fc.array(fc.string({ minLength: 1, maxLength: 3 })), (text, searchTexts) => {
      expect(
        partsWith(text, searchTexts)
          .map(({ text: part }) => part)
          .join(''),
      ).toBe(text);
    }),
  );
});
