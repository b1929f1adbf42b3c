import { beforeEach, expect, it } from 'vitest';
import { Lifetimes } from './lifetimes.ts';

const HOUR_MS = 3_600_000;

let nowMs: number;
let steadyMs: number;
let lifetimes: Lifetimes;

beforeEach(() => {
  nowMs = 1_795_000_000_000;
  steadyMs = 5_000;
  lifetimes = start();
});

const start = () =>
  new Lifetimes(
    8 * HOUR_MS,
    () => nowMs,
    () => steadyMs,
  );
const pass = (ms: number) => {
  nowMs += ms;
  steadyMs += ms;
};

it('a lifetime is stored as times of the wall clock, and ends after its duration', () => {
  const { startsAtMs, endsAtMs } = lifetimes.begin('a');
  expect({ startsAtMs, endsAtMs }).toEqual({ startsAtMs: nowMs, endsAtMs: nowMs + 8 * HOUR_MS });
  pass(8 * HOUR_MS - 1);
  expect(lifetimes.isOver('a', endsAtMs)).toBe(false);
  pass(1);
  expect(lifetimes.isOver('a', endsAtMs)).toBe(true);
});

it.each([24 * HOUR_MS, -24 * HOUR_MS])('setting the clock by %d ms neither ends nor extends a lifetime', (stepMs) => {
  const { endsAtMs } = lifetimes.begin('a');
  nowMs += stepMs;
  expect(lifetimes.isOver('a', endsAtMs)).toBe(false);
  pass(8 * HOUR_MS);
  expect(lifetimes.isOver('a', endsAtMs)).toBe(true);
});

it('a lifetime that began after the clock was set is valid after a restart', () => {
  nowMs += 9 * HOUR_MS;
  const { endsAtMs } = lifetimes.begin('a');
  pass(1_000);
  expect(start().isOver('a', endsAtMs)).toBe(false);
});

it('a lifetime from before a restart lasts at most its duration, even if the clock was set back', () => {
  const { endsAtMs } = lifetimes.begin('a');
  nowMs -= 24 * HOUR_MS;
  const restarted = start();
  pass(8 * HOUR_MS - 1);
  expect(restarted.isOver('a', endsAtMs)).toBe(false);
  pass(1);
  expect(restarted.isOver('a', endsAtMs)).toBe(true);
});
