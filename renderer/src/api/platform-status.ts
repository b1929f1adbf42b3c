import { useQuery } from '@tanstack/react-query';
import { load } from './client.ts';
import { keys } from './query-client.ts';

const REFRESH_MS = 5000;

/** How the platform is, as `GET /inspect/status` says. */
export interface PlatformStatus {
  version: string;
  addresses: {
    baseUrl: string;
    metaUrl: string;
    securityUrl: string;
    gatewayUrl: string;
    crmUrl?: string;
    scmUrl?: string;
  };
  /** The folder that keeps the world, or `:memory:`. */
  dataDir: string;
  store: { seq: number; resources: number; isHealthy: boolean };
  engines: readonly {
    address: string;
    state: string;
    version?: string;
    reason?: string;
    providers: readonly string[];
  }[];
  /** Child processes of lambdas. */
  processes: { processes: number; spares: number; running: number; waiting: number };
  viewers: number;
  /** What each service says of itself. */
  services: Readonly<Record<string, string>>;
}

/** How the platform is now; asked every five seconds and whenever an event says that it has changed. */
export function usePlatformStatus() {
  return useQuery({
    queryKey: [keys.status],
    queryFn: ({ signal }) => load<PlatformStatus>('/inspect/status', {}, signal),
    refetchInterval: REFRESH_MS,
  });
}
