import { randomUUID } from 'node:crypto';
import express, { type Request, type Router } from 'express';
import type { Operation } from 'fast-json-patch';
import { anyRoutes } from '../../api/routes/meta-any.ts';
import { openRoutes, openTypeRoutes } from '../../api/routes/meta-open.ts';
import { referringRoutes, refusedRoutes, typeChangeRoutes } from '../../api/routes/meta-refused.ts';
import {
  envRoutes,
  lambdaEnvRoutes,
  membershipRoutes,
  providerRoutes,
  scaleRoutes,
} from '../../api/routes/meta-types.ts';
import { showCredentials } from '../../api/routes/records.ts';
import { answerErrors } from '../../api/server/answer-error.ts';
import { authenticate, basicRealmFor } from '../../api/server/authenticate.ts';
import { type MountedRoute, mountedRoutes, type RouteGuard, routerOf } from '../../api/server/mount-routes.ts';
import { queryOf } from '../../api/server/read-body.ts';
import type { Authenticator } from '../../model/caller.ts';
import { PlatformError } from '../../model/errors.ts';
import type { Json } from '../../model/json.ts';
import type { StoredResource, Uuid } from '../../model/record.ts';
import {
  closestAncestor,
  ENVIRONMENT,
  findOrganization,
  mergedEnv,
  ORGANIZATION,
  WORKSPACE,
} from '../../model/rules/hierarchy.ts';
import { USER } from '../../model/type-names.ts';
import { isTypeWord } from '../../model/type-words.ts';
import { memberIds } from '../../model/types/group.ts';
import { actorOf } from './actor.ts';
import type { ControlPlane } from './control-plane.ts';
import { entitlementRouter, entitlementsFor } from './entitlement-routes.ts';
import { globalRouter, referenceRouter } from './global-routes.ts';
import type { Moves } from './moves.ts';
import { isResourcePath, listBelow, listOwned, noRoute, ofReferringList, pathResolvers, requirePath } from './paths.ts';
import type { DeletionQuery } from './plan-deletion.ts';
import type { ProviderDefaults } from './provider-defaults.ts';
import { type RecordView, RenderedTexts, Renderer } from './renderer.ts';
import { create, type ExtraInput, type Listing, list, type ResourceRouteParts, read } from './selection.ts';
import { type StatusOptions, statusRouter } from './status-routes.ts';

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
  const entitlements = entitlementsFor(service, finder);
  const router = express.Router({ caseSensitive: true });
  router.use(
    routerOf(
      statusRouter(parts, options.status),
      globalRouter(parts),
      lookupRouter(parts),
      referenceRouter(parts, entitlements),
      entitlementRouter(parts, entitlements),
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
      const identification = authenticator.identify(req.headers.authorization);
      if (identification.kind === 'caller') return identification.caller;
      const { fqon } = req.params;
      const isKnown = typeof fqon === 'string' && findOrganization(view, fqon) !== undefined;
      const { securityUrl } = addressesFor(req);
      return authenticate(identification, {
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

/** Values that follow from a resource's parents: inherited environment variables, its context, its actions (D-112, D-015). */
function lookupRouter({ service: { view }, answer }: ResourceRouteParts): MountedRoute[] {
  const context = ({ renderer }: ExtraInput, resource: StoredResource) => {
    const [workspace, environment] = [
      closestAncestor(view, resource, WORKSPACE),
      closestAncestor(view, resource, ENVIRONMENT),
    ];
    const isPlace = [ORGANIZATION, WORKSPACE, ENVIRONMENT].includes(resource.type);
    return {
      organization: renderer.link(closestAncestor(view, resource, ORGANIZATION) ?? view.root),
      ...(workspace && { workspace: renderer.link(workspace) }),
      ...(environment && { environment: renderer.link(environment) }),
      ...(!isPlace && { resource: renderer.link(resource) }),
    };
  };
  const rows = { ...anyRoutes, ...envRoutes, ...lambdaEnvRoutes, readEnv: openTypeRoutes.readEnv };
  return answer(rows, {
    readTop: (input) => read(input, input.found.resource_id),
    readContextOfOrganization: (input) => context(input, input.found.fqon),
    listActionsOfOrganization: () => [],
    readContextOfResource: (input) => context(input, input.found.resource_id),
    listActionsOfResource: () => [],
    readContextOfChild: (input) => context(input, input.found.child_id),
    listNotEmulated: () => [],
    createNotEmulated: ({ path }) => refuseNotEmulated(path.listed_word),
    readEnvOfOrganization: ({ found }) => mergedEnv(view, found.fqon),
    readEnvOfLambdaById: ({ found }) => mergedEnv(view, found.lambda_id),
    readEnv: ({ found }) => mergedEnv(view, found.resource_id),
  });
}

/** The routes that are the same for every type (D-002, D-004, D-005, D-008). */
function recordRouter({ service, answer }: ResourceRouteParts): MountedRoute[] {
  const { view } = service;

  const patch = async ({ actor, renderer, body }: ExtraInput & { body: Operation[] }, { id }: StoredResource) =>
    renderer.record(await service.patch(actor, id, body, renderer));
  const replace = async ({ actor, renderer, body }: ExtraInput & { body: Json | undefined }, { id }: StoredResource) =>
    renderer.record(await service.replace(actor, id, body));
  const remove = ({ actor, query }: ExtraInput & { query: DeletionQuery }, { id }: StoredResource) =>
    service.remove(actor, id, query);
  /** Lists of words that are only listed are empty (D-190). */
  const listOf = (input: Listing, collection: string, resources: typeof listOwned, from: StoredResource) =>
    isTypeWord(collection) || collection === 'resources'
      ? list(service, input, resources(view, from, collection), collection)
      : [];
  const refuseAction = (): never => {
    throw new PlatformError('not_supported', 'actions on lists, such as import, are not emulated (D-211)');
  };

  return answer(openRoutes, {
    listRecords: (input) => listOf(input, input.path.word, listOwned, input.found.fqon),
    actOnList: refuseAction,
    createRecord: (input) => create(service, input, input.found.fqon, input.found.new_word),
    patchList: refuseListPatch,
    readRecord: (input) => read(input, input.found.resource_id),
    patchRecord: (input) => patch(input, input.found.resource_id),
    replaceRecord: (input) => replace(input, input.found.replaceable_id),
    deleteRecord: (input) => remove(input, input.found.resource_id),
    listChildRecords: (input) => listOf(input, input.path.child_word, listBelow, input.found.resource_id),
    actOnChildren: refuseAction,
    createChild: (input) => create(service, input, input.found.parent_id, input.found.new_word),
    patchChildren: refuseListPatch,
    readChild: (input) => read(input, input.found.child_id),
    patchChild: (input) => patch(input, input.found.own_id),
    replaceChild: (input) => replace(input, input.found.own_replaceable_id),
    deleteChild: (input) => remove(input, input.found.own_id),
  });
}

/** Migrate, promote and scale: `POST F/containers|lambdas/{id}/...`, 202 with the full record (D-008, D-053, D-131). */
function workloadRouter({ service, answer }: ResourceRouteParts, moves: Moves, maxInstances: number): MountedRoute[] {
  const accepted = ({ renderer }: ExtraInput, id: Uuid): RecordView => renderer.record(service.get(id));
  const { migrate, promote } = openTypeRoutes;
  const rows = { migrate, promote, ...scaleRoutes };
  return answer(rows, {
    async migrate({ found: { resource_id: source }, query, ...input }) {
      await moves.migrate(input.actor, source, query.provider);
      return accepted(input, source.id);
    },
    async promote({ found: { resource_id: source }, query, ...input }) {
      await moves.promote(input.actor, source, query.target);
      return accepted(input, source.id);
    },
    async scaleContainer({ found: { container_id: container }, query: { numInstances }, ...input }) {
      if (numInstances > maxInstances) {
        throw new PlatformError(
          'invalid_query',
          `query parameter 'numInstances' must be an integer from 0 to ${maxInstances}`,
        );
      }
      await service.setProperties(input.actor, container.id, 'scale', (before) => ({
        ...before.properties,
        num_instances: numInstances,
      }));
      return accepted(input, container.id);
    },
  });
}

function refusedRouter({ answer }: ResourceRouteParts): MountedRoute[] {
  return [
    ...answer(refusedRoutes, {
      patchGlobalList: refuseListPatch,
      createNotEmulatedBelow: ({ path }) => refuseNotEmulated(path.listed_word),
      actOnOther({ req }) {
        throw noRoute(req);
      },
    }),
    ...answer(
      referringRoutes,
      allOf(referringRoutes, ({ path, req }) => {
        const collection = path.child_word;
        throw isTypeWord(collection) ? ofReferringList(path, collection) : noRoute(req);
      }),
    ),
    ...answer(
      typeChangeRoutes,
      allOf(typeChangeRoutes, () => {
        throw new PlatformError('not_supported', 'changing resource types is not emulated (D-211)');
      }),
    ),
  ];
}

function allOf<Handle>(table: object, handle: Handle): Record<string, Handle> {
  return Object.fromEntries(Object.keys(table).map((id) => [id, handle]));
}

function refuseListPatch(): never {
  throw new PlatformError('invalid_request', 'a list cannot be patched; PATCH one of its resources (D-090)');
}

function refuseNotEmulated(collection: string): never {
  throw new PlatformError('not_supported', `${collection} are not emulated (D-210)`);
}
