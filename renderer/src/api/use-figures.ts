import type { figureRoutes } from '../../../server/api/routes/recorded.ts';
import type { AnswerOf } from '../../../server/api/routes/route.ts';
import type { ListSource } from './recent-list.ts';
import { useRead } from './use-read.ts';

export type ListFigures = AnswerOf<typeof figureRoutes.readFigures>;

/** The number of buckets that a chart has space for. */
const BUCKETS = 120;

/** The figures of all that a list contains, however much of it was read. */
export function useFigures({ topic, path, filter }: ListSource) {
  const listName = path.slice('/inspect/'.length);
  return useRead(topic, '/inspect/figures', { of: listName, ...filter, buckets: BUCKETS }, { keepsLast: true });
}

/** Number of records, with a sign if there may be more. */
export function amountOf({ ok, refused, failed, countedFrom }: ListFigures): string {
  return `${(ok + refused + failed).toLocaleString('en')}${countedFrom === undefined ? '' : '+'}`;
}
