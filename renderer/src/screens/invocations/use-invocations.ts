import type { recordedRoutes } from '../../../../server/api/routes/recorded.ts';
import type { AnswerOf } from '../../../../server/api/routes/route.ts';
import type { Query } from '../../api/client.ts';
import { keys } from '../../api/query-client.ts';
import { useRecentList } from '../../api/recent-list.ts';
import { PAST_TOPIC, useRead } from '../../api/use-read.ts';
import { useSearch } from '../../url.ts';

export type { OutboundCall } from '../../../../server/api/routes/logs.ts';
export type { InvocationSummary, StartedView as ShownStarted } from '../../../../server/api/routes/recorded.ts';
/** One with all that was recorded of it. */
export type InvocationDetail = AnswerOf<typeof recordedRoutes.readInvocation>;
export type InvocationEvent = InvocationDetail['event'];

/** The newest invocations, newest first; `page.running` are those that wait or run. */
export function useInvocations(filter: Query) {
  return useRecentList(keys.invocations, '/inspect/invocations', 'invocations', filter);
}

/** The newest outbound calls of lambdas, newest first. They are listed when the invocation has ended. */
export function useOutboundCalls() {
  return useRecentList(keys.invocations, '/inspect/outbound-calls', 'calls', useFilter());
}

/** The newest lines that lambdas printed, newest first. */
export function useLogLines() {
  return useRecentList(keys.logs, '/inspect/log-lines', 'lines', useFilter());
}

export function useFilter(): Query {
  const [{ q, scope, lambda }] = useSearch();
  return { q: q || undefined, scope, lambda };
}

export function useInvocation(id: string, isOver = true) {
  return useRead(PAST_TOPIC, `/inspect/invocations/${encodeURIComponent(id)}`, {}, { enabled: isOver });
}
