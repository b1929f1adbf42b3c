import fc from 'fast-check';
import { expect, it } from 'vitest';
import { inTime } from '../testing/in-time.ts';
import { matchesStars } from './matches-stars.ts';

const letters = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 12 });

it('finds the same matches as the expression', () => {
  fc.assert(
    fc.property(letters, letters, (pattern, written) => {
      const text = written.replaceAll('*', '.');
      expect(matchesStars(pattern, text)).toBe(new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(text));
    }),
    { numRuns: 2_000 },
  );
});

it('takes a time that grows with the text only', () => {
  expect(inTime(() => matchesStars(`${'*a'.repeat(2_000)}*b`, 'a'.repeat(100_000)))).toBe(false);
});
