import { randomUUID } from 'node:crypto';
import express, { type Request, type Router } from 'express';
import { showCredentials } from '../contract/records.ts';
import { answerErrors } from '../http/answer-error.ts';
import { authenticate } from '../http/authenticate.ts';
import { queryOf } from '../http/query.ts';
import { type Gate, routerOf, served } from '../http/serve.ts';
import { viaOf } from '../http/via.ts';
import type { Authenticator } from '../model/caller.ts';
import { findOrganization } from '../model/hierarchy.ts';
import type { Core } from './core.ts';
import { entitlementRoutes } from './entitlement-routes.ts';
import { globalRoutes } from './global-routes.ts';
import { groupRoutes } from './group-routes.ts';
import { lookupRoutes } from './lookup-routes.ts';
import { demandPath, isMeant, noRoute, pathFinders } from './paths.ts';
import { providerRoutes } from './provider-routes.ts';
import { recordRoutes } from './record-routes.ts';
import { referenceRoutes } from './reference-routes.ts';
import { refusedRoutes } from './refused-routes.ts';
import { RenderedTexts } from './rendered-texts.ts';
import { Renderer } from './renderer.ts';
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
  core: Core;
  authenticator: Authenticator;
  maxInstances: number;
  addressesFor(request: Request): Addresses;
  /** First segment of type names (D-080). */
  typePrefix: string;
  status: StatusOptions;
  onFault(fault: unknown): void;
}

/** The resource service as a router to be mounted at `{meta_url}`. Of rows of the same address the earlier one is asked first. */
export function resourceRoutes(options: ResourceRoutesOptions): Router {
  const { service, finder, moves, defaults } = options.core;
  const gate = gateOf(options);
  const finders = pathFinders(service.view, finder);
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
      entitlementRoutes(parts, finder),
      groupRoutes(parts),
      providerRoutes(parts, defaults),
      workloadRoutes(parts, moves, options.maxInstances),
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

function gateOf({ core, authenticator, addressesFor, typePrefix }: ResourceRoutesOptions): Gate<Given> {
  const { service, judge, live } = core;
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
        typePrefix,
        live,
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
