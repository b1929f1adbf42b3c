import type {
  lineListRows,
  outboundListRows,
  RecordedCall,
  RecordedLine,
} from '../../../../server/contract/recorded-parts.ts';
import type { AnswerOf } from '../../../../server/contract/row.ts';
import { keys } from '../../api/query-client.ts';
import { type RecentList, type RecentPage, useRecentList } from '../../api/recent-list.ts';

export type { RecordedCall, RecordedLine } from '../../../../server/contract/recorded-parts.ts';

type CallAnswer = AnswerOf<typeof outboundListRows.listOutboundCalls>;
type LineAnswer = AnswerOf<typeof lineListRows.listLogLines>;

interface PartFilter {
  q?: string | undefined;
  scope?: string | undefined;
  lambda?: string | undefined;
}

// How many there are in all nobody has counted.
const callsOf = ({ calls, ...page }: CallAnswer): RecentPage<RecordedCall> => ({ ...page, rows: calls, total: 0 });
const linesOf = ({ lines, ...page }: LineAnswer): RecentPage<RecordedLine> => ({ ...page, rows: lines, total: 0 });

/** The newest calls that lambdas made, newest first. They are there once the invocation is over. */
export function useOutboundCalls(filter: PartFilter): RecentList<RecordedCall> {
  return useRecentList({
    topic: keys.invocations,
    path: '/inspect/outbound-calls',
    filter: { ...filter },
    pageOf: callsOf,
  });
}

/** The newest lines that lambdas printed, newest first. */
export function useLogLines(filter: PartFilter): RecentList<RecordedLine> {
  return useRecentList({ topic: keys.logs, path: '/inspect/log-lines', filter: { ...filter }, pageOf: linesOf });
}
