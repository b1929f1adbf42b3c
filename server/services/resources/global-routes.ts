import { z } from 'zod';
import { referenceRoutes } from '../../api/routes/meta-any.ts';
import { globalRoutes, organizationRoutes } from '../../api/routes/meta-global.ts';
import type { MountedRoute } from '../../api/server/mount-routes.ts';
import { PlatformError } from '../../model/errors.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import { matchesStars } from '../../model/matches-stars.ts';
import type { StoredResource } from '../../model/record.ts';
import { fullNamesOf, resourceTypes } from '../../model/registry.ts';
import { concreteTypes, type TypeName, typeIdOf, typeNames } from '../../model/type-names.ts';
import {
  dataTypes,
  environmentTypes,
  requirementTypes,
  resourceStates,
  visibilityTypes,
} from '../../model/types/reference-lists.ts';
import { ENTITLEMENT, type Entitlements } from './entitlement-routes.ts';
import { listFromAbove } from './paths.ts';
import type { Renderer } from './renderer.ts';
import { create, type ExtraInput, inForm, type Listing, list, type ResourceRouteParts, read } from './selection.ts';

/** Routes of the platform as a whole, and of organizations by name (D-005, D-015, D-016, D-188, D-189). */
export function globalRouter({ service, answer }: ResourceRouteParts): MountedRoute[] {
  const { view } = service;
  const names = (
    { actor, query: { name: start } }: ExtraInput & { query: { name: string } },
    among: readonly StoredResource[],
  ) => {
    const found = among.filter((candidate) => candidate.name.startsWith(start) && service.canView(actor, candidate));
    return found.map(({ name }) => name);
  };
  /** The records that match the only criterion of the query, in which `*` matches any text. Throws 400 unless there is exactly one. */
  const records = (
    { actor, renderer, query }: ExtraInput & { query: Readonly<Record<string, string | undefined>> },
    among: readonly StoredResource[],
  ) => {
    const [criterion, ...more] = Object.entries(query).filter(([, pattern]) => pattern !== undefined);
    if (!criterion || more.length > 0) {
      throw new PlatformError('invalid_query', `search by exactly one of ${Object.keys(query).join(', ')}`);
    }
    const [name, pattern = ''] = criterion;
    const found = among.filter((candidate) => {
      const value = name === 'name' || name === 'username' ? candidate.name : candidate.properties[name];
      return typeof value === 'string' && matchesStars(pattern, value) && service.canView(actor, candidate);
    });
    return found.map((record) => renderer.record(record));
  };
  const listAll = (input: Listing, collection: 'orgs' | 'users' | 'rules') =>
    list(service, input, view.all(collection), collection);
  return [
    ...answer(organizationRoutes, {
      listAllOrganizations: (input) => listAll(input, 'orgs'),
      createTopOrganization: (input) => create(service, input, view.root, 'orgs'),
      searchOrganizations: (input) => names(input, view.all('orgs')),
      readOrganizationByName: (input) => read(input, input.found.fqon),
      createSubOrganization: (input) => create(service, input, input.found.fqon, 'orgs'),
      async patchOrganizationByName({ actor, renderer, body, found }) {
        return renderer.record(await service.patch(actor, found.fqon.id, body, renderer));
      },
      deleteOrganizationByName: ({ actor, found, query }) =>
        service.remove(actor, found.fqon.id, { ...query, deleteContainers: false }),
    }),
    ...answer(globalRoutes, {
      searchWorkspaces: (input) => names(input, view.all('workspaces')),
      searchEnvironments: (input) => names(input, view.all('environments')),
      listAllRules: ({ query: { type, ...query }, ...input }) =>
        listAll({ ...input, query: { ...query, filter: { ...query.filter, ...(type && { type }) } } }, 'rules'),
      listAllUsers: (input) => listAll(input, 'users'),
      /** The caller's own record, for which no right is needed. */
      readSelf(input) {
        const { userId } = input.caller;
        const user = view.find(userId);
        if (!user) throw new Error(`the authenticated user ${userId} is not in the world`);
        return read(input, user);
      },
      searchUsers: (input) => records(input, view.all('users')),
      searchUsersOf: (input) => records(input, listFromAbove(view, input.found.fqon, 'users')),
      searchGroups: (input) => records(input, view.all('groups')),
      searchGroupsOf: (input) => records(input, listFromAbove(view, input.found.fqon, 'groups')),
    }),
  ];
}

