import { z } from 'zod';
import { link } from './forms.ts';
import { context, referenceEntry } from './meta-global.ts';
import { named } from './named.ts';
import { text } from './parameter.ts';
import { id } from './parts.ts';
import { anyRecord, changedRecord, listAnswer, listQuery, patch, removal } from './records.ts';
import { may, type Right } from './right.ts';
import { gone, ok, ownBody, type Row, type Rows, rowsOf } from './row.ts';

const PLACE = 'Organization, workspace and environment that it stands in';
const AT_RESOURCE = '/meta/{fqon}/{word}/{resource_id}';
const nothing = ok(z.array(z.never()).max(0), 'Always empty');
const NOTHING_TO_DO = 'What its providers offer to do: nothing';

const entitlementProperties = named(
  'EntitlementProperties',
  z.object({
    action: z.string().describe('`noun.verb`, e.g. `container.view`'),
    identities: z
      .array(z.union([id, z.looseObject({ id })]))
      .describe('Users and groups: ids or links on write, links on read'),
    value: z.unknown().optional(),
  }),
);
/** D-074. */
const entitlement = named(
  'Entitlement',
  z
    .looseObject({ id: id.optional(), name: z.string().optional(), properties: entitlementProperties })
    .describe('Who may do one action on one resource and all below it'),
);

const ofPlace = (route: `/${string}`, right: Right) =>
  ({ route: `get ${route}`, right, errors: [400, 404] }) as const satisfies Partial<Row>;

/** The same whatever the type (D-005, D-015, D-186, D-210). */
export const anyRows = rowsOf('Resources of any type', {
  listResources: {
    route: 'get /meta/{fqon}/resources',
    summary: 'List everything that an organization owns',
    right: 'caller',
    query: listQuery,
    answer: listAnswer(anyRecord),
    errors: [404],
  },
  listChildren: {
    route: `get ${AT_RESOURCE}/resources`,
    summary: 'List everything directly below a resource',
    right: 'caller',
    query: listQuery,
    answer: listAnswer(anyRecord),
    errors: [404],
  },
  readResource: {
    route: 'get /meta/{fqon}/resources/{resource_id}',
    summary: 'Read a resource by its id alone',
    right: may('*.view', 'resource_id'),
    answer: ok(anyRecord),
    errors: [400, 404],
  },
  patchResource: {
    route: 'patch /meta/{fqon}/resources/{resource_id}',
    summary: 'Change a resource by JSON Patch',
    right: may('*.update', 'resource_id'),
    body: patch,
    answer: changedRecord(anyRecord),
    errors: [404, 409, 422],
  },
  replaceResource: {
    route: 'put /meta/{fqon}/resources/{resource_id}',
    summary: 'Replace a resource, if its type allows it',
    right: may('*.update', 'resource_id'),
    body: ownBody(anyRecord),
    answer: changedRecord(anyRecord),
    errors: [404, 409],
  },
  deleteResource: {
    route: 'delete /meta/{fqon}/resources/{resource_id}',
    summary: 'Delete a resource',
    right: may('*.delete', 'resource_id'),
    query: { force: removal.force },
    answer: gone,
    errors: [404, 409],
  },
  readTop: {
    route: 'get /meta/top/{word}/{resource_id}',
    summary: 'Read a resource without naming an organization',
    right: may('*.view', 'resource_id'),
    answer: ok(anyRecord),
    errors: [400, 404],
  },
  readContextOfOrganization: {
    ...ofPlace('/meta/{fqon}/context', may('org.view', 'fqon')),
    summary: PLACE,
    answer: ok(context),
  },
  listActionsOfOrganization: {
    ...ofPlace('/meta/{fqon}/actions', may('org.view', 'fqon')),
    summary: NOTHING_TO_DO,
    answer: nothing,
  },
  readContextOfResource: {
    ...ofPlace(`${AT_RESOURCE}/context`, may('*.view', 'resource_id')),
    summary: PLACE,
    answer: ok(context),
  },
  listActionsOfResource: {
    ...ofPlace(`${AT_RESOURCE}/actions`, may('*.view', 'resource_id')),
    summary: NOTHING_TO_DO,
    answer: nothing,
  },
  readContextOfChild: {
    ...ofPlace(`${AT_RESOURCE}/{child_word}/{child_id}/context`, may('*.view', 'child_id')),
    summary: PLACE,
    answer: ok(context),
  },
  listNotEmulated: {
    route: 'get /meta/{fqon}/{listed_word}',
    summary: 'Types that are not emulated have empty lists',
    right: 'caller',
    answer: nothing,
    errors: [404],
  },
  createNotEmulated: {
    route: 'post /meta/{fqon}/{listed_word}',
    summary: 'Types that are not emulated',
    right: 'caller',
    errors: [404, 501],
  },
});

