import type { PlatformStatus } from '../../../server/api/routes/window.ts';
import { keys } from './query-client.ts';
import { useRead } from './use-read.ts';

export type { PlatformStatus };

const REFRESH_MS = 5000;

/** Reads the platform's status every five seconds and whenever an event says that it has changed. */
export function usePlatformStatus() {
  return useRead(keys.status, '/inspect/status', {}, { refetchInterval: REFRESH_MS });
}

/** Returns the storage problem that the window shows; undefined when all is saved. */
export function storageProblem({ store, failed }: PlatformStatus): string | undefined {
  if (!store.isHealthy) return 'not saved';
  return failed.length > 0 ? 'some data is not saved' : undefined;
}
