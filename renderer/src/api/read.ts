import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { load, type Query } from './client.ts';
import type { AnswerAt } from './routes.ts';

/** The topic of what does not change any more: no event is called so. */
export const PAST = 'past';

export interface ReadOptions {
  /** Without it nothing is read. Default: yes. */
  enabled?: boolean;
  /** How often it is read anew besides, ms. */
  refetchInterval?: number;
  /** How long it is taken to be as it was, ms; 0: it is read whenever one looks. Default: until an event says otherwise. */
  staleTime?: number;
  /** While another address is being read, what was at the last one is shown. */
  keepsLast?: boolean;
}

/**
 * What is at an address of the platform, for as long as one looks at it.
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

/** Reads an address and keeps what is there current. */
export function useRead<const P extends string>(
  topic: string,
  path: P,
  query: Query = {},
  options: ReadOptions = {},
): UseQueryResult<AnswerAt<'GET', P>> {
  return useQuery<AnswerAt<'GET', P>>(readOptions(topic, path, query, options));
}
