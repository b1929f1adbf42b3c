import { useQuery } from '@tanstack/react-query';
import { load } from './client.ts';
import { keys } from './query-client.ts';

const REFRESH_MS = 5000;

export interface PlatformStatus {
  [name: string]: unknown;
}

/** How the platform is: addresses, store, container engine, child processes. */
export function usePlatformStatus() {
  return useQuery({
    queryKey: [keys.status],
    queryFn: ({ signal }) => load<PlatformStatus>('/inspect/status', {}, signal),
    refetchInterval: REFRESH_MS,
  });
}
