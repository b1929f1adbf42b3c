import { describe, expect, it } from 'vitest';
import { slotsOf } from './strip-slots.ts';

describe('the slots of a strip', () => {
  it('hold each point of their time once, and know the slowest and the failed', () => {
    const point = (atMs: number, tookMs: number, hasFailed = false) => ({ key: `${atMs}`, atMs, tookMs, hasFailed });
    const slots = slotsOf([point(0, 5), point(9, 50, true), point(10, 7), point(100, 1), point(-1, 9)], 0, 100, 10);
    expect(slots).toHaveLength(10);
    expect(slots[0]).toMatchObject({ count: 2, failed: 1, slowest: { key: '9' } });
    expect(slots[1]).toMatchObject({ count: 1, failed: 0 });
    expect(slots[9]).toMatchObject({ count: 1, slowest: { key: '100' } });
    expect(slots.reduce((sum, { count }) => sum + count, 0)).toBe(4);
  });
});
