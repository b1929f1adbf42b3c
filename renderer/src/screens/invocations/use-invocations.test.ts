import { expect, it } from 'vitest';
import { withNews } from './use-invocations.ts';

const rows = (...ids: string[]) => ids.map((executionId) => ({ executionId }));

it('puts what is new on top of what was known', () => {
  expect(withNews(rows('b', 'a'), rows('d', 'c', 'b'))).toEqual(rows('d', 'c', 'b', 'a'));
});

it('keeps the same rows when nothing is new, so that nothing is drawn again', () => {
  const known = rows('b', 'a');
  expect(withNews(known, rows('b', 'a'))).toBe(known);
});

it('does not join rows that have a gap between them', () => {
  expect(withNews(rows('a'), rows('z', 'y'))).toBeUndefined();
  expect(withNews([], rows('a'))).toBeUndefined();
});
