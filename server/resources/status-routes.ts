import type { Request, Router } from 'express';
import type { JsonObject } from '../model/json.ts';
import type { Route } from './request.ts';

/** How the platform fares (D-015). */
export interface PlatformStatus {
  /** What does not work, one sentence each; storage only: a missing engine is no failure. */
  failed: string[];
  /** What each service says of itself, e.g. `{containers: 'no engine attached'}`. */
  services: Record<string, string>;
}

export interface StatusOptions {
  version: string;
  nowMs(): number;
  status(): PlatformStatus;
  /** `{base_url}` as this client sees it. */
  baseUrlFor(request: Request): string;
}

/** The two routes that need no authentication: `GET /health` and `GET /about` (D-015). */
export function addStatusRoutes(router: Router, options: StatusOptions): void {
  router.get('/health', (_req, res) => {
    const { status, body } = healthOf(options.status());
    res.status(status).json(body);
  });
  router.get('/about', (req, res) => {
    res.json({
      status: healthOf(options.status()).body.status,
      url: options.baseUrlFor(req),
      time: new Date(options.nowMs()).toISOString(),
      version: options.version,
      services: options.status().services,
    });
  });
}

/** The verbose form, `GET F/health` (D-015). */
export function verboseHealthRoute(options: StatusOptions): Route {
  return {
    verb: 'get',
    path: '/:fqon/health',
    handle: (request) => {
      request.organization();
      const { status, body } = healthOf(options.status());
      return { status, body: { ...body, version: options.version, services: options.status().services } };
    },
  };
}

function healthOf({ failed }: PlatformStatus): { status: 200 | 503; body: JsonObject } {
  if (failed.length === 0) return { status: 200, body: { status: 'healthy' } };
  return { status: 503, body: { status: 'unhealthy', message: failed.join('; '), failed } };
}
