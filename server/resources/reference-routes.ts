import { z } from 'zod';
import { PlatformError } from '../model/errors.ts';
import { isUuid } from '../model/ids.ts';
import type { Json, JsonObject } from '../model/json.ts';
import { resourceTypes } from '../model/registry.ts';
import { concreteTypes, parseTypeName, type TypeName, typeIdOf, typeNames } from '../model/type-names.ts';
import {
  dataTypes,
  environmentTypes,
  requirementTypes,
  resourceStates,
  visibilityTypes,
} from '../model/types/reference-lists.ts';
import type { Renderer } from './renderer.ts';
import { ok, type ResourceRequest, type Route } from './request.ts';
import type { ResourceService } from './resource-service.ts';
import { filtersIn, inForm, list } from './selection.ts';

/** Read-only reference lists and what can be asked of a resource type (D-006, D-084, D-085). */
export function referenceRoutes(service: ResourceService): Route[] {
  const { view } = service;
  const lists: Record<string, (request: ResourceRequest) => Json[]> = {
    resourcetypes: (request) =>
      inForm(request.query, typeNames, {
        link: (name) => linkOf(name, request.renderer),
        record: (name) => recordOf(name, request.renderer),
      }),
    environmenttypes: () => environmentTypes.map(({ id, name }) => ({ id, name })),
    datatypes: () => dataTypes.map(({ id, name }) => ({ id, name })),
    visibilitytypes: () => visibilityTypes.map(({ id, name }) => ({ id, name })),
    requirementtypes: () => requirementTypes.map(({ id, name }) => ({ id, name })),
    resourcestates: (request) =>
      resourceStates.map(({ id, name }) => ({ id, name: request.renderer.fullName(`Resource::State::${name}`) })),
  };
  const typeAsked = (request: ResourceRequest): TypeName => {
    request.organization();
    const text = request.segment('typeId');
    const name = parseTypeName(text);
    if (name) return name;
    const isForm: boolean = text.includes('::') || isUuid(text);
    throw isForm
      ? new PlatformError(404, `resource type ${text} not found`)
      : new PlatformError(400, `'${text.slice(0, 64)}' is neither the id nor the full name of a resource type`);
  };
  const ofType = (request: ResourceRequest) => {
    const names = new Set<string>(concreteTypes(typeAsked(request)));
    const organization = request.organization();
    return resourceTypes
      .filter((type) => [type.name, ...Object.keys(type.subTypes ?? {})].some((name) => names.has(name)))
      .flatMap((type) => [...view.ownedBy(organization.id, type.word)])
      .filter((one) => names.has(one.type));
  };

  /** Of types that hold nothing here any filter finds nothing. */
  const wordOf = (request: ResourceRequest) => registered(typeAsked(request))?.word ?? 'resources';

  const listRoutes = Object.entries(lists).flatMap(([word, list]): Route[] => [
    { verb: 'get', path: `/${word}`, handle: (request) => ok(list(request)) },
    {
      verb: 'get',
      path: `/:fqon/${word}`,
      handle: (request) => {
        request.organization();
        return ok(list(request));
      },
    },
  ]);
  const refuse = (): never => {
    throw new PlatformError(501, 'changing resource types is not emulated (D-211)');
  };
  const one = '/:fqon/resourcetypes/:typeId';
  return [
    ...listRoutes,
    { verb: 'get', path: one, handle: (request) => ok(recordOf(typeAsked(request), request.renderer)) },
    { verb: 'get', path: `${one}/schema`, handle: (request) => ok(schemaOf(typeAsked(request))) },
    { verb: 'get', path: `${one}/typeproperties`, handle: (request) => ok(typePropertiesOf(typeAsked(request))) },
    {
      verb: 'get',
      path: `${one}/resources`,
      handle: (request) => list(service, request, ofType(request), wordOf(request)),
    },
    {
      verb: 'get',
      path: `${one}/resources/search`,
      handle: (request) => {
        const found = ofType(request);
        if (filtersIn(request.query).length > 0) return list(service, request, found, wordOf(request));
        throw new PlatformError(400, 'a search needs at least one criterion, e.g. ?name=x');
      },
    },
    ...['/:fqon/resourcetypes', one, `${one}/typeproperties`, `${one}/typeproperties/:propertyId`].flatMap((path) =>
      (['post', 'patch', 'delete'] as const).map((verb): Route => ({ verb, path, handle: refuse })),
    ),
  ];
}

function registered(name: TypeName) {
  return resourceTypes.find((type) => type.name === name || Object.hasOwn(type.subTypes ?? {}, name));
}

function linkOf(name: TypeName, renderer: Renderer): JsonObject {
  return { id: typeIdOf(name), name: renderer.fullName(name) };
}

function recordOf(name: TypeName, renderer: Renderer): JsonObject {
  const type = registered(name);
  return {
    ...linkOf(name, renderer),
    ...(type && {
      description: type.summary,
      properties: { word: type.word, noun: type.noun, parents: [...type.parents] },
    }),
  };
}

/** JSON Schema of a type's `properties` as a client writes them; empty for types that hold none here. */
function schemaOf(name: TypeName): JsonObject {
  const type = registered(name);
  if (!type) return { type: 'object' };
  return z.toJSONSchema(type.properties, { io: 'input', unrepresentable: 'any' }) as JsonObject; // a JSON Schema is JSON
}

function typePropertiesOf(name: TypeName): Json[] {
  const { properties = {}, required = [] } = schemaOf(name) as { properties?: JsonObject; required?: string[] };
  return Object.entries(properties).map(([property, schema]) => ({
    name: property,
    data_type: (schema as JsonObject).type ?? 'object', // a member of a schema's properties is a schema
    requirement_type: required.includes(property) ? 'required' : 'optional',
  }));
}
