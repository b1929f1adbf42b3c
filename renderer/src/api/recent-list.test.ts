import { expect, it } from 'vitest';
import { mergeNewer, withOlder } from './recent-list.ts';

const rows = (...seqs: number[]) => seqs.map((seq) => ({ seq }));
const list = (seqs: number[], next?: number) => ({
  rows: rows(...seqs),
  total: 9,
  newest: seqs[0] ?? 0,
  run: 'a',
  next,
});

it('puts new entries first', () => {
  expect(mergeNewer(list([5, 4], 4), list([7, 6]))).toEqual(list([7, 6, 5, 4], 4));
  const knownList = list([5, 4]);
  const none = { ...list([]), newest: 5, total: 8 };
  const now = mergeNewer<{ seq: number }, ReturnType<typeof list>>(knownList, none);
  expect(now).toEqual({ ...knownList, total: 8 });
  expect(now.rows).toBe(knownList.rows);
});

it('lets the oldest go when there are too many, and knows where to read on', () => {
  const many = Array.from({ length: 60_000 }, (_, at) => 60_000 - at);
  const { rows: keptRows, next } = mergeNewer(list(many), list([60_002, 60_001]));
  expect([keptRows.length, keptRows[0]?.seq, keptRows.at(-1)?.seq, next]).toEqual([60_000, 60_002, 3, 3]);
});

it('puts older rows at the end, unless the list was restarted', () => {
  expect(withOlder<{ seq: number }, ReturnType<typeof list>>(list([5, 4], 4), list([3, 2], 2), 4)).toEqual({
    ...list([5, 4], 2),
    rows: rows(5, 4, 3, 2),
  });
  const again = list([90, 89], 89);
  expect(withOlder<{ seq: number }, typeof again>(again, list([3, 2], 2), 4)).toBe(again);
});
