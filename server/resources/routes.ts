import { randomUUID } from 'node:crypto';
import express, { type Request, type Router } from 'express';
import { showCredentials } from '../contract/records.ts';
import { answerErrors } from '../http/answer-error.ts';
import { authenticate } from '../http/authenticate.ts';
import { queryOf } from '../http/query.ts';
import { type Gate, routerOf, served } from '../http/serve.ts';
import { viaOf } from '../http/via.ts';
import type { Authenticator, Judge } from '../model/caller.ts';
import { findOrganization } from '../model/hierarchy.ts';
import type { EntitlementFinder } from '../security/entitlement-finder.ts';
import { entitlementRoutes } from './entitlement-routes.ts';
import { globalRoutes } from './global-routes.ts';
import { groupRoutes } from './group-routes.ts';
import { lookupRoutes } from './lookup-routes.ts';
import type { Moves } from './moves.ts';
import { demandPath, isMeant, noRoute, pathFinders } from './paths.ts';
import type { ProviderDefaults } from './provider-defaults.ts';
import { providerRoutes } from './provider-routes.ts';
import { recordRoutes } from './record-routes.ts';
import { referenceRoutes } from './reference-routes.ts';
import { refusedRoutes } from './refused-routes.ts';
import { RenderedTexts } from './rendered-texts.ts';
import { Renderer, type RendererOptions } from './renderer.ts';
import type { ResourceService } from './resource-service.ts';
import type { Given, ResourceRouteParts } from './route-parts.ts';
import { type StatusOptions, statusRoutes } from './status-routes.ts';
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
  judge: Judge;
  finder: EntitlementFinder;
  moves: Moves;
  defaults: ProviderDefaults;
  maxInstances: number;
  addressesFor(request: Request): Addresses;
  rendering: Pick<RendererOptions, 'typePrefix' | 'live'>;
  status: StatusOptions;
  onFault(fault: unknown): void;
}

/** The resource service as a router to be mounted at `{meta_url}`. Of rows of the same address the earlier one is asked first. */
export function resourceRoutes(options: ResourceRoutesOptions): Router {
  const { service } = options;
  const gate = gateOf(options);
  const finders = pathFinders(service.view, options.finder);
  const parts: ResourceRouteParts = {
    service,
    answer: (table, handlers) => served(table, gate, handlers, finders),
  };
  const router = express.Router({ caseSensitive: true });
  router.use(
    routerOf(
      statusRoutes(parts, options.status),
      globalRoutes(parts),
      lookupRoutes(parts),
      referenceRoutes(parts),
      entitlementRoutes(parts, options.finder),
      groupRoutes(parts),
      providerRoutes(parts, options.defaults),
      workloadRoutes(parts, options.moves, options.maxInstances),
      refusedRoutes(parts),
      recordRoutes(parts),
    ),
  );
  router.use((req) => {
    throw noRoute(req);
  });
  router.use(answerErrors(options.onFault));
  return router;
}

function gateOf({ service, authenticator, judge, addressesFor, rendering }: ResourceRoutesOptions): Gate<Given> {
  const { view } = service;
  const texts = new RenderedTexts(view);
  return {
    view,
    judge,
    isMeant,
    demandPath,
    query: { showcredentials: showCredentials },
    /** Throws the 401 of D-181, on a known route before anything is looked up. */
    callerOf(req) {
      const { fqon } = req.params;
      const isKnown = typeof fqon === 'string' && findOrganization(view, fqon) !== undefined;
      const { securityUrl } = addressesFor(req);
      return authenticate(authenticator.identify(req.headers.authorization), {
        securityUrl,
        ...(isKnown && { fqon }),
      });
    },
    give({ caller, common, req }) {
      const act = { caller, via: viaOf(req), requestId: randomUUID(), args: Object.fromEntries(queryOf(req)) };
      const renderer = new Renderer({
        view,
        ...rendering,
        ...addressesFor(req),
        texts,
        canView: (resource) => service.canView(act, resource),
        // Only those who may change a provider see its credentials (D-066).
        showCredentials: (resource) => common.showcredentials === true && service.may(act, 'provider.update', resource),
      });
      return { act, renderer };
    },
  };
}