interface Entry extends JsonObject {
  id: string;
  name: string;
}

/** Read-only reference lists and what can be asked of a resource type (D-006, D-084, D-085). */
export function referenceRouter(
  { service, answer }: ResourceRouteParts,
  entitlements: Pick<Entitlements, 'list'>,
): MountedRoute[] {
  const { view } = service;
  const entries = (all: readonly { id: string; name: string }[]) => () => all.map(({ id, name }) => ({ id, name }));
  const lists: Readonly<Record<string, (input: Pick<Listing, 'renderer'>) => Entry[]>> = {
    environmenttypes: entries(environmentTypes),
    datatypes: entries(dataTypes),
    visibilitytypes: entries(visibilityTypes),
    requirementtypes: entries(requirementTypes),
    resourcestates: ({ renderer }) =>
      resourceStates.map(({ id, name }) => ({ id, name: renderer.fullName(`Resource::State::${name}`) })),
  };
  const listOf = (
    collection: string,
    input: Pick<Listing, 'renderer'> & { query: { expand: boolean; compact: boolean } },
  ) =>
    lists[collection]?.(input) ??
    (inForm(input.query, typeNames, {
      link: (name) => linkOf(name, input.renderer),
      record: (name) => recordOf(name, input.renderer),
    }) as Entry[]); // either form begins with a link
  const ofType = (input: Listing, type: TypeName, organization: StoredResource) => {
    if (type === ENTITLEMENT) return entitlements.list(input, organization);
    const names = new Set<string>(concreteTypes(type));
    const resources = resourceTypes
      .filter((resourceType) => fullNamesOf(resourceType).some((name) => names.has(name)))
      .flatMap((resourceType) => [...view.ownedBy(organization.id, resourceType.collection)])
      .filter((resource) => names.has(resource.type));
    // Of types that hold nothing here any filter finds nothing.
    return list(service, input, resources, registered(type)?.collection ?? 'resources');
  };
  return answer(referenceRoutes, {
    listReferences: (input) => listOf(input.path.reference_word, input),
    listReferencesOf: (input) => listOf(input.path.reference_word, input),
    readResourceType: ({ found, renderer }) => recordOf(found.type_id, renderer),
    readSchemaOfType: ({ found }) => schemaOf(found.type_id),
    listTypeProperties: ({ found }) => typePropertiesOf(found.type_id),
    listResourcesOfType: (input) => ofType(input, input.found.type_id, input.found.fqon),
    searchResourcesOfType(input) {
      if (Object.keys(input.query.filter).length > 0) return ofType(input, input.found.type_id, input.found.fqon);
      throw new PlatformError('invalid_query', 'a search needs at least one criterion, e.g. ?name=x');
    },
  });
}

function registered(name: TypeName) {
  return resourceTypes.find((type) => fullNamesOf(type).includes(name));
}

function linkOf(name: TypeName, renderer: Renderer): Entry {
  return { id: typeIdOf(name), name: renderer.fullName(name) };
}

function recordOf(name: TypeName, renderer: Renderer): Entry {
  const type = registered(name);
  return {
    ...linkOf(name, renderer),
    ...(type && {
      description: type.summary,
      properties: { word: type.collection, noun: type.singular, parents: [...type.parents] },
    }),
  };
}

/** JSON Schema of a type's `properties` as a client writes them; empty for types that hold none here. */
function schemaOf(name: TypeName): JsonObject {
  const type = registered(name);
  if (!type) return { type: 'object' };
  return z.toJSONSchema(type.properties, { io: 'input', unrepresentable: 'any' }) as JsonObject; // a JSON Schema is JSON
}

/** The type of a schema; of alternatives, that of the first one. */
function dataTypeOf({ type, anyOf }: JsonObject): Json {
  return type ?? (Array.isArray(anyOf) ? dataTypeOf(anyOf[0] as JsonObject) : 'object'); // alternatives are schemas
}

function typePropertiesOf(name: TypeName) {
  const { properties = {}, required = [] } = schemaOf(name) as { properties?: JsonObject; required?: string[] };
  return Object.entries(properties).map(([property, schema]) => ({
    name: property,
    data_type: dataTypeOf(schema as JsonObject), // a member of a schema's properties is a schema
    requirement_type: required.includes(property) ? ('required' as const) : ('optional' as const),
  }));
}
