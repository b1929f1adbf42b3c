import { useMemo } from 'react';
import type { figureRoutes } from '../../../server/api/routes/recorded.ts';
import type { AnswerOf } from '../../../server/api/routes/route.ts';
import { FigureRows, type FigureState } from '../../../server/model/figures.ts';
import { useRead } from './read.ts';
import type { ListSource } from './recent-list.ts';

export type ListFigures = AnswerOf<typeof figureRoutes.readFigures>;

/** The number of buckets that a chart has space for. */
const BUCKETS = 120;

/** The figures of all that a list contains, however much of it was read. */
export function useFigures({ topic, path, filter }: ListSource) {
  const listName = path.slice('/inspect/'.length);
  return useRead(topic, '/inspect/figures', { of: listName, ...filter, buckets: BUCKETS }, { keepsLast: true });
}

/** The figures of a list that was read as a whole; the place of a row is its index. */
export function useOwnFigures<Row>(
  rows: readonly Row[],
  factsOf: (row: Row) => { atMs: number; state: FigureState },
  { fromMs, toMs }: { fromMs: number | undefined; toMs: number | undefined },
  nowMs: number,
): ListFigures {
  return useMemo(() => {
    const counted = new FigureRows();
    for (const [index, row] of rows.entries()) {
      const { atMs, state } = factsOf(row);
      counted.add(index, { beganMs: atMs, tookMs: Number.NaN }, state);
    }
    const range = { fromMs: fromMs ?? Number.NEGATIVE_INFINITY, toMs: toMs ?? Number.POSITIVE_INFINITY };
    return counted.view(range, nowMs, BUCKETS);
  }, [rows, factsOf, fromMs, toMs, nowMs]);
}

/** Number of records, with a sign if there may be more. */
export function amountOf({ ok, refused, failed, countedFrom }: ListFigures): string {
  return `${(ok + refused + failed).toLocaleString('en')}${countedFrom === undefined ? '' : '+'}`;
}
