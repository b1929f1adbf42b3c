import type { recordedRoutes } from '../../../server/api/routes/recorded.ts';
import type { AnswerOf } from '../../../server/api/routes/route.ts';
import { keys } from './query-client.ts';
import { useRecentList } from './recent-list.ts';
import { PAST_TOPIC, useRead } from './use-read.ts';

export type { RecordedRequest } from '../../../server/api/routes/recorded.ts';
export type { RecordedBody } from '../../../server/api/schemas/parts.ts';
/** With its headers and bodies. */
export type RecordedExchange = AnswerOf<typeof recordedRoutes.readRequest>;

export interface TrafficFilter {
  /** A query (server/api/routes/recorded-queries.ts). */
  q?: string | undefined;
  plane?: string | undefined;
  endpoint?: string | undefined;
  scope?: string | undefined;
}

export function useTraffic(filter: TrafficFilter) {
  return useRecentList(keys.traffic, '/inspect/traffic', 'requests', { ...filter });
}

export function useExchange(seq: number) {
  return useRead(PAST_TOPIC, `/inspect/traffic/${seq}`);
}
