import type { Operation } from 'fast-json-patch';
import { entitlementRoutes, readEntitlement, type WrittenEntitlement } from '../../api/routes/meta-any.ts';
import type { MountedRoute } from '../../api/server/mount-routes.ts';
import { invalid, PlatformError } from '../../model/errors.ts';
import { isJsonObject, type Json, type JsonObject, memberOf } from '../../model/json.ts';
import { applyPatch } from '../../model/patch/patch.ts';
import { aGroup, aUser } from '../../model/property-facts.ts';
import type { StoredResource, Uuid } from '../../model/record.ts';
import { typeOf } from '../../model/registry.ts';
import { actionsOf } from '../../model/rules/actions.ts';
import { typeIdOf, USER } from '../../model/type-names.ts';
import { GROUP, isIdentity } from '../../model/types/group.ts';
import { SECURITY_KEY } from '../../model/types/schema-parts.ts';
import {
  type Entitlement,
  type EntitlementFinder,
  entitlementsOf,
  findEntitlement,
  grantsAfter,
  noneAsUndefined,
} from '../security/entitlements.ts';
import type { Actor } from './actor.ts';
import type { Renderer } from './renderer.ts';
import {
  type ExtraInput,
  embeddable,
  inForm,
  isText,
  type Listing,
  type ResourceRouteParts,
  requireKnown,
} from './selection.ts';

export const ENTITLEMENT = 'Resource::Entitlement';

const FILTERS = ['name', 'description', 'id', 'action', 'identities', 'value'];

export type Entitlements = ReturnType<typeof entitlementsFor>;

/** Entitlements: computed from what was granted and refused at each resource, read and replaced by id (D-115, D-119). */
export function entitlementsFor(service: ResourceRouteParts['service'], finder: EntitlementFinder) {
  const { view } = service;

  /** New identities must exist and, unless they belong to the organization or one above, be visible to the caller (D-117). */
  const requireIdentities = (actor: Actor, { resource, identities: before }: Entitlement, ids: readonly Uuid[]) => {
    for (const [index, id] of ids.entries()) {
      const pointer = `/properties/identities/${index}`;
      const found = view.find(id);
      if (!isIdentity(found)) throw invalid(pointer, `is not the id of a user or group: ${id}`);
      if (before.includes(id)) continue;
      const target = found.type === USER ? aUser : aGroup;
      service.drafts.requireReach(actor, target, found, { parent: resource, pointer });
    }
  };

  /** The lists of an endpoint's enabled security plugin follow the identities of its invoke entitlement (D-120). */
  const withInvokers = ({ properties }: StoredResource, identities: readonly Uuid[]): JsonObject => {
    const { plugins } = properties;
    if (!isJsonObject(plugins)) return properties;
    const idsOfType = (type: string) => identities.filter((id) => view.find(id)?.type === type);
    const rewritten = Object.entries(plugins).map(([key, plugin]): [string, Json] => {
      const isSecurity = SECURITY_KEY.test(key) && isJsonObject(plugin) && plugin.enabled === true;
      return [key, isSecurity ? { ...plugin, users: idsOfType(USER), groups: idsOfType(GROUP) } : plugin];
    });
    return { ...properties, plugins: Object.fromEntries(rewritten) };
  };

  const replace = async ({ actor, renderer }: ExtraInput, entitlement: Entitlement, written: WrittenEntitlement) => {
    const { id, resource, action } = entitlement;
    if (written.id !== undefined && written.id.toLowerCase() !== id)
      throw new PlatformError('immutable_value', `the id of entitlement ${id} cannot be changed`);
    if (written.properties.action !== action)
      throw new PlatformError(
        'immutable_value',
        `the action of entitlement ${id} is '${action}' and cannot be changed`,
      );
    const identities = written.properties.identities.map((identity) => identity.toLowerCase());
    requireIdentities(actor, entitlement, identities);
    const { value } = written.properties;
    const newGrant = { identities, ...(value !== undefined && { value }) };
    const after = await service.setGrants(actor, resource.id, (before) => ({
      grants: grantsAfter(view, before, action, newGrant),
      ...(action === 'apiendpoint.invoke' && { properties: withInvokers(before, identities) }),
    }));
    return recordOf(findEntitlement(view, after, action) ?? entitlement, renderer);
  };

  return {
    list(
      { actor, renderer, query: { action, ...query } }: Listing & { query: { action?: string | undefined } },
      node: StoredResource,
    ) {
      if (!service.may(actor, 'entitlement.view', node)) return [];
      finder.remember(node);
      const filter: Readonly<Record<string, string>> = { ...query.filter, ...(action !== undefined && { action }) };
      const unknown = Object.keys(filter).filter((name) => !FILTERS.includes(name));
      requireKnown(unknown, FILTERS, 'entitlements');
      const listed = entitlementsOf(view, node).filter((entitlement) =>
        Object.entries(filter).every(([name, expected]) => isText(memberOf(fieldsOf(entitlement), name), expected)),
      );
      return inForm(query, listed, {
        link: (entitlement) => linkOf(entitlement, renderer),
        record: (entitlement) => recordOf(entitlement, renderer),
      });
    },

    read({ renderer, query }: ExtraInput & { query: { embed?: string[] } }, entitlement: Entitlement) {
      embeddable(query.embed);
      return recordOf(entitlement, renderer);
    },

    /** Every action of a node has its entitlement, so there is nothing to create: 409, or 400 for an unknown action (D-119). */
    refuseNew({ properties: { action } }: WrittenEntitlement, node: StoredResource): never {
      if (!actionsOf(node).has(action)) throw unknownAction(action, node);
      const existing = findEntitlement(view, node, action);
      throw new PlatformError(
        'name_taken',
        `entitlement '${existing?.name}' exists; change it with PUT .../entitlements/${existing?.id}`,
      );
    },

    replace,

    async patch(input: ExtraInput, { id, resource }: Entitlement, operations: readonly Operation[]) {
      // Others may have changed it while the body was on its way.
      service.demand(input.actor, 'entitlement.update', resource);
      const present = finder.find(id, resource);
      if (!present) throw new PlatformError('not_found', `entitlement ${id} not found`);
      const { name, action, identities, value } = present;
      const written = { name, properties: { action, identities, ...(value !== undefined && { value }) } };
      const patched = applyPatch(written, () => recordOf(present, input.renderer), operations, {
        renamable: false,
        serverSet: ['parent', 'action'],
        unreadable: [],
        replaceCreates: [],
      });
      return replace(input, present, readEntitlement(patched));
    },

    async reset({ actor }: ExtraInput, { resource, action }: Entitlement): Promise<void> {
      await service.setGrants(actor, resource.id, (before) => {
        const { [action]: _, ...otherGrants } = before.grants ?? {};
        return { grants: noneAsUndefined(otherGrants) };
      });
    },
  };
}

