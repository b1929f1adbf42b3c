import { expect, it } from 'vitest';
import { type CallTimes, ScaleUpPolicy } from './scale-up-policy.ts';

const CORES = 4;
const state = { waiting: 8, starting: 0, ready: 1, longestWaitMs: 15, runningForMs: [1] };

function growthAfter(...calls: CallTimes[]): ScaleUpPolicy {
  const growth = new ScaleUpPolicy(() => {}, CORES);
  for (const call of calls) growth.learn(call);
  return growth;
}

const short = { ranMs: 2, computedMs: 2, waitedMs: 0 };
const waiting = { ranMs: 8, computedMs: 1, waitedMs: 7 };
const long = { ranMs: 300, computedMs: 1, waitedMs: 299 };

it('calls that only compute get one process more at a time, and fewer than there are cores', () => {
  const growth = growthAfter(short);
  expect(growth.missing(state)).toBe(1);
  expect(growth.missing({ ...state, starting: 1 })).toBe(0);
  expect(growth.missing({ ...state, ready: CORES - 1 })).toBe(0);
  // All are held up: these are not the short calls that were known.
  expect(growth.missing({ ...state, ready: 3, runningForMs: [80, 70, 60] })).toBe(1);
});

it('calls that wait for something get as many as wait, some at a time', () => {
  const growth = growthAfter(waiting);
  expect(growth.missing(state)).toBe(CORES);
  expect(growth.missing({ ...state, starting: 3 })).toBe(1);
  expect(growth.missing({ ...state, waiting: 2 })).toBe(2);
  expect(growth.missing({ ...state, waiting: 2, starting: 2 })).toBe(0);
});

it('nothing is started for a moment of waiting, but where calls are known to take long', () => {
  expect(growthAfter().missing({ ...state, longestWaitMs: 3 })).toBe(0);
  expect(growthAfter(short).missing({ ...state, longestWaitMs: 3 })).toBe(0);
  expect(growthAfter(long).missing({ ...state, longestWaitMs: 0 })).toBe(CORES);
});

it('one long call does not make a lambda slow for long', () => {
  const growth = growthAfter(
    short,
    { ranMs: 60_000, computedMs: 1, waitedMs: 60_000 },
    ...Array.from({ length: 70 }, () => short),
  );
  expect(growth.isShort).toBe(true);
});

it('of calls of which none has ended only those that hold their process up get more than one at a time', () => {
  const growth = growthAfter();
  expect(growth.missing({ ...state, ready: CORES - 1 })).toBe(0);
  expect(growth.missing({ ...state, ready: 3, runningForMs: [80, 70, 60] })).toBe(CORES);
  // A handler that only computes reports no waiting time.
  expect(growth.missing({ ...state, ready: 3, runningForMs: [80, 70, 0] })).toBe(0);
});
