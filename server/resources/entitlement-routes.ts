import { z } from 'zod';
import { actionsOf } from '../model/actions.ts';
import { invalid, PlatformError } from '../model/errors.ts';
import { parseUuid, type Uuid } from '../model/ids.ts';
import { isJsonObject, type Json, type JsonObject, memberOf } from '../model/json.ts';
import { applyPatch, parsePatch } from '../model/patch.ts';
import type { StoredResource } from '../model/record.ts';
import { aGroup, aUser } from '../model/reference-facts.ts';
import { typeOf } from '../model/registry.ts';
import { typeIdOf, USER } from '../model/type-names.ts';
import { SECURITY_KEY } from '../model/types/brand-keys.ts';
import { GROUP } from '../model/types/group.ts';
import { parseWith } from '../model/validate.ts';
import type { EntitlementFinder } from '../security/entitlement-finder.ts';
import { type Entitlement, entitlementsOf, findEntitlement, grantsAfter } from '../security/entitlements.ts';
import { demandKnown } from './filter-names.ts';
import type { Renderer } from './renderer.ts';
import { type Answer, ok, type ResourceRequest, type Route } from './request.ts';
import type { ResourceService } from './resource-service.ts';
import { filtersIn, inForm, isText } from './selection.ts';

const ENTITLEMENT = 'Resource::Entitlement';

/** The written form of an entitlement (D-074): identities as ids or links. */
const writtenSchema = z.object({
  id: z.guid('must be a UUID').optional(),
  name: z.string().optional(),
  properties: z.strictObject(
    {
      parent: z.unknown().optional().describe('Set by the server, ignored (D-028)'),
      action: z.string('is required: noun.verb, e.g. container.view'),
      identities: z.array(
        z.union(
          [z.guid(), z.object({ id: z.guid() }).transform((link) => link.id)],
          'must be an id or a link of a user or group',
        ),
        'is required: an array of ids of users or groups',
      ),
      value: z.json().optional(),
    },
    'is required: {action, identities}',
  ),
});

const FILTERS = ['name', 'description', 'id', 'action', 'identities', 'value'];

