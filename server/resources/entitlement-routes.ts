import type { Operation } from 'fast-json-patch';
import { readEntitlement, type WrittenEntitlement } from '../contract/entitlement.ts';
import { entitlementRows } from '../contract/meta-any.ts';
import type { Served } from '../http/serve.ts';
import { actionsOf } from '../model/actions.ts';
import { invalid, PlatformError } from '../model/errors.ts';
import type { Uuid } from '../model/ids.ts';
import { isJsonObject, type Json, type JsonObject, memberOf } from '../model/json.ts';
import { applyPatch } from '../model/patch.ts';
import type { StoredResource } from '../model/record.ts';
import { aGroup, aUser } from '../model/reference-facts.ts';
import { typeOf } from '../model/registry.ts';
import { typeIdOf, USER } from '../model/type-names.ts';
import { SECURITY_KEY } from '../model/types/brand-keys.ts';
import { GROUP } from '../model/types/group.ts';
import type { EntitlementFinder } from '../security/entitlement-finder.ts';
import {
  type Entitlement,
  entitlementsOf,
  findEntitlement,
  grantsAfter,
  noneAsUndefined,
} from '../security/entitlements.ts';
import type { Act } from './act.ts';
import { demandKnown } from './filter-names.ts';
import { demandWithin } from './reach.ts';
import type { Renderer } from './renderer.ts';
import type { Given, ResourceRouteParts } from './route-parts.ts';
import { inForm, isText, type Listing } from './selection.ts';

const ENTITLEMENT = 'Resource::Entitlement';

const FILTERS = ['name', 'description', 'id', 'action', 'identities', 'value'];

