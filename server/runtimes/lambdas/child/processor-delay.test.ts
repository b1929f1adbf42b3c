import { expect, it } from 'vitest';
import { ProcessorDelay } from './processor-delay.ts';

it('takes no more of a time for waiting than that time has, and nothing of a short one', () => {
  const delay = new ProcessorDelay();
  expect(delay.within(4)).toBe(0);
  for (const unknownMs of [6, 50, 1_000]) {
    expect(delay.within(unknownMs)).toBeGreaterThanOrEqual(0);
    expect(delay.within(unknownMs)).toBeLessThanOrEqual(unknownMs);
  }
});