/** Who may do what (D-115, D-119): at an organization, and at any resource. */
export const entitlementTables: readonly Rows[] = [
  entitlementRows('', '/meta/{fqon}', 'fqon'),
  entitlementRows('OfResource', AT_RESOURCE, 'resource_id'),
];

function entitlementRows(suffix: string, base: `/${string}`, node: string): Rows {
  const all = `${base}/entitlements` as const;
  const one = `${all}/{entitlement_id}` as const;
  const on = 'entitlement_id';
  const table = {
    listEntitlements: {
      route: `get ${all}`,
      summary: 'List the entitlements of this very node',
      right: 'caller',
      query: { ...listQuery, action: text('Only the entitlement of this action', { examples: ['container.view'] }) },
      answer: listAnswer(entitlement),
      errors: [404],
    },
    createEntitlement: {
      route: `post ${all}`,
      summary: 'Always refused: every action has its entitlement',
      right: may('entitlement.create', node),
      body: ownBody(entitlement),
      errors: [404, 409],
    },
    readEntitlement: {
      route: `get ${one}`,
      summary: 'Read an entitlement',
      right: may('entitlement.view', on),
      answer: ok(entitlement),
      errors: [400, 404],
    },
    replaceEntitlement: {
      route: `put ${one}`,
      summary: 'Say who may do the action',
      description: 'What differs from the inherited identities is stored, and holds for everything below.',
      right: may('entitlement.update', on),
      body: ownBody(entitlement),
      answer: ok(entitlement),
      errors: [404, 409],
    },
    patchEntitlement: {
      route: `patch ${one}`,
      summary: 'Change who may do the action by JSON Patch',
      right: may('entitlement.update', on),
      body: patch,
      answer: ok(entitlement),
      errors: [404, 409, 422],
    },
    resetEntitlement: {
      route: `delete ${one}`,
      summary: 'Go back to what is inherited',
      right: may('entitlement.delete', on),
      answer: gone,
      errors: [400, 404],
    },
  } as const satisfies Record<string, Omit<Row, 'tag'>>;
  return rowsOf('Entitlements', Object.fromEntries(Object.entries(table).map(([name, row]) => [name + suffix, row])));
}

const ONE_TYPE = '/meta/{fqon}/resourcetypes/{type_id}';

/** Reference lists, and what can be asked of a resource type (D-006, D-084, D-085). */
export const referenceRows = rowsOf('Reference lists', {
  listReferences: {
    route: 'get /meta/{reference_word}',
    summary: 'Read a reference list',
    right: 'caller',
    query: { expand: listQuery.expand },
    answer: ok(z.array(referenceEntry)),
  },
  listReferencesOf: {
    route: 'get /meta/{fqon}/{reference_word}',
    summary: 'The same, by way of an organization',
    right: 'caller',
    query: { expand: listQuery.expand },
    answer: ok(z.array(referenceEntry)),
    errors: [404],
  },
  readResourceType: {
    route: `get ${ONE_TYPE}`,
    summary: 'Read a resource type',
    right: 'caller',
    answer: ok(referenceEntry),
    errors: [400, 404],
  },
  readSchemaOfType: {
    route: `get ${ONE_TYPE}/schema`,
    summary: 'JSON Schema of the properties of a type',
    right: 'caller',
    answer: ok(z.looseObject({}).describe('A JSON Schema')),
    errors: [400, 404],
  },
  listTypeProperties: {
    route: `get ${ONE_TYPE}/typeproperties`,
    summary: 'The properties of a type',
    right: 'caller',
    answer: ok(
      z.array(
        named(
          'TypeProperty',
          z.object({
            name: z.string(),
            data_type: z.unknown(),
            requirement_type: z.enum(['required', 'optional']),
          }),
        ),
      ),
    ),
    errors: [400, 404],
  },
  listResourcesOfType: {
    route: `get ${ONE_TYPE}/resources`,
    summary: 'Resources of a type that an organization owns',
    right: 'caller',
    query: listQuery,
    answer: listAnswer(anyRecord),
    errors: [404],
  },
  searchResourcesOfType: {
    route: `get ${ONE_TYPE}/resources/search`,
    summary: 'The same, by at least one criterion',
    right: 'caller',
    query: listQuery,
    answer: listAnswer(anyRecord),
    errors: [404],
  },
});

/** The members of a group (D-073). */
export const members = ok(z.array(link), 'The members after the change');
