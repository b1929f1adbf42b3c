import type { EngineView } from '../containers/engines.ts';
import type { WorldStore } from '../store/world-store.ts';

/** How the services are, in a word or a few each; `failed` says what has gone wrong with the store. */
export interface PlatformStatus {
  failed: string[];
  services: Readonly<Record<string, string>>;
}

/** How the platform is, for `/about` and the window. */
export function statusOf(store: WorldStore, engines: readonly EngineView[]): PlatformStatus {
  const health = store.health();
  return {
    failed: health.isHealthy ? [] : [health.message],
    services: {
      resources: 'running',
      security: 'running',
      gateway: 'running',
      crm: 'running',
      scm: 'running',
      containers: containersStatus(engines),
    },
  };
}

function containersStatus(engines: readonly EngineView[]): string {
  const troubled = engines.find(({ state }) => state === 'unreachable');
  if (troubled?.reason) return troubled.reason;
  if (engines.some(({ state }) => state === 'connecting')) return 'connecting';
  return engines.length === 0 ? 'no provider runs containers' : 'running';
}
