import type { EngineView } from '../containers/engines.ts';
import type { PlatformStatus } from '../resources/status-routes.ts';

/** How the platform is, for `/health`, `/about` and the window. @param failed what keeps changes from being saved */
export function statusOf(failed: string[], engines: readonly EngineView[]): PlatformStatus {
  return {
    failed,
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
  const away = engines.find(({ reason }) => reason !== undefined);
  if (away?.reason) return away.reason;
  if (engines.some(({ state }) => state === 'connecting')) return 'connecting';
  return engines.length === 0 ? 'no provider runs containers' : 'running';
}
