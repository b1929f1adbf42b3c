import { expect, it } from 'vitest';
import { afterRunning, fineClock, steadyClock } from './clock.ts';

it('a fine clock stays in the millisecond of the wall clock, and returns tenths once it has seen one begin', () => {
  let runMs = 5_000;
  let setByMs = 1_795_000_000_000.5;
  const clock = fineClock(
    () => Math.floor(setByMs + runMs),
    () => runMs,
  );
  const after = (ms: number) => {
    runMs += ms;
    return clock() - 1_795_000_000_000;
  };
  after(0.6); // the wall clock has begun another millisecond
  expect([0.2, 0.3, 0.4].map(after)).toEqual([5001.2, 5001.5, 5002].map((ms) => expect.closeTo(ms, 1)));
  setByMs -= 60_000; // the clock is set
  expect(Math.floor(after(0.1) + 1_795_000_000_000)).toBe(Math.floor(setByMs + runMs));
});

it('a steady clock includes the time in which the machine slept, and ignores small differences of its sources', () => {
  let runMs = 5_000;
  let uptimeMs = 905_000;
  const clock = steadyClock(
    () => runMs,
    () => uptimeMs,
  );
  const startMs = clock();
  const pass = (awakeMs: number, asleepMs = 0) => {
    runMs += awakeMs;
    uptimeMs += awakeMs + asleepMs;
    return clock() - startMs;
  };
  expect(pass(2_000, 10)).toBe(2_000);
  expect(pass(1_000, 8 * 3_600_000)).toBeCloseTo(3_000 + 8 * 3_600_000, -2);
  expect(pass(1_000)).toBeCloseTo(4_000 + 8 * 3_600_000, -2);
});

it('a time of running does not pass while the process is stopped', async () => {
  let isOver = false;
  let report = () => {};
  const over = new Promise<void>((resolve) => {
    report = resolve;
  });
  afterRunning(300, () => {
    isOver = true;
    report();
  });
  const byTheClock = new Promise((resolve) => setTimeout(resolve, 300));
  // As if the process had been stopped for that time.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
  await byTheClock;
  expect(isOver).toBe(false);
  await over;
});
