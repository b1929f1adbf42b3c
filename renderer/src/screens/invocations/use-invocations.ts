import type {
  ShownBegun as BegunInvocation,
  InvocationSummary,
  recordedRows,
} from '../../../../server/contract/recorded.ts';
import type { AnswerOf } from '../../../../server/contract/row.ts';
import { keys } from '../../api/query-client.ts';
import { PAST, useRead } from '../../api/read.ts';
import { type RecentList, type RecentPage, useRecentList } from '../../api/recent-list.ts';

export type { OutboundCall } from '../../../../server/contract/logs.ts';
export type { InvocationSummary, ShownBegun as BegunInvocation } from '../../../../server/contract/recorded.ts';
/** One with all that was recorded of it. */
export type InvocationDetail = AnswerOf<typeof recordedRows.readInvocation>;
export type InvocationEvent = InvocationDetail['event'];
type InvocationAnswer = AnswerOf<typeof recordedRows.listInvocations>;

interface InvocationPage extends RecentPage<InvocationSummary> {
  running: readonly BegunInvocation[];
}

const pageOf = ({ invocations, ...page }: InvocationAnswer): InvocationPage => ({ ...page, rows: invocations });

/** The newest invocations, newest first; `page.running` are those that wait or run. */
export function useInvocations(filter: {
  q?: string | undefined;
  scope?: string | undefined;
  lambda?: string | undefined;
}): RecentList<InvocationSummary, InvocationPage> {
  return useRecentList({ topic: keys.invocations, path: '/inspect/invocations', filter, pageOf });
}

/** One invocation with all that was recorded of it. */
export function useInvocation(id: string, isOver = true) {
  return useRead(PAST, `/inspect/invocations/${encodeURIComponent(id)}`, {}, { enabled: isOver });
}
