import { expect, test } from 'vitest';
import { AttemptLimiter } from './attempt-limiter.ts';

test('each name has its own attempts a minute, counted from its first one', () => {
  let nowMs = 0;
  const limiter = new AttemptLimiter(2, () => nowMs);
  expect([limiter.admit('ada'), limiter.admit('ada'), limiter.admit('ada')]).toEqual([true, true, false]);
  expect(limiter.admit('bob')).toBe(true);
  nowMs = 59_999;
  expect(limiter.admit('ada')).toBe(false);
  expect(limiter.admit('eve')).toBe(true);
  nowMs = 60_000;
  expect(limiter.admit('ada')).toBe(true);
  nowMs = 60_001;
  expect([limiter.admit('eve'), limiter.admit('eve')]).toEqual([true, false]);
});
