import { may, type Right } from '../contract/right.ts';
import type { JsonObject } from '../model/json.ts';
import { gone, LIST_QUERY, listOf, type Operation, ok, okList, patchBody, ref, rowsOf } from './operation.ts';

const any = rowsOf('Resources of any type');
const reference = rowsOf('Reference lists');

const record = ref('Record');
const nothing = ok({ type: 'array', maxItems: 0 }, 'Always empty');
const jsonSchema: JsonObject = { type: 'object', description: 'A JSON Schema' };

const PLACE = 'Organization, workspace and environment that it stands in';

/** The routes of the resource service that are the same whatever the type, and those about types themselves. */
export const genericOperations: readonly Operation[] = [
  // D-005, D-186
  any('get /meta/{fqon}/resources', 'listResources', 'List everything that an organization owns', {
    right: 'caller',
    query: LIST_QUERY,
    success: okList('Record'),
    errors: [400, 404],
  }),
  any('get /meta/{fqon}/{word}/{resource_id}/resources', 'listChildren', 'List everything directly below a resource', {
    right: 'caller',
    query: LIST_QUERY,
    success: okList('Record'),
    errors: [400, 404],
  }),
  any('get /meta/{fqon}/resources/{resource_id}', 'readResource', 'Read a resource by its id alone', {
    right: may('*.view', 'resource_id'),
    success: ok(record),
    errors: [400, 403, 404],
  }),
  any('patch /meta/{fqon}/resources/{resource_id}', 'patchResource', 'Change a resource by JSON Patch', {
    right: may('*.update', 'resource_id'),
    body: patchBody,
    success: ok(record, 'The record after the change'),
    errors: [403, 404, 409, 422],
  }),
  any('put /meta/{fqon}/resources/{resource_id}', 'replaceResource', 'Replace a resource, if its type allows it', {
    right: may('*.update', 'resource_id'),
    body: { schema: record },
    success: ok(record, 'The record after the change'),
    errors: [403, 404, 409],
  }),
  any('delete /meta/{fqon}/resources/{resource_id}', 'deleteResource', 'Delete a resource', {
    right: may('*.delete', 'resource_id'),
    query: ['force'],
    success: gone,
    errors: [400, 403, 404, 409],
  }),
  any('get /meta/top/{word}/{resource_id}', 'readTop', 'Read a resource without naming an organization', {
    right: may('*.view', 'resource_id'),
    success: ok(record),
    errors: [400, 403, 404],
  }),

  // D-015
  ...place('Organization', '/meta/{fqon}', may('org.view', 'fqon')),
  ...place('Resource', '/meta/{fqon}/{word}/{resource_id}', may('*.view', 'resource_id')),
  any('get /meta/{fqon}/{word}/{resource_id}/{child_word}/{child_id}/context', 'readContextOfChild', PLACE, {
    right: may('*.view', 'child_id'),
    success: ok(ref('Context')),
    errors: [400, 403, 404],
  }),

  // D-115, D-119
  ...entitlements('', '/meta/{fqon}'),
  ...entitlements('OfResource', '/meta/{fqon}/{word}/{resource_id}'),

  // D-210
  any('get /meta/{fqon}/{listed_word}', 'listNotEmulated', 'Types that are not emulated have empty lists', {
    right: 'caller',
    success: nothing,
    errors: [404],
  }),
  any('post /meta/{fqon}/{listed_word}', 'createNotEmulated', 'Types that are not emulated', {
    right: 'caller',
    errors: [501],
  }),

  // D-006, D-084, D-085
  reference('get /meta/{reference_word}', 'listReferences', 'Read a reference list', {
    right: 'caller',
    query: ['expand'],
    success: ok(listOf(ref('ReferenceEntry'))),
    errors: [400],
  }),
  reference('get /meta/{fqon}/{reference_word}', 'listReferencesOf', 'The same, by way of an organization', {
    right: 'caller',
    query: ['expand'],
    success: ok(listOf(ref('ReferenceEntry'))),
    errors: [400, 404],
  }),
  ...resourceTypes('/meta/{fqon}/resourcetypes/{type_id}'),
];

function place(what: string, path: string, right: Right): Operation[] {
  return [
    any(`get ${path}/context`, `readContextOf${what}`, PLACE, {
      right,
      success: ok(ref('Context')),
      errors: [400, 403, 404],
    }),
    any(`get ${path}/actions`, `listActionsOf${what}`, 'What its providers offer to do: nothing', {
      right,
      success: nothing,
      errors: [400, 403, 404],
    }),
  ];
}

function entitlements(suffix: string, base: string): Operation[] {
  const row = rowsOf('Entitlements');
  const entitlement = ref('Entitlement');
  const all = `${base}/entitlements`;
  const one = `${all}/{entitlement_id}`;
  return [
    row(`get ${all}`, `listEntitlements${suffix}`, 'List the entitlements of this very node', {
      right: 'caller',
      query: [...LIST_QUERY, 'entitlement_action'],
      success: okList('Entitlement'),
      errors: [400, 404],
    }),
    row(`post ${all}`, `createEntitlement${suffix}`, 'Always refused: every action has its entitlement', {
      right: may('entitlement.create', suffix === '' ? 'fqon' : 'resource_id'),
      body: { schema: entitlement },
      errors: [403, 404, 409],
    }),
    row(`get ${one}`, `readEntitlement${suffix}`, 'Read an entitlement', {
      right: may('entitlement.view', 'entitlement_id'),
      success: ok(entitlement),
      errors: [400, 403, 404],
    }),
    row(`put ${one}`, `replaceEntitlement${suffix}`, 'Say who may do the action', {
      right: may('entitlement.update', 'entitlement_id'),
      description: 'What differs from the inherited identities is stored, and holds for everything below.',
      body: { schema: entitlement },
      success: ok(entitlement),
      errors: [403, 404, 409],
    }),
    row(`patch ${one}`, `patchEntitlement${suffix}`, 'Change who may do the action by JSON Patch', {
      right: may('entitlement.update', 'entitlement_id'),
      body: patchBody,
      success: ok(entitlement),
      errors: [403, 404, 409, 422],
    }),
    row(`delete ${one}`, `resetEntitlement${suffix}`, 'Go back to what is inherited', {
      right: may('entitlement.delete', 'entitlement_id'),
      success: gone,
      errors: [400, 403, 404],
    }),
  ];
}

function resourceTypes(one: string): Operation[] {
  return [
    reference(`get ${one}`, 'readResourceType', 'Read a resource type', {
      right: 'caller',
      success: ok(ref('ReferenceEntry')),
      errors: [400, 404],
    }),
    reference(`get ${one}/schema`, 'readSchemaOfType', 'JSON Schema of the properties of a type', {
      right: 'caller',
      success: ok(jsonSchema),
      errors: [400, 404],
    }),
    reference(`get ${one}/typeproperties`, 'listTypeProperties', 'The properties of a type', {
      right: 'caller',
      success: ok(listOf(ref('TypeProperty'))),
      errors: [400, 404],
    }),
    reference(`get ${one}/resources`, 'listResourcesOfType', 'Resources of a type that an organization owns', {
      right: 'caller',
      query: LIST_QUERY,
      success: okList('Record'),
      errors: [400, 404],
    }),
    reference(`get ${one}/resources/search`, 'searchResourcesOfType', 'The same, by at least one criterion', {
      right: 'caller',
      query: LIST_QUERY,
      success: okList('Record'),
      errors: [400, 404],
    }),
  ];
}
