import { useQuery } from '@tanstack/react-query';
import { load } from './client.ts';
import { keys } from './query-client.ts';
import { type RecentList, type RecentPage, useRecentList } from './recent-list.ts';

/** A request to the platform, as `GET /inspect/traffic` gives it. */
export interface RecordedRequest {
  seq: number;
  /** The management API, or a public endpoint. */
  plane: 'control' | 'gateway';
  at: string;
  durationMs: number;
  upstreamMs: number;
  method: string;
  target: string;
  peer: string;
  status?: number;
  isComplete: boolean;
  endpointId?: string;
  executionId?: string;
  userId?: string;
  /** Calls that the lambda behind it made and that came to nothing. */
  outboundFailures?: number;
}

/** A body as it was kept: text, or base64 of what is none. */
export interface RecordedBody {
  sizeBytes: number;
  /** Only its beginning is here. */
  isCut?: boolean;
  text?: string;
  base64?: string;
}

interface RecordedSide {
  headers: [string, string][];
  body?: RecordedBody;
}

export interface RecordedExchange extends RecordedRequest {
  /** When each step of its way was done. */
  steps: { name: string; afterMs: number }[];
  request: RecordedSide;
  response?: RecordedSide;
  isThinned?: boolean;
}

interface TrafficAnswer extends Omit<RecentPage<RecordedRequest>, 'rows'> {
  requests: RecordedRequest[];
}

const pageOf = ({ requests, ...page }: TrafficAnswer): RecentPage<RecordedRequest> => ({ ...page, rows: requests });

export interface TrafficFilter {
  /** A query (server/model/recorded-queries.ts). */
  q?: string | undefined;
  plane?: string | undefined;
  endpoint?: string | undefined;
  scope?: string | undefined;
}

/** The newest requests, newest first. */
export function useTraffic(filter: TrafficFilter): RecentList<RecordedRequest> {
  return useRecentList({ topic: keys.traffic, path: '/inspect/traffic', filter: { ...filter }, pageOf });
}

/** One request with its headers and bodies. */
export function useExchange(seq: number) {
  return useQuery({
    // It does not change any more: no event makes it old.
    queryKey: ['exchange', seq],
    queryFn: ({ signal }) => load<RecordedExchange>(`/inspect/traffic/${seq}`, {}, signal),
  });
}

/** How many of the moments fell into each of the last `minutes` minutes, the oldest first. */
export function perMinute(atMs: readonly number[], nowMs: number, minutes: number): number[] {
  const counts = new Array<number>(minutes).fill(0);
  for (const at of atMs) {
    const ago = Math.floor((nowMs - at) / 60_000);
    const slot = minutes - 1 - Math.max(0, ago);
    const count = counts[slot];
    if (count !== undefined) counts[slot] = count + 1;
  }
  return counts;
}
