import { beforeEach, describe, expect, it } from 'vitest';
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

describe('after the clock was set back, settled ends', () => {
  const stored = new Map<string, number>();
  const log = { entries: () => stored.entries(), put: async (id: string, ms: number) => void stored.set(id, ms) };
  const settle = () => lifetimes.settle(log, { read: (ms) => ms, replace: (_, ms) => ms });

  it('keep what has ended ended after a restart, and what is valid valid for its rest', async () => {
    stored.set('old', lifetimes.begin('old').endsAtMs);
    pass(7 * HOUR_MS);
    stored.set('young', lifetimes.begin('young').endsAtMs);
    pass(2 * HOUR_MS);
    nowMs -= 24 * HOUR_MS;
    await settle();
    const restarted = start();
    expect(restarted.isOver('old', stored.get('old') ?? 0)).toBe(true);
    expect(restarted.isOver('young', stored.get('young') ?? 0)).toBe(false);
    pass(6 * HOUR_MS);
    expect(restarted.isOver('young', stored.get('young') ?? 0)).toBe(true);
  });

  it('of a clock that was a year ahead are at most one lifetime after the start', async () => {
    stored.set('ahead', nowMs + 365 * 24 * HOUR_MS);
    lifetimes = start();
    await settle();
    expect(stored.get('ahead')).toBe(nowMs + 8 * HOUR_MS);
  });

  it('are not stored again if the clock was not set, or set ahead', async () => {
    const { endsAtMs } = lifetimes.begin('a');
    stored.clear();
    stored.set('a', endsAtMs);
    nowMs += 24 * HOUR_MS + 1_000;
    await settle();
    expect(stored.get('a')).toBe(endsAtMs);
  });
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
