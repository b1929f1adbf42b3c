import { randomUUID } from 'node:crypto';
import express, { type RequestHandler, type Router } from 'express';
import { answerErrors } from '../http/answer-error.ts';
import { authenticate } from '../http/authenticate.ts';
import { booleanParameter, queryOf } from '../http/query.ts';
import { viaOf } from '../http/via.ts';
import type { Authenticator, Caller } from '../model/caller.ts';
import { PlatformError } from '../model/errors.ts';
import { findOrganization } from '../model/hierarchy.ts';
import { memberOf } from '../model/json.ts';
import { isReservedName } from '../model/types/organization.ts';
import type { EntitlementFinder } from '../security/entitlement-finder.ts';
import { entitlementRoutes } from './entitlement-routes.ts';
import { globalRoutes } from './global-routes.ts';
import { groupRoutes } from './group-routes.ts';
import { lookupRoutes } from './lookup-routes.ts';
import type { Moves } from './moves.ts';
import type { ProviderDefaults } from './provider-defaults.ts';
import { providerRoutes } from './provider-routes.ts';
import { recordRoutes } from './record-routes.ts';
import { referenceRoutes } from './reference-routes.ts';
import { Renderer, type RendererOptions } from './renderer.ts';
import { ResourceRequest, type Route } from './request.ts';
import type { ResourceService } from './resource-service.ts';
import { searchRoutes } from './search-routes.ts';
import { addStatusRoutes, type StatusOptions, verboseHealthRoute } from './status-routes.ts';
import { workloadRoutes } from './workload-routes.ts';

/** Base addresses as one client reaches them (D-011). */
export interface Addresses {
  metaUrl: string;
  securityUrl: string;
  gatewayUrl: string;
}

export interface ResourceRoutesOptions {
  service: ResourceService;
  authenticator: Authenticator;
  finder: EntitlementFinder;
  moves: Moves;
  defaults: ProviderDefaults;
  maxInstances: number;
  addressesFor(request: express.Request): Addresses;
  rendering: Pick<RendererOptions, 'typePrefix' | 'live'>;
  status: StatusOptions;
  onFault(fault: unknown): void;
}

/** The resource service as a router to be mounted at `{meta_url}`. More particular routes stand before the general ones. */
export function resourceRoutes(options: ResourceRoutesOptions): Router {
  const { service, finder, moves, defaults } = options;
  const router = express.Router({ caseSensitive: true });
  const routes: Route[] = [
    ...searchRoutes(service),
    ...globalRoutes(service),
    verboseHealthRoute(options.status),
    ...lookupRoutes(service),
    ...referenceRoutes(service),
    ...entitlementRoutes(service, finder),
    ...groupRoutes(service),
    ...providerRoutes(service, defaults),
    ...workloadRoutes(service, moves, options.maxInstances),
    ...recordRoutes(service),
  ];
  addStatusRoutes(router, options.status);
  for (const route of routes) router[route.verb](route.path, handlerOf(route, options));
  router.use((req) => {
    throw new PlatformError(404, `no route: ${req.method} ${req.path}`);
  });
  router.use(answerErrors(options.onFault));
  return router;
}

function handlerOf(route: Route, options: ResourceRoutesOptions): RequestHandler {
  const { view } = options.service;
  return async (http, res, next) => {
    // Such a word is the first segment of other routes, never the name of an organization (D-041).
    if (isReservedName(memberOf(http.params, 'fqon'))) return next();
    if (route.exists?.((name) => String(memberOf(http.params, name))) === false) return next();
    const addresses = options.addressesFor(http);
    const caller = callerOf(http, options, addresses);
    const query = queryOf(http);
    const requestId = randomUUID();
    const act = { caller, via: viaOf(http), requestId, args: Object.fromEntries(query) };
    const asked = booleanParameter(query, 'showcredentials');
    const renderer = new Renderer({
      view,
      ...options.rendering,
      ...addresses,
      canView: (resource) => options.service.canView(act, resource),
      // Only those who may change a provider see its credentials (D-066).
      showCredentials: (resource) => asked && options.service.may(act, 'provider.update', resource),
    });
    const answer = await route.handle(new ResourceRequest({ act, query, renderer, view, http }));
    if (!answer) return next();
    res.status(answer.status).set(answer.headers ?? {});
    if (answer.body === undefined) res.end();
    else res.json(answer.body);
  };
}

/** The caller; throws the 401 of D-181, on a known route before anything is looked up. */
function callerOf(http: express.Request, options: ResourceRoutesOptions, addresses: Addresses): Caller {
  const who = options.authenticator.identify(http.headers.authorization);
  const fqon = memberOf(http.params, 'fqon');
  const isKnown = typeof fqon === 'string' && findOrganization(options.service.view, fqon) !== undefined;
  return authenticate(who, { securityUrl: addresses.securityUrl, ...(isKnown && { fqon }) });
}