/** Entitlements: computed from what was granted and refused at each resource, read and replaced by id (D-115, D-119). */
export function entitlementRoutes(service: ResourceService, finder: EntitlementFinder): Route[] {
  const { view } = service;

  const list = (request: ResourceRequest, node: StoredResource): Answer => {
    if (!service.may(request.act, 'entitlement.view', node)) return ok([]);
    finder.remember(node);
    const { query, renderer } = request;
    const filters = filtersIn(query);
    demandKnown(
      filters.map(([name]) => name).filter((name) => !FILTERS.includes(name)),
      FILTERS,
      'entitlements',
    );
    const shown = entitlementsOf(view, node).filter((one) =>
      filters.every(([name, wanted]) => isText(memberOf(fieldsOf(one), name), wanted)),
    );
    return ok(inForm(query, shown, { link: (one) => linkOf(one, renderer), record: (one) => recordOf(one, renderer) }));
  };

  const find = (request: ResourceRequest, idText: string): Entitlement => {
    const id = parseUuid(idText);
    const found = finder.find(id, request.organization());
    if (!found) throw new PlatformError(404, `entitlement ${id} not found`);
    return found;
  };

  const read = (request: ResourceRequest, entitlement: Entitlement): Answer => {
    service.demand(request.act, 'entitlement.view', entitlement.resource);
    return ok(recordOf(entitlement, request.renderer));
  };

  /** Every action of a node has its entitlement, so there is nothing to create: 409, or 400 for an unknown action (D-119). */
  const create = async (request: ResourceRequest, node: StoredResource): Promise<Answer> => {
    service.demand(request.act, 'entitlement.create', node);
    const { action } = parseWith(writtenSchema, { name: '', ...object(await request.json()) }).properties;
    if (!actionsOf(node).has(action)) throw unknownAction(action, node);
    const existing = findEntitlement(view, node, action);
    throw new PlatformError(
      409,
      `entitlement '${existing?.name}' exists; change it with PUT .../entitlements/${existing?.id}`,
    );
  };

  const replace = async (
    request: ResourceRequest,
    entitlement: Entitlement,
    body: Json | undefined,
  ): Promise<Answer> => {
    const { resource, action } = entitlement;
    service.demand(request.act, 'entitlement.update', resource);
    const written = parseWith(writtenSchema, body);
    if (written.id !== undefined && written.id.toLowerCase() !== entitlement.id) {
      throw new PlatformError(409, `the id of entitlement ${entitlement.id} cannot be changed`);
    }
    if (written.properties.action !== action) {
      throw new PlatformError(409, `the action of entitlement ${entitlement.id} is '${action}' and cannot be changed`);
    }
    const identities = written.properties.identities.map((id) => id.toLowerCase());
    const known = new Set(entitlement.identities);
    for (const [index, id] of identities.entries()) demandIdentity(request, resource, id, index, known);
    const { value } = written.properties;
    const wanted = { identities, ...(value !== undefined && { value }) };
    const after = await service.setGrants(request.act, resource.id, (before) => ({
      grants: grantsAfter(view, before, action, wanted),
      ...(action === 'apiendpoint.invoke' && { properties: withInvokers(before, identities) }),
    }));
    return ok(recordOf(findEntitlement(view, after, action) ?? entitlement, request.renderer));
  };

  const patch = async (request: ResourceRequest, entitlement: Entitlement): Promise<Answer> => {
    service.demand(request.act, 'entitlement.update', entitlement.resource);
    const operations = parsePatch(await request.patchJson());
    // Others may have changed it while the body was on its way.
    const present = find(request, entitlement.id);
    const { name, action, identities, value } = present;
    const written = { name, properties: { action, identities, ...(value !== undefined && { value }) } };
    const record = () => recordOf(present, request.renderer);
    const shown = { record, properties: () => record().properties };
    const patched = applyPatch(written, shown, operations, {
      renamable: false,
      serverSet: ['parent', 'action'],
      unreadable: [],
      replaceCreates: [],
    });
    return replace(request, present, patched);
  };

  /** Back to what is inherited. */
  const reset = async (request: ResourceRequest, entitlement: Entitlement): Promise<Answer> => {
    service.demand(request.act, 'entitlement.delete', entitlement.resource);
    await service.setGrants(request.act, entitlement.resource.id, (before) => {
      const { [entitlement.action]: _, ...others } = before.grants ?? {};
      return { grants: Object.keys(others).length > 0 ? others : undefined };
    });
    return { status: 204 };
  };

  /** Whoever is newly named has to be there and, unless he is of the organization or one above, to be seen by the caller (D-117). */
  const demandIdentity = (
    request: ResourceRequest,
    resource: StoredResource,
    id: Uuid,
    index: number,
    known: ReadonlySet<Uuid>,
  ): void => {
    const pointer = `/properties/identities/${index}`;
    const found = view.find(id);
    if (found?.type !== USER && found?.type !== GROUP) throw invalid(pointer, `names no user or group: ${id}`);
    if (known.has(id)) return;
    service.demandWithin(request.act, resource, found.type === USER ? aUser : aGroup, found, pointer);
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

  const one = (request: ResourceRequest) => find(request, request.segment('id'));
  const second = (request: ResourceRequest) => {
    const resource = request.resource();
    const found = find(request, request.segment('childId'));
    if (found.resource.id === resource.id) return found;
    throw new PlatformError(404, `entitlement ${found.id} is not one of resource ${request.segment('id')}`);
  };
  /** Whatever an id is of (D-005): an entitlement has no record, so it is looked for when no record has the id. */
  const ofAnyType = (request: ResourceRequest) => {
    const id = parseUuid(request.segment('id'));
    return view.find(id) ? undefined : finder.find(id, request.organization());
  };
  const atOrganization = '/:fqon/entitlements';
  const atResource = '/:fqon/:word/:id/entitlements';
  const byId = (path: string, find: (request: ResourceRequest) => Entitlement | undefined): Route[] => {
    const found = (handle: (request: ResourceRequest, entitlement: Entitlement) => Answer | Promise<Answer>) => {
      return (request: ResourceRequest) => {
        const entitlement = find(request);
        return entitlement && handle(request, entitlement);
      };
    };
    return [
      { verb: 'get', path, handle: found(read) },
      { verb: 'put', path, handle: found(async (request, one) => replace(request, one, await request.json())) },
      { verb: 'patch', path, handle: found(patch) },
      { verb: 'delete', path, handle: found(reset) },
    ];
  };
  return [
    { verb: 'get', path: atOrganization, handle: (request) => list(request, request.organization()) },
    { verb: 'post', path: atOrganization, handle: (request) => create(request, request.organization()) },
    { verb: 'get', path: atResource, handle: (request) => list(request, request.resource()) },
    { verb: 'post', path: atResource, handle: (request) => create(request, request.resource()) },
    ...byId(`${atOrganization}/:id`, one),
    ...byId(`${atResource}/:childId`, second),
    ...byId('/:fqon/resources/:id', ofAnyType),
  ];
}

function object(body: Json | undefined): JsonObject {
  if (!isJsonObject(body)) throw new PlatformError(400, 'send {"properties": {"action", "identities"}}');
  return body;
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
function recordOf(entitlement: Entitlement, renderer: Renderer): JsonObject & { properties: JsonObject } {
  const { id, name, action, resource, identities, value } = entitlement;
  const { resource_state, org, owner, created, modified } = renderer.record(resource) as JsonObject & Provenance;
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

/** Members that a rendered record always has (D-022). */
type Provenance = Record<'resource_state' | 'org' | 'owner' | 'created' | 'modified', Json>;
