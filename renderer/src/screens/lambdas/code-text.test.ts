import fc from 'fast-check';
import { expect, it } from 'vitest';
import { codeOf, sourceOf } from './code-text.ts';

it('gives back every source that it packs', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (source) => {
      expect(sourceOf(codeOf(source))).toBe(source);
    }),
  );
});

it('takes a source that is not packed as it is', () => {
  expect(sourceOf('exports.run = () => {};')).toBe('exports.run = () => {};');
  expect(sourceOf(undefined)).toBe('');
});
