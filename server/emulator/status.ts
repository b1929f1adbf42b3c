import type { EngineView } from '../containers/engines.ts';

/** How the services are, in a word or a few each; `failed` says what keeps changes from being saved. */
export interface PlatformStatus {
  failed: string[];
  services: Readonly<Record<string, string>>;
}

/** How the platform is, for `/health`, `/about` and the window. */
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
