import { z } from 'zod';
import { listedOnlyWords, referenceWords } from '../model/type-words.ts';
import { readEntitlement, readNewEntitlement } from './entitlement.ts';
import { link } from './forms.ts';
import { context, referenceEntry } from './meta-global.ts';
import { filled, openRows } from './meta-open.ts';
import { named } from './named.ts';
import { text } from './parameter.ts';
import { id } from './parts.ts';
import { anyRecord, changedRecord, embed, listAnswer, listQuery, patch, removal } from './records.ts';
import { may, type Right } from './right.ts';
import { gone, ok, type Row, type Rows, readJson, rowsOf } from './row.ts';

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

const ofPlace = <const Path extends `/${string}`>(path: Path, right: Right) =>
  ({ route: `get ${path}`, right, errors: [400, 404] }) as const satisfies Partial<Row>;

/** The open rows for `resources`, which stands for any type. */
export const resourceRows: Rows = rowsOf('Resources of any type', {
  listResources: {
    ...ofAny(openRows.listRecords, listQuery),
    summary: 'List everything that an organization owns',
    answer: listAnswer(anyRecord),
  },
  listChildren: {
    ...filled(openRows.listChildRecords, { child_word: 'resources' }, '*', listQuery),
    summary: 'List everything directly below a resource',
    answer: listAnswer(anyRecord),
  },
  readResource: {
    ...ofAny(openRows.readRecord),
    summary: 'Read a resource by its id alone',
    answer: ok(anyRecord),
  },
  patchResource: {
    ...ofAny(openRows.patchRecord),
    summary: 'Change a resource by JSON Patch',
    answer: changedRecord(anyRecord),
  },
  replaceResource: {
    ...ofAny(openRows.replaceRecord),
    summary: 'Replace a resource, if its type allows it',
    answer: changedRecord(anyRecord),
  },
  deleteResource: {
    ...ofAny(openRows.deleteRecord, { force: removal.force }),
    summary: 'Delete a resource',
    answer: gone,
  },
});

function ofAny(row: Row, query: Row['query'] = {}) {
  const { description: _, ...told } = filled(row, { word: 'resources', replaceable_id: '{resource_id}' }, '*', query);
  return told;
}

/** What is asked of resources of any type in the same words (D-005, D-015, D-186, D-210). */
export const anyRows = rowsOf('Resources of any type', {
  readTop: {
    route: 'get /meta/top/{word}/{resource_id}',
    summary: 'Read a resource without naming an organization',
    right: may('*.view', 'resource_id'),
    query: { embed },
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
    only: { listed_word: listedOnlyWords },
    summary: 'Types that are not emulated have empty lists',
    right: 'caller',
    answer: nothing,
  },
  createNotEmulated: {
    route: 'post /meta/{fqon}/{listed_word}',
    only: { listed_word: listedOnlyWords },
    summary: 'Types that are not emulated',
    right: 'caller',
    errors: [501],
  },
});

const ENTITLEMENTS = 'Entitlements';

/** All entitlements of a node: of an organization, or of any resource (D-115, D-119). */
const allOf = <const Path extends `/${string}`, const Node extends string>(path: Path, node: Node) =>
  rowsOf(ENTITLEMENTS, {
    listEntitlements: {
      route: `get ${path}`,
      summary: 'List the entitlements of this very node',
      right: 'caller',
      query: { ...listQuery, action: text('Only the entitlement of this action', { examples: ['container.view'] }) },
      answer: listAnswer(entitlement),
      errors: [404],
    },
    createEntitlement: {
      route: `post ${path}`,
      summary: 'Always refused: every action has its entitlement',
      right: may('entitlement.create', node),
      body: readJson(entitlement, readNewEntitlement),
      errors: [404, 409],
    },
  });

/** One entitlement. */
const oneOf = <const Path extends `/${string}`, const On extends string>(path: Path, on: On) =>
  rowsOf(ENTITLEMENTS, {
    readEntitlement: {
      route: `get ${path}/{${on}}`,
      summary: 'Read an entitlement',
      right: may('entitlement.view', on),
      answer: ok(entitlement),
      errors: [400, 404],
    },
    replaceEntitlement: {
      route: `put ${path}/{${on}}`,
      summary: 'Say who may do the action',
      description: 'What differs from the inherited identities is stored, and holds for everything below.',
      right: may('entitlement.update', on),
      body: readJson(entitlement, readEntitlement),
      answer: ok(entitlement),
      errors: [404, 409],
    },
    patchEntitlement: {
      route: `patch ${path}/{${on}}`,
      summary: 'Change who may do the action by JSON Patch',
      right: may('entitlement.update', on),
      body: patch,
      answer: ok(entitlement),
      errors: [404, 409, 422],
    },
    resetEntitlement: {
      route: `delete ${path}/{${on}}`,
      summary: 'Go back to what is inherited',
      right: may('entitlement.delete', on),
      answer: gone,
      errors: [400, 404],
    },
  });

/** Who may do what: at an organization, at any resource, and by an id alone. */
export const entitlementRows = {
  ofOrganization: {
    all: allOf('/meta/{fqon}/entitlements', 'fqon'),
    one: oneOf('/meta/{fqon}/entitlements', 'entitlement_id'),
  },
  ofResource: {
    all: allOf(`${AT_RESOURCE}/entitlements`, 'resource_id'),
    one: oneOf(`${AT_RESOURCE}/entitlements`, 'entitlement_id'),
  },
  /** As any resource (D-005): it has no record. */
  alone: oneOf('/meta/{fqon}/resources', 'unrecorded_id'),
};

/** As the document tells of them. */
export const entitlementTables: readonly Rows[] = [
  { ...entitlementRows.ofOrganization.all, ...entitlementRows.ofOrganization.one },
  Object.fromEntries(
    Object.entries({ ...entitlementRows.ofResource.all, ...entitlementRows.ofResource.one }).map(([name, row]) => [
      `${name}OfResource`,
      row,
    ]),
  ),
];

const ONE_TYPE = '/meta/{fqon}/resourcetypes/{type_id}';
const referenceQuery = { expand: listQuery.expand, compact: listQuery.compact };

/** Reference lists, and what can be asked of a resource type (D-006, D-084, D-085). */
export const referenceRows = rowsOf('Reference lists', {
  listReferences: {
    route: 'get /meta/{reference_word}',
    only: { reference_word: referenceWords },
    summary: 'Read a reference list',
    right: 'caller',
    query: referenceQuery,
    answer: ok(z.array(referenceEntry)),
  },
  listReferencesOf: {
    route: 'get /meta/{fqon}/{reference_word}',
    only: { reference_word: referenceWords },
    summary: 'The same, by way of an organization',
    right: 'caller',
    query: referenceQuery,
    answer: ok(z.array(referenceEntry)),
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
