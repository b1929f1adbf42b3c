import { useQuery } from '@tanstack/react-query';
import { load } from '../../api/client.ts';
import { keys } from '../../api/query-client.ts';
import { type RecentList, type RecentPage, useRecentList } from '../../api/recent-list.ts';
import type { RecordedBody, RecordedExchange } from '../../api/traffic.ts';

export interface InvocationSummary {
  seq: number;
  executionId: string;
  lambdaId: string;
  lambdaName: string;
  trigger: string;
  cold: boolean;
  acceptedAt: string;
  finishedAt: string;
  durationMs: number;
  outcome: { ok: boolean; failure?: string; message?: string };
  /** Beginning of the result, or the error. */
  excerpt: string;
  /** Of the answer at the gateway. */
  httpStatus?: number;
  replayOf?: string;
  logLines: number;
  outboundCalls: number;
  /** Calls of those that came to nothing. */
  outboundFailures: number;
}

/** One that waits or runs. */
export interface BegunInvocation {
  executionId: string;
  lambdaId: string;
  lambdaName: string;
  trigger: string;
  acceptedAt: string;
}

export interface OutboundCall {
  startedAt: string;
  method: string;
  url: string;
  durationMs: number;
  status?: number;
  error?: string;
  caughtBy?: string;
  request?: RecordedBody;
  response?: RecordedBody;
  /** Rules about outbound calls that decided about it. */
  rules?: readonly { id: string; text: string }[];
}

/** What the lambda was given. */
export interface InvocationEvent {
  method: string;
  path: string;
  params: Record<string, string[]>;
  headers: Record<string, string>;
  user?: { id: string; name: string };
  apiEndpointId?: string;
  body: RecordedBody;
}

export interface InvocationDetail
  extends Omit<InvocationSummary, 'logLines' | 'outboundCalls' | 'excerpt' | 'outcome' | 'httpStatus'> {
  startedAt?: string;
  outcome: { ok: boolean; failure?: string; message?: string; result?: unknown };
  resultBytes?: number;
  event: InvocationEvent;
  logs: { at: string; stream: 'stdout' | 'stderr'; text: string }[];
  outbound: OutboundCall[];
  /** The request to the gateway that caused it. */
  request?: RecordedExchange;
  /** Its texts had to make room for newer ones. */
  isThinned?: boolean;
}

interface InvocationPage extends RecentPage<InvocationSummary> {
  running: readonly BegunInvocation[];
}

interface InvocationAnswer extends Omit<InvocationPage, 'rows'> {
  invocations: InvocationSummary[];
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
  return useQuery({
    enabled: isOver,
    // It does not change any more: no event makes it old.
    queryKey: ['invocation', id],
    queryFn: ({ signal }) => load<InvocationDetail>(`/inspect/invocations/${encodeURIComponent(id)}`, {}, signal),
  });
}
