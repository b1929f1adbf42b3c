import { z } from 'zod';
import { listedOnlyWords, referenceWords } from '../../model/type-words.ts';
import { EXAMPLE_ID } from '../../model/types/schema-parts.ts';
import { entitlementRequest, readEntitlement, readNewEntitlement } from '../schemas/entitlement.ts';
import { link } from '../schemas/forms.ts';
import { named, object } from '../schemas/parts.ts';
import { context, referenceEntry } from './meta-global.ts';
import { filled, openRoutes } from './meta-open.ts';
import { text } from './parameter.ts';
import { anyRecord, listAnswer, listQuery, patch, readQuery, removal } from './records.ts';
import { defineRoutes, noContent, ok, permission, type Route, type Routes, readJson, route } from './route.ts';

const ENV_SUMMARY = 'Organization, workspace and environment of the resource';
const AT_RESOURCE = '/meta/{fqon}/{word}/{resource_id}';
const emptyList = ok(z.array(z.never()).max(0), 'Always empty');
const NOTHING_TO_DO = 'Actions that its providers offer: always empty';

const entitlementProperties = z.object({
  action: z.string().describe('`noun.verb`, e.g. `container.view`'),
  identities: z.array(link).describe('Users and groups'),
  value: z.unknown().optional(),
  parent: link,
});
/** D-074. */
const entitlement = named(
  'Entitlement',
  anyRecord
    .extend({ properties: entitlementProperties })
    .describe('Identities that may perform one action on one resource and everything below it'),
);

/** The routes for `resources`, which represents any type. */
export const resourceRoutes: Routes = defineRoutes('Resources of any type', {
  listResources: ofAny(openRoutes.listRecords, 'List the resources of an organization', listQuery),
  listChildren: {
    ...filled(openRoutes.listChildRecords, { child_word: 'resources' }),
    summary: 'List the children of a resource',
  },
  readResource: ofAny(openRoutes.readRecord, 'Read a resource by id'),
  patchResource: ofAny(openRoutes.patchRecord, 'Update a resource with a JSON Patch'),
  replaceResource: ofAny(openRoutes.replaceRecord, 'Replace a resource, if its type supports it'),
  deleteResource: ofAny(openRoutes.deleteRecord, 'Delete a resource', { force: removal.force }),
});

function ofAny(row: Route, summary: string, query: Route['query'] = {}) {
  const { description: _, ...reported } = filled(
    row,
    { word: 'resources', replaceable_id: '{resource_id}' },
    '*',
    query,
  );
  return { ...reported, summary };
}

/** Routes with the same paths for resources of any type (D-005, D-015, D-186, D-210). */
export const anyRoutes = defineRoutes('Resources of any type', {
  readTop: route('get /meta/top/{word}/{resource_id}', permission('*.view', 'resource_id'), {
    summary: 'Read a resource without naming an organization',
    query: readQuery,
    answer: ok(anyRecord),
  }),
  readContextOfOrganization: route('get /meta/{fqon}/context', permission('org.view', 'fqon'), {
    summary: ENV_SUMMARY,
    answer: ok(context),
  }),
  listActionsOfOrganization: route('get /meta/{fqon}/actions', permission('org.view', 'fqon'), {
    summary: NOTHING_TO_DO,
    answer: emptyList,
  }),
  readContextOfResource: route(`get ${AT_RESOURCE}/context`, permission('*.view', 'resource_id'), {
    summary: ENV_SUMMARY,
    answer: ok(context),
  }),
  listActionsOfResource: route(`get ${AT_RESOURCE}/actions`, permission('*.view', 'resource_id'), {
    summary: NOTHING_TO_DO,
    answer: emptyList,
  }),
  readContextOfChild: route(`get ${AT_RESOURCE}/{child_word}/{child_id}/context`, permission('*.view', 'child_id'), {
    summary: ENV_SUMMARY,
    answer: ok(context),
  }),
  listNotEmulated: route('get /meta/{fqon}/{listed_word}', 'caller', {
    acceptedValues: { listed_word: listedOnlyWords },
    summary: 'Lists of types that are not emulated are empty',
    answer: emptyList,
  }),
  createNotEmulated: route('post /meta/{fqon}/{listed_word}', 'caller', {
    acceptedValues: { listed_word: listedOnlyWords },
    summary: 'Types that are not emulated',
    errors: [501],
  }),
});

const ENTITLEMENTS = 'Entitlements';
const exampleEntitlement = { properties: { action: 'container.view', identities: [EXAMPLE_ID] } };

/** All entitlements of an organization or of any resource (D-115, D-119). */
const allOf = <const Path extends `/${string}`, const Node extends string>(path: Path, node: Node) =>
  defineRoutes(ENTITLEMENTS, {
    listEntitlements: route(`get ${path}`, 'caller', {
      summary: 'List the entitlements that are set on this resource',
      query: { ...listQuery, action: text('Only the entitlement of this action', { examples: ['container.view'] }) },
      answer: listAnswer(entitlement),
    }),
    createEntitlement: route(`post ${path}`, permission('entitlement.create', node), {
      summary: 'Always rejected: every action already has an entitlement',
      body: readJson(entitlementRequest, readNewEntitlement, exampleEntitlement),
      errors: [409],
    }),
  });

