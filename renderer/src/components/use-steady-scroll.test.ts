import { expect, it } from 'vitest';
import { steadyTop, type Viewport } from './use-steady-scroll.ts';

const rowsTo = (newest: number, oldest = 0) =>
  Array.from({ length: newest - oldest + 1 }, (_, index) => `row ${newest - index}`);
const viewAt = (top: number): Viewport<string> => ({
  rows: rowsTo(999),
  keyOf: (row) => row,
  rowHeight: 30,
  top,
});
const MOST = 1_001 * 30 - 500;

it('keeps what one reads where it is when rows come on top', () => {
  expect(steadyTop(viewAt(3_010), rowsTo(1_001), 3_010, MOST)).toBe(3_070);
  expect(steadyTop(viewAt(3_010), rowsTo(999, 5), 3_010, MOST)).toBeUndefined();
});

it('keeps the newest in view at the very top', () => {
  expect(steadyTop(viewAt(0), rowsTo(1_001), 0, MOST)).toBeUndefined();
});

it('keeps the new scroll position before the browser reports it', () => {
  expect(steadyTop(viewAt(29_000), rowsTo(1_001), 0, MOST)).toBeUndefined();
  expect(steadyTop(viewAt(29_000), rowsTo(1_001), 300, MOST)).toBe(360);
});

it('keeps what one read when rows that went have left one at the end', () => {
  const fewer = rowsTo(999).slice(500);
  expect(steadyTop(viewAt(29_000), fewer, 14_000, 14_000)).toBe(14_000);
});
