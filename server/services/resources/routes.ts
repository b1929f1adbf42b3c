import { randomUUID } from 'node:crypto';
import express, { type Request, type Router } from 'express';
import { membershipRoutes, providerRoutes } from '../../api/routes/meta-types.ts';
import { showCredentials } from '../../api/routes/records.ts';
import { answerErrors } from '../../api/server/answer-error.ts';
import { authenticate, basicRealmFor } from '../../api/server/authenticate.ts';
import { type MountedRoute, mountedRoutes, type RouteGuard, routerOf } from '../../api/server/mount-routes.ts';
import { queryOf } from '../../api/server/query.ts';
import type { Authenticator } from '../../model/caller.ts';
import { PlatformError } from '../../model/errors.ts';
import type { StoredResource, Uuid } from '../../model/record.ts';
import { findOrganization } from '../../model/rules/hierarchy.ts';
import { USER } from '../../model/type-names.ts';
import { memberIds } from '../../model/types/group.ts';
import { actorOf } from './actor.ts';
import type { ControlPlane } from './control-plane.ts';
import { entitlementRouter } from './entitlement-routes.ts';
import { globalRouter } from './global-routes.ts';
import { lookupRouter } from './lookup-routes.ts';
import { isResourcePath, noRoute, pathResolvers, requirePath } from './paths.ts';
import type { ProviderDefaults } from './provider-defaults.ts';
import { recordRouter } from './record-routes.ts';
import { referenceRouter } from './reference-routes.ts';
import { refusedRouter } from './refused-routes.ts';
import { RenderedTexts } from './rendered-texts.ts';
import { Renderer } from './renderer.ts';
import type { ExtraInput, ResourceRouteParts } from './route-parts.ts';
import { type StatusOptions, statusRouter } from './status-routes.ts';
import { workloadRouter } from './workload-routes.ts';

export interface ResourceRoutesOptions {
  core: ControlPlane;
  authenticator: Authenticator;
  maxInstances: number;
  /** Base addresses as one client reaches them (D-011). */
  addressesFor(request: Request): { metaUrl: string; securityUrl: string; gatewayUrl: string };
  /** First segment of type names (D-080). */
  typePrefix: string;
  status: StatusOptions;
  onFault(fault: unknown): void;
}

/** The resource service as a router for `{meta_url}`. If rows have the same address, the earlier one takes precedence. */
export function resourceRouter(options: ResourceRoutesOptions): Router {
  const { service, finder, moves, defaults } = options.core;
  const guard = guardOf(options);
  const resolvers = pathResolvers(service.view, finder);
  const parts: ResourceRouteParts = {
    service,
    answer: (table, handlers) => mountedRoutes(table, guard, handlers, resolvers),
  };
  const router = express.Router({ caseSensitive: true });
  router.use(
    routerOf(
      statusRouter(parts, options.status),
      globalRouter(parts),
      lookupRouter(parts),
      referenceRouter(parts),
      entitlementRouter(parts, finder),
      groupRouter(parts),
      providerRouter(parts, defaults),
      workloadRouter(parts, moves, options.maxInstances),
      refusedRouter(parts),
      recordRouter(parts),
    ),
  );
  router.use((req) => {
    throw noRoute(req);
  });
  router.use(answerErrors(options.onFault));
  return router;
}

function guardOf({ core, authenticator, addressesFor, typePrefix }: ResourceRoutesOptions): RouteGuard<ExtraInput> {
  const { service, authorizer, live } = core;
  const { view } = service;
  const texts = new RenderedTexts(view);
  return {
    view,
    authorizer,
    matches: isResourcePath,
    requirePath,
    query: { showcredentials: showCredentials },
    /** Throws the 401 of D-181, on a known route before anything is looked up. */
    callerOf(req) {
      const { fqon } = req.params;
      const isKnown = typeof fqon === 'string' && findOrganization(view, fqon) !== undefined;
      const { securityUrl } = addressesFor(req);
      return authenticate(authenticator.identify(req.headers.authorization), {
        securityUrl,
        ...(isKnown && { fqon }),
        basicRealm: basicRealmFor(req, securityUrl),
      });
    },
    extendInput({ caller, common, req }) {
      const actor = {
        ...actorOf(caller, req),
        requestId: randomUUID(),
        args: Object.fromEntries(queryOf(req)),
      };
      const renderer = new Renderer({
        view,
        typePrefix,
        live,
        ...addressesFor(req),
        texts,
        canView: (resource) => service.canView(actor, resource),
        // Only those who may change a provider see its credentials (D-066).
        showCredentials: (resource) =>
          common.showcredentials === true && service.may(actor, 'provider.update', resource),
      });
      return { actor, renderer };
    },
  };
}

/** Membership of a group by query: `PATCH|DELETE F/groups/{id}/users?id=..&id=..` (D-073). */
function groupRouter({ service, answer }: ResourceRouteParts): MountedRoute[] {
  const { view } = service;

  const change = async (
    { actor, renderer, query, found }: ExtraInput & { query: { id: Uuid[] }; found: { group_id: StoredResource } },
    membersAfter: (before: Uuid[], ids: Uuid[]) => Uuid[],
  ) => {
    for (const id of query.id)
      if (view.find(id)?.type !== USER) throw new PlatformError('reference_not_found', `user ${id} not found`);
    const after = await service.setProperties(actor, found.group_id.id, 'update', (before) => ({
      ...before.properties,
      users: membersAfter(memberIds(before), query.id),
    }));
    return memberIds(after).map((id) => renderer.linkTo(id, USER));
  };
  return answer(membershipRoutes, {
    addGroupMembers: (input) => change(input, (before, ids) => [...new Set([...before, ...ids])]),
    removeGroupMembers: (input) => change(input, (before, ids) => before.filter((id) => !ids.includes(id))),
  });
}

/** Administration of providers: initialize, redeploy, actions (D-067, D-069). */
function providerRouter({ answer }: ResourceRouteParts, defaults: ProviderDefaults): MountedRoute[] {
  return answer(providerRoutes, {
    async initializeProviders({ actor, renderer }) {
      const providers = await defaults.initialize(actor);
      return { status: 'initialized' as const, providers: providers.map((provider) => renderer.link(provider)) };
    },
    redeployProvider() {},
    actOnProvider({ query: { action } }) {
      throw new PlatformError('not_supported', `provider action '${action.slice(0, 64)}' is not emulated (D-069)`);
    },
  });
}
