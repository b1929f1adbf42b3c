import { useQuery } from '@tanstack/react-query';
import { load } from '../../api/client.ts';
import { keys, queryClient } from '../../api/query-client.ts';

export interface InvocationSummary {
  executionId: string;
  lambdaId: string;
  lambdaName: string;
  trigger: string;
  cold: boolean;
  acceptedAt: string;
  startedAt?: string;
  finishedAt: string;
  durationMs: number;
  outcome: { ok: boolean; failure?: string; message?: string; result?: unknown };
  logLines: number;
  outboundCalls: number;
}

export interface OutboundCall {
  startedAt: string;
  method: string;
  url: string;
  durationMs: number;
  status?: number;
  error?: string;
  caughtBy?: string;
}

export interface InvocationDetail extends Omit<InvocationSummary, 'logLines' | 'outboundCalls'> {
  logs: { at: string; stream: 'stdout' | 'stderr'; text: string }[];
  outbound: OutboundCall[];
  /** The request to the gateway that caused it. */
  request?: {
    at: string;
    durationMs: number;
    upstreamMs: number;
    method: string;
    target: string;
    peer: string;
    status?: number;
    endpointId?: string;
    userId?: string;
  };
}

interface Page {
  invocations: InvocationSummary[];
  next?: number;
}

const KEY = [keys.invocations, 'list'];
const WHOLE_PAGE = 1000;
/** What is read after each event; what came before is known. */
const NEWS_PAGE = 100;
/** As many as the server keeps, and a few that it has forgotten already. */
const MAX_KEPT = 20_000;

/** The newest invocations, newest first. Only what is new is read again. */
export function useInvocations() {
  return useQuery({
    queryKey: KEY,
    queryFn: async ({ signal }) => {
      const known = queryClient.getQueryData<readonly InvocationSummary[]>(KEY);
      const { invocations: news, next } = await load<Page>(
        '/inspect/invocations',
        { limit: known ? NEWS_PAGE : WHOLE_PAGE },
        signal,
      );
      const merged = known && next !== undefined ? withNews(known, news) : news;
      // Too much happened since for the two to touch: everything is read.
      return merged ?? (await loadAll(signal));
    },
  });
}

/** The rows that were known with the new ones on top; undefined when there may be a gap between them. */
export function withNews<Row extends { executionId: string }>(
  known: readonly Row[],
  news: readonly Row[],
): readonly Row[] | undefined {
  const [newestKnown] = known;
  if (!newestKnown) return undefined;
  const at = news.findIndex(({ executionId }) => executionId === newestKnown.executionId);
  if (at < 0) return undefined;
  return at === 0 ? known : [...news.slice(0, at), ...known].slice(0, MAX_KEPT);
}

async function loadAll(signal: AbortSignal): Promise<readonly InvocationSummary[]> {
  const all: InvocationSummary[] = [];
  let before: number | undefined;
  do {
    const page: Page = await load<Page>('/inspect/invocations', { limit: WHOLE_PAGE, before }, signal);
    all.push(...page.invocations);
    before = page.next;
  } while (before !== undefined && all.length < MAX_KEPT);
  return all;
}

/** One invocation with all that was recorded of it. */
export function useInvocation(id: string) {
  return useQuery({
    // It does not change any more: no event makes it old.
    queryKey: ['invocation', id],
    queryFn: ({ signal }) => load<InvocationDetail>(`/inspect/invocations/${id}`, {}, signal),
  });
}
