import { keys } from './query-client.ts';
import { useRead } from './read.ts';

export type { PlatformStatus } from '../../../server/contract/window.ts';

const REFRESH_MS = 5000;

/** How the platform is now; asked every five seconds and whenever an event says that it has changed. */
export function usePlatformStatus() {
  return useRead(keys.status, '/inspect/status', {}, { refetchInterval: REFRESH_MS });
}