/** Entitlements: computed from what was granted and refused at each resource, read and replaced by id (D-115, D-119). */
export function entitlementRoutes({ service, answer }: ResourceRouteParts, finder: EntitlementFinder): Served[] {
  const { view } = service;

  const list = (
    { act, renderer, query: { action, ...query } }: Listing & { query: { action: string | undefined } },
    node: StoredResource,
  ) => {
    if (!service.may(act, 'entitlement.view', node)) return [];
    finder.remember(node);
    const filter: Readonly<Record<string, string>> = { ...query.filter, ...(action !== undefined && { action }) };
    const unknown = Object.keys(filter).filter((name) => !FILTERS.includes(name));
    demandKnown(unknown, FILTERS, 'entitlements');
    const shown = entitlementsOf(view, node).filter((one) =>
      Object.entries(filter).every(([name, wanted]) => isText(memberOf(fieldsOf(one), name), wanted)),
    );
    return inForm(query, shown, { link: (one) => linkOf(one, renderer), record: (one) => recordOf(one, renderer) });
  };

  /** Every action of a node has its entitlement, so there is nothing to create: 409, or 400 for an unknown action (D-119). */
  const refuseNew = ({ properties: { action } }: WrittenEntitlement, node: StoredResource): never => {
    if (!actionsOf(node).has(action)) throw unknownAction(action, node);
    const existing = findEntitlement(view, node, action);
    throw new PlatformError(
      409,
      `entitlement '${existing?.name}' exists; change it with PUT .../entitlements/${existing?.id}`,
    );
  };

  const replace = async ({ act, renderer }: Given, entitlement: Entitlement, written: WrittenEntitlement) => {
    const { resource, action } = entitlement;
    if (written.id !== undefined && written.id.toLowerCase() !== entitlement.id) {
      throw new PlatformError(409, `the id of entitlement ${entitlement.id} cannot be changed`);
    }
    if (written.properties.action !== action) {
      throw new PlatformError(409, `the action of entitlement ${entitlement.id} is '${action}' and cannot be changed`);
    }
    const identities = written.properties.identities.map((id) => id.toLowerCase());
    const known = new Set(entitlement.identities);
    for (const [index, id] of identities.entries()) demandIdentity(act, resource, id, index, known);
    const { value } = written.properties;
    const wanted = { identities, ...(value !== undefined && { value }) };
    const after = await service.setGrants(act, resource.id, (before) => ({
      grants: grantsAfter(view, before, action, wanted),
      ...(action === 'apiendpoint.invoke' && { properties: withInvokers(before, identities) }),
    }));
    return recordOf(findEntitlement(view, after, action) ?? entitlement, renderer);
  };

  const patch = async (given: Given, { id, resource }: Entitlement, operations: readonly Operation[]) => {
    // Others may have changed it while the body was on its way.
    service.demand(given.act, 'entitlement.update', resource);
    const present = finder.find(id, resource);
    if (!present) throw new PlatformError(404, `entitlement ${id} not found`);
    const { name, action, identities, value } = present;
    const written = { name, properties: { action, identities, ...(value !== undefined && { value }) } };
    const envelope = () => recordOf(present, given.renderer);
    const shown = { envelope, properties: () => envelope().properties };
    const patched = applyPatch(written, shown, operations, {
      renamable: false,
      serverSet: ['parent', 'action'],
      unreadable: [],
      replaceCreates: [],
    });
    return replace(given, present, readEntitlement(patched));
  };

  /** Back to what is inherited. */
  const reset = async ({ act }: Given, { resource, action }: Entitlement): Promise<void> => {
    await service.setGrants(act, resource.id, (before) => {
      const { [action]: _, ...others } = before.grants ?? {};
      return { grants: noneAsUndefined(others) };
    });
  };

  /** Whoever is newly named has to be there and, unless he is of the organization or one above, to be seen by the caller (D-117). */
  const demandIdentity = (
    act: Act,
    resource: StoredResource,
    id: Uuid,
    index: number,
    known: ReadonlySet<Uuid>,
  ): void => {
    const pointer = `/properties/identities/${index}`;
    const found = view.find(id);
    if (found?.type !== USER && found?.type !== GROUP) throw invalid(pointer, `names no user or group: ${id}`);
    if (known.has(id)) return;
    demandWithin(service.drafts.naming(act, resource), found.type === USER ? aUser : aGroup, found, pointer);
  };

  /** The lists of an endpoint's enabled security plugin follow the identities of its invoke entitlement (D-120). */
  const withInvokers = (endpoint: StoredResource, identities: readonly Uuid[]): JsonObject => {
    const { plugins } = endpoint.properties;
    if (!isJsonObject(plugins)) return endpoint.properties;
    const of = (type: string) => identities.filter((id) => view.find(id)?.type === type);
    const rewritten = Object.entries(plugins).map(([key, plugin]): [string, Json] => {
      const isSecurity = SECURITY_KEY.test(key) && isJsonObject(plugin) && plugin.enabled === true;
      return [key, isSecurity ? { ...plugin, users: of(USER), groups: of(GROUP) } : plugin];
    });
    return { ...endpoint.properties, plugins: Object.fromEntries(rewritten) };
  };

  const { ofOrganization, ofResource, alone } = entitlementRows;
  return [
    ...answer(ofOrganization.all, {
      listEntitlements: (asked) => list(asked, asked.found.fqon),
      createEntitlement: ({ body, found }) => refuseNew(body, found.fqon),
    }),
    ...answer(ofResource.all, {
      listEntitlements: (asked) => list(asked, asked.found.resource_id),
      createEntitlement: ({ body, found }) => refuseNew(body, found.resource_id),
    }),
    ...[ofOrganization.one, ofResource.one].flatMap((rows) =>
      answer(rows, {
        readEntitlement: ({ found, renderer }) => recordOf(found.entitlement_id, renderer),
        replaceEntitlement: (asked) => replace(asked, asked.found.entitlement_id, asked.body),
        patchEntitlement: (asked) => patch(asked, asked.found.entitlement_id, asked.body),
        resetEntitlement: (asked) => reset(asked, asked.found.entitlement_id),
      }),
    ),
    ...answer(alone, {
      readEntitlement: ({ found, renderer }) => recordOf(found.unrecorded_id, renderer),
      replaceEntitlement: (asked) => replace(asked, asked.found.unrecorded_id, asked.body),
      patchEntitlement: (asked) => patch(asked, asked.found.unrecorded_id, asked.body),
      resetEntitlement: (asked) => reset(asked, asked.found.unrecorded_id),
    }),
  ];
}

function unknownAction(action: string, node: StoredResource): PlatformError {
  return new PlatformError(
    400,
    `'${action.slice(0, 64)}' is no action of ${typeOf(node).noun} '${node.name}' (D-116)`,
    {
      details: [{ pointer: '/properties/action', message: `must be one of ${[...actionsOf(node)].join(', ')}` }],
    },
  );
}

function hrefOf({ id, resource }: Entitlement, renderer: Renderer): string {
  return `${renderer.organizationHref(resource)}/entitlements/${id}`;
}

function linkOf(entitlement: Entitlement, renderer: Renderer): JsonObject {
  const { id, name } = entitlement;
  return { typeId: typeIdOf(ENTITLEMENT), id, name, href: hrefOf(entitlement, renderer) };
}

/** What lists are filtered by. */
function fieldsOf({ id, name, action, value = null }: Entitlement): JsonObject {
  return { id, name, action, value };
}

/** The record form: provenance is that of the resource it belongs to. */
function recordOf(entitlement: Entitlement, renderer: Renderer) {
  const { id, name, action, resource, identities, value } = entitlement;
  const { resource_state, org, owner, created, modified } = renderer.record(resource);
  return {
    id,
    name,
    resource_type: renderer.fullName(ENTITLEMENT),
    resource_state,
    org,
    owner,
    created,
    modified,
    properties: {
      action,
      identities: identities.map((one) => renderer.linkTo(one, USER)),
      ...(value !== undefined && { value }),
      parent: renderer.link(resource),
    },
  };
}
