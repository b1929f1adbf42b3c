import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wildcard } from './global-routes.ts';

const text = fc.string({ unit: fc.constantFrom('a', 'b', '.'), maxLength: 12 });

describe('text with * for any text (D-189)', () => {
  it('agrees with the regular expression that means the same', () => {
    const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '.', '*'), maxLength: 6 });
    fc.assert(
      fc.property(pattern, text, (wanted, candidate) => {
        const expression = new RegExp(`^${wanted.replaceAll('.', '[.]').replaceAll('*', '.*')}$`);
        expect(wildcard(wanted)(candidate)).toBe(expression.test(candidate));
      }),
      { numRuns: 1000 },
    );
  });

  it('matches whatever any part of a text was replaced by', () => {
    fc.assert(
      fc.property(text, text, text, (before, middle, after) => {
        expect(wildcard(`${before}*${after}`)(before + middle + after)).toBe(true);
      }),
    );
  });

  it('without a * is equality', () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(wildcard(a)(b)).toBe(a === b);
      }),
    );
  });

  it('is not led astray by many of them', () => {
    expect(wildcard(`${'*a'.repeat(4000)}b`)('a'.repeat(5000))).toBe(false);
  });
});
