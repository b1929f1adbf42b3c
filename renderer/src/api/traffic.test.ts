import { expect, it } from 'vitest';
import { perMinute } from './traffic.ts';

it('counts requests minute by minute, and forgets what is older', () => {
  const nowMs = 600_000;
  expect(perMinute([599_999, 540_001, 539_999, 0, 600_500], nowMs, 3)).toEqual([0, 1, 3]);
  expect(perMinute([], nowMs, 2)).toEqual([0, 0]);
});
