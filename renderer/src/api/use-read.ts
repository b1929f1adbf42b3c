import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { load, type Query } from './client.ts';
import type { AnswerAt } from './routes.ts';

/** The topic of what does not change any more: no event is called so. */
export const PAST_TOPIC = 'past';

export interface ReadOptions {
  /** Without it nothing is read. Default: yes. */
  enabled?: boolean;
  refetchInterval?: number;
  /** The time that the data stays valid, in ms; 0: it is read each time it is shown. Default: until an event marks it as stale. */
  staleTime?: number;
  /** While another address is being read, the data of the previous one is shown. */
  keepsLast?: boolean;
}

/**
 * The data at a path of the platform, kept current while a component uses it.
 *
 * @param topic one of `keys`: events of that name make it old
 * @param path from the root of the server, e.g. `/inspect/status`
 */
export function readOptions<const P extends string>(
  topic: string,
  path: P,
  query: Query = {},
  { keepsLast = false, ...rest }: ReadOptions = {},
) {
  return {
    queryKey: [topic, path, query],
    queryFn: ({ signal }: { signal: AbortSignal }): Promise<AnswerAt<'GET', P>> => load(path, query, signal),
    ...(keepsLast && { placeholderData: keepPreviousData }),
    ...rest,
  };
}

/** Reads an address and keeps its data current. */
export function useRead<const P extends string>(
  topic: string,
  path: P,
  query: Query = {},
  options: ReadOptions = {},
): UseQueryResult<AnswerAt<'GET', P>> {
  return useQuery<AnswerAt<'GET', P>>(readOptions(topic, path, query, options));
}
