import { expect, test } from 'vitest';
import { PlatformError } from '../../model/errors.ts';
import { type Attempt, AttemptLimiter } from './attempt-limiter.ts';

let nowMs = 0;
const limiterOf = (limit: number) => {
  nowMs = 0;
  return new AttemptLimiter(limit, () => nowMs);
};
/** An attempt, or the seconds to wait before the next. */
function begin(limiter: AttemptLimiter, user: string, address?: string): Attempt | number {
  try {
    return limiter.begin(user, address);
  } catch (refusal) {
    return refusal instanceof PlatformError ? Number(refusal.headers['Retry-After']) : Number.NaN;
  }
}
/** Fails to sign in; the seconds to wait where it was not even tried. */
function fail(limiter: AttemptLimiter, user: string, address = '127.0.0.1'): number {
  const attempt = begin(limiter, user, address);
  return typeof attempt === 'number' ? attempt : 0;
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
    limiter.begin('ada', undefined).succeeded();
  }
  const attempts = Array.from({ length: 3 }, () => begin(limiter, 'ada'));
  expect(attempts.map((attempt) => typeof attempt)).toEqual(['object', 'object', 'number']);
});

test('an address is the same in either spelling', () => {
  const limiter = limiterOf(1);
  expect([fail(limiter, 'ada', '::ffff:10.0.0.1'), fail(limiter, 'ada', '10.0.0.1')]).toEqual([0, 60]);
});

test('a failure is reported later for each failure from other addresses, by at most 5 s', () => {
  const limiter = limiterOf(100);
  const delayMs = (address: string) => limiter.begin('ada', address).failureDelayMs();
  expect([delayMs('127.0.0.1'), delayMs('127.0.0.1'), delayMs('127.0.0.2')]).toEqual([0, 0, 100]);
  for (let at = 3; at < 200; at++) delayMs(`127.0.0.${at}`);
  expect(delayMs('127.0.1.1')).toBe(5_000);
  nowMs = 60_000;
  expect(delayMs('127.0.0.1')).toBe(0);
});

test('guesses from very many addresses do not make it forget those at another user', () => {
  const limiter = limiterOf(1);
  fail(limiter, 'ada');
  for (let at = 0; at < 30_000; at++) fail(limiter, 'root', `127.1.${at >> 8}.${at & 255}`);
  expect(fail(limiter, 'ada')).toBe(60);
  expect(fail(limiter, 'root', '127.1.117.47'), 'the newest').toBe(60);
});

test('uses no more memory for more names, and continues to count the newest', () => {
  const limiter = limiterOf(1);
  for (let at = 0; at < 30_000; at++) fail(limiter, `user ${at}`);
  expect([fail(limiter, 'user 29999'), fail(limiter, 'user 20001')]).toEqual([60, 60]);
  expect(fail(limiter, 'user 0')).toBe(0);
});
