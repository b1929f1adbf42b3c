import type { recordedRows } from '../../../../server/contract/recorded.ts';
import type { AnswerOf } from '../../../../server/contract/row.ts';
import type { Query } from '../../api/client.ts';
import { keys } from '../../api/query-client.ts';
import { PAST, useRead } from '../../api/read.ts';
import { useRecentList } from '../../api/recent-list.ts';
import { useSearch } from '../../url.ts';

export type { OutboundCall } from '../../../../server/contract/logs.ts';
export type { InvocationSummary, ShownBegun } from '../../../../server/contract/recorded.ts';
/** One with all that was recorded of it. */
export type InvocationDetail = AnswerOf<typeof recordedRows.readInvocation>;
export type InvocationEvent = InvocationDetail['event'];

/** The newest invocations, newest first; `page.running` are those that wait or run. */
export function useInvocations(filter: Query) {
  return useRecentList(keys.invocations, '/inspect/invocations', 'invocations', filter);
}

/** The newest calls that lambdas made, newest first. They are there once the invocation is over. */
export function useOutboundCalls() {
  return useRecentList(keys.invocations, '/inspect/outbound-calls', 'calls', useFilter());
}

/** The newest lines that lambdas printed, newest first. */
export function useLogLines() {
  return useRecentList(keys.logs, '/inspect/log-lines', 'lines', useFilter());
}

/** What the address narrows these lists to. */
export function useFilter(): Query {
  const [{ q, scope, lambda }] = useSearch();
  return { q: q || undefined, scope, lambda };
}

/** One invocation with all that was recorded of it. */
export function useInvocation(id: string, isOver = true) {
  return useRead(PAST, `/inspect/invocations/${encodeURIComponent(id)}`, {}, { enabled: isOver });
}
