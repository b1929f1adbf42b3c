import type { recordedRows } from '../../../../server/contract/recorded.ts';
import type { AnswerOf } from '../../../../server/contract/row.ts';
import { keys } from '../../api/query-client.ts';
import { PAST, useRead } from '../../api/read.ts';
import { useRecentList } from '../../api/recent-list.ts';

export type { OutboundCall } from '../../../../server/contract/logs.ts';
export type { InvocationSummary, ShownBegun as BegunInvocation } from '../../../../server/contract/recorded.ts';
/** One with all that was recorded of it. */
export type InvocationDetail = AnswerOf<typeof recordedRows.readInvocation>;
export type InvocationEvent = InvocationDetail['event'];
interface PartFilter {
  q?: string | undefined;
  scope?: string | undefined;
  lambda?: string | undefined;
}

/** The newest invocations, newest first; `page.running` are those that wait or run. */
export function useInvocations(filter: PartFilter) {
  return useRecentList(keys.invocations, '/inspect/invocations', 'invocations', { ...filter });
}

/** The newest calls that lambdas made, newest first. They are there once the invocation is over. */
export function useOutboundCalls(filter: PartFilter) {
  return useRecentList(keys.invocations, '/inspect/outbound-calls', 'calls', { ...filter });
}

/** The newest lines that lambdas printed, newest first. */
export function useLogLines(filter: PartFilter) {
  return useRecentList(keys.logs, '/inspect/log-lines', 'lines', { ...filter });
}

/** One invocation with all that was recorded of it. */
export function useInvocation(id: string, isOver = true) {
  return useRead(PAST, `/inspect/invocations/${encodeURIComponent(id)}`, {}, { enabled: isOver });
}
