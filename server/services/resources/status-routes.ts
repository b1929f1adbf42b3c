import type { Request, Response } from 'express';
import { platformRoutes } from '../../api/routes/meta-global.ts';
import type { MountedRoute } from '../../api/server/mount-routes.ts';
import type { ResourceRouteParts } from './selection.ts';

/** State of the platform (D-015). */
export interface PlatformStatus {
  /** Faults of the storage, one sentence each; a missing engine is no failure. */
  failed: string[];
  /** Status of each service in its own words, e.g. `{containers: 'no engine attached'}`. */
  services: Record<string, string>;
}

export interface StatusOptions {
  version: string;
  nowMs(): number;
  status(): PlatformStatus;
  baseUrlFor(request: Request): string;
}

/** State of the platform. `GET /health` and `GET /about` need no authentication (D-015). */
export function statusRouter({ answer }: Pick<ResourceRouteParts, 'answer'>, options: StatusOptions): MountedRoute[] {
  const health = (res: Response) => {
    const { failed } = options.status();
    if (failed.length === 0) return { status: 'healthy' as const };
    res.status(503);
    return { status: 'unhealthy' as const, message: failed.join('; '), failed };
  };
  return answer(platformRoutes, {
    readHealth: ({ res }) => health(res),
    readHealthInDetail: ({ res }) => ({
      ...health(res),
      version: options.version,
      services: options.status().services,
    }),
    readAbout({ req }) {
      const { failed, services } = options.status();
      return {
        status: failed.length === 0 ? 'healthy' : 'unhealthy',
        url: options.baseUrlFor(req),
        time: new Date(options.nowMs()).toISOString(),
        version: options.version,
        services,
      };
    },
    sync: () => ({ synced: true as const }),
    bootstrap: () => ({ bootstrapped: true as const }),
  });
}