const oneOf = <const Path extends `/${string}`, const On extends string>(path: Path, on: On) =>
  defineRoutes(ENTITLEMENTS, {
    readEntitlement: route(`get ${path}/{${on}}`, permission('entitlement.view', on), {
      summary: 'Read an entitlement',
      query: readQuery,
      answer: ok(entitlement),
    }),
    replaceEntitlement: route(`put ${path}/{${on}}`, permission('entitlement.update', on), {
      summary: 'Replace an entitlement',
      description: 'The difference from the inherited identities is stored and applies to everything below.',
      body: readJson(entitlementRequest, readEntitlement, exampleEntitlement),
      answer: ok(entitlement),
      errors: [409],
    }),
    patchEntitlement: route(`patch ${path}/{${on}}`, permission('entitlement.update', on), {
      summary: 'Update an entitlement with a JSON Patch',
      body: { ...patch, example: [{ op: 'replace', path: '/properties/identities', value: [EXAMPLE_ID] }] },
      answer: ok(entitlement),
      errors: [409, 422],
    }),
    resetEntitlement: route(`delete ${path}/{${on}}`, permission('entitlement.delete', on), {
      summary: 'Restore the inherited identities',
      answer: noContent,
    }),
  });

export const entitlementRoutes = {
  ofOrganization: {
    all: allOf('/meta/{fqon}/entitlements', 'fqon'),
    one: oneOf('/meta/{fqon}/entitlements', 'entitlement_id'),
  },
  ofResource: {
    all: allOf(`${AT_RESOURCE}/entitlements`, 'resource_id'),
    one: oneOf(`${AT_RESOURCE}/entitlements`, 'entitlement_id'),
  },
  /** Entitlements are addressed like resources (D-005) but have no stored record. */
  alone: oneOf('/meta/{fqon}/resources', 'unrecorded_id'),
  top: { readEntitlement: oneOf('/meta/top/entitlements', 'entitlement_id').readEntitlement },
};

export const entitlementTables: readonly Routes[] = [
  { ...entitlementRoutes.ofOrganization.all, ...entitlementRoutes.ofOrganization.one },
  Object.fromEntries(
    Object.entries({ ...entitlementRoutes.ofResource.all, ...entitlementRoutes.ofResource.one }).map(([name, row]) => [
      `${name}OfResource`,
      row,
    ]),
  ),
  { readTopEntitlement: entitlementRoutes.top.readEntitlement },
];

const ONE_TYPE = '/meta/{fqon}/resourcetypes/{type_id}';
const referenceQuery = { expand: listQuery.expand, compact: listQuery.compact };

/** Reference lists and details of resource types (D-006, D-084, D-085). */
export const referenceRoutes = defineRoutes('Reference lists', {
  listReferences: route('get /meta/{reference_word}', 'caller', {
    acceptedValues: { reference_word: referenceWords },
    summary: 'Read a reference list',
    query: referenceQuery,
    answer: ok(z.array(referenceEntry)),
  }),
  listReferencesOf: route('get /meta/{fqon}/{reference_word}', 'caller', {
    acceptedValues: { reference_word: referenceWords },
    summary: 'Read a reference list below an organization',
    query: referenceQuery,
    answer: ok(z.array(referenceEntry)),
  }),
  readResourceType: route(`get ${ONE_TYPE}`, 'caller', {
    summary: 'Read a resource type',
    answer: ok(referenceEntry),
  }),
  readSchemaOfType: route(`get ${ONE_TYPE}/schema`, 'caller', {
    summary: "Read the JSON Schema of a type's properties",
    answer: ok(z.looseObject({}).describe('A JSON Schema')),
  }),
  listTypeProperties: route(`get ${ONE_TYPE}/typeproperties`, 'caller', {
    summary: 'List the properties of a type',
    answer: ok(
      z.array(
        object('TypeProperty', {
          name: z.string(),
          data_type: z.unknown(),
          requirement_type: z.enum(['required', 'optional']),
        }),
      ),
    ),
  }),
  listResourcesOfType: route(`get ${ONE_TYPE}/resources`, 'caller', {
    summary: 'List resources of a type in an organization',
    query: listQuery,
    answer: listAnswer(anyRecord),
  }),
  searchResourcesOfType: route(`get ${ONE_TYPE}/resources/search`, 'caller', {
    summary: 'List resources of a type that match at least one criterion',
    query: listQuery,
    answer: listAnswer(anyRecord),
  }),
});

/** The members of a group (D-073). */
export const members = ok(z.array(link), 'The members after the change');
