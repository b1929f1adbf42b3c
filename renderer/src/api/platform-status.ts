import { useQuery } from '@tanstack/react-query';
import { load } from './client.ts';
import { keys } from './query-client.ts';

export type { PlatformStatus } from '../../../server/contract/window.ts';

const REFRESH_MS = 5000;

/** How the platform is now; asked every five seconds and whenever an event says that it has changed. */
export function usePlatformStatus() {
  return useQuery({
    queryKey: [keys.status],
    queryFn: ({ signal }) => load('/inspect/status', {}, signal),
    refetchInterval: REFRESH_MS,
  });
}