export function entitlementRouter(
  { answer }: Pick<ResourceRouteParts, 'answer'>,
  entitlements: Entitlements,
): MountedRoute[] {
  const { ofOrganization, ofResource, alone, top } = entitlementRoutes;
  return [
    ...answer(ofOrganization.all, {
      listEntitlements: (input) => entitlements.list(input, input.found.fqon),
      createEntitlement: ({ body, found }) => entitlements.refuseNew(body, found.fqon),
    }),
    ...answer(ofResource.all, {
      listEntitlements: (input) => entitlements.list(input, input.found.resource_id),
      createEntitlement: ({ body, found }) => entitlements.refuseNew(body, found.resource_id),
    }),
    ...[ofOrganization.one, ofResource.one].flatMap((rows) =>
      answer(rows, {
        readEntitlement: (input) => entitlements.read(input, input.found.entitlement_id),
        replaceEntitlement: (input) => entitlements.replace(input, input.found.entitlement_id, input.body),
        patchEntitlement: (input) => entitlements.patch(input, input.found.entitlement_id, input.body),
        resetEntitlement: (input) => entitlements.reset(input, input.found.entitlement_id),
      }),
    ),
    ...answer(top, { readEntitlement: (input) => entitlements.read(input, input.found.entitlement_id) }),
    ...answer(alone, {
      readEntitlement: (input) => entitlements.read(input, input.found.unrecorded_id),
      replaceEntitlement: (input) => entitlements.replace(input, input.found.unrecorded_id, input.body),
      patchEntitlement: (input) => entitlements.patch(input, input.found.unrecorded_id, input.body),
      resetEntitlement: (input) => entitlements.reset(input, input.found.unrecorded_id),
    }),
  ];
}

function unknownAction(action: string, node: StoredResource): PlatformError {
  return new PlatformError(
    'invalid_body',
    `'${action.slice(0, 64)}' is not an action of ${typeOf(node).singular} '${node.name}' (D-116)`,
    {
      details: [{ pointer: '/properties/action', message: `must be one of ${[...actionsOf(node)].join(', ')}` }],
    },
  );
}

function linkOf({ id, name, resource }: Entitlement, renderer: Renderer): JsonObject {
  const href = `${renderer.organizationHref(resource)}/entitlements/${id}`;
  return { typeId: typeIdOf(ENTITLEMENT), id, name, href };
}

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
      identities: identities.map((identity) => renderer.linkTo(identity, USER)),
      ...(value !== undefined && { value }),
      parent: renderer.link(resource),
    },
  };
}
