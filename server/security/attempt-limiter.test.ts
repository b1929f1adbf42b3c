import { expect, test } from 'vitest';
import { AttemptLimiter } from './attempt-limiter.ts';

let nowMs = 0;
const limiterOf = (limit: number) => {
  nowMs = 0;
  return new AttemptLimiter(limit, () => nowMs);
};
/** Fails to sign in; the seconds to wait where it was not even tried. */
function fail(limiter: AttemptLimiter, user: string, address = '127.0.0.1'): number {
  const attempt = limiter.begin(user, address);
  return 'waitS' in attempt ? attempt.waitS : 0;
}

test('each user has so many failures a minute at each address, counted from the first one', () => {
  const limiter = limiterOf(2);
  expect([fail(limiter, 'ada'), fail(limiter, 'ada'), fail(limiter, 'ada')]).toEqual([0, 0, 60]);
  expect([fail(limiter, 'bob'), fail(limiter, 'ada', '10.0.0.1')]).toEqual([0, 0]);
  nowMs = 59_500;
  expect([fail(limiter, 'ada'), fail(limiter, 'eve')]).toEqual([1, 0]);
  nowMs = 60_000;
  expect(fail(limiter, 'ada')).toBe(0);
  expect([fail(limiter, 'eve'), fail(limiter, 'eve')]).toEqual([0, 60]);
});

test('what succeeds does not count, however many at once', () => {
  const limiter = limiterOf(2);
  for (let time = 0; time < 10; time++) {
    const attempt = limiter.begin('ada', undefined);
    if ('succeeded' in attempt) attempt.succeeded();
  }
  const attempts = Array.from({ length: 3 }, () => limiter.begin('ada', undefined));
  expect(attempts.map((attempt) => 'succeeded' in attempt)).toEqual([true, true, false]);
});

test('an address is the same in either spelling', () => {
  const limiter = limiterOf(1);
  expect([fail(limiter, 'ada', '::ffff:10.0.0.1'), fail(limiter, 'ada', '10.0.0.1')]).toEqual([0, 60]);
});

test('a clock that is set back locks nobody out', () => {
  const limiter = limiterOf(1);
  nowMs = 1_000_000;
  expect([fail(limiter, 'ada'), fail(limiter, 'ada')]).toEqual([0, 60]);
  nowMs = 5_000;
  expect([fail(limiter, 'ada'), fail(limiter, 'ada')]).toEqual([0, 60]);
  nowMs = 65_000;
  expect(fail(limiter, 'ada')).toBe(0);
});

test('takes no more memory for more names, and goes on counting the newest', () => {
  const limiter = limiterOf(1);
  for (let at = 0; at < 30_000; at++) fail(limiter, `user ${at}`);
  expect([fail(limiter, 'user 29999'), fail(limiter, 'user 20001')]).toEqual([60, 60]);
  expect(fail(limiter, 'user 0')).toBe(0);
});
