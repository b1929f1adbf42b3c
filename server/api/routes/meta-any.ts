import { z } from 'zod';
import type { Json } from '../../model/json.ts';
import { parseWith } from '../../model/rules/validate.ts';
import { listedOnlyWords, referenceWords } from '../../model/type-words.ts';
import { EXAMPLE_ID } from '../../model/types/schema-parts.ts';
import { link } from '../schemas/forms.ts';
import { id, looseObject, named, object } from '../schemas/parts.ts';
import { text } from './parameter.ts';
import { anyRecord, listAnswer, listQuery, patch, readQuery } from './records.ts';
import { defineRoutes, json, noContent, ok, permission, type Routes, route } from './route.ts';

const ENV_SUMMARY = 'Organization, workspace and environment of the resource';
const AT_RESOURCE = '/meta/{fqon}/{word}/{resource_id}';
const emptyList = ok(z.array(z.never()).max(0), 'Always empty');
const NOTHING_TO_DO = 'Actions that its providers offer: always empty';

/** The context of a resource (D-015). */
const context = object('Context', {
  organization: link,
  workspace: link.optional(),
  environment: link.optional(),
  resource: link.optional(),
});

/** D-074. */
const entitlement = named(
  'Entitlement',
  anyRecord
    .extend({
      properties: z.object({
        action: z.string().describe('`noun.verb`, e.g. `container.view`'),
        identities: z.array(link).describe('Users and groups'),
        value: z.unknown().optional(),
        parent: link,
      }),
    })
    .describe('Identities that may perform one action on one resource and everything below it'),
);

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

/** An entitlement as clients send it (D-074): identities are ids or links. Other members are ignored. */
const entitlementRequest = object('EntitlementRequest', {
  id: z.guid('must be a UUID').optional(),
  name: z.string().optional(),
  properties: z.strictObject(
    {
      parent: z.unknown().optional().describe('Set by the server; ignored (D-028)'),
      action: z.string('is required: noun.verb, e.g. container.view').describe('For example `container.view`'),
      identities: z.array(
        z.union(
          [z.guid(), z.object({ id: z.guid() }).transform((link) => link.id)],
          'must be an id or a link of a user or group',
        ),
        'is required: an array of ids of users or groups',
      ),
      value: z.custom<Json>().optional(),
    },
    'is required: {action, identities}',
  ),
});
export type WrittenEntitlement = z.output<typeof entitlementRequest>;

export function readEntitlement(input: Json | undefined): WrittenEntitlement {
  return parseWith(entitlementRequest, input);
}

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
      body: json(entitlementRequest, exampleEntitlement),
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
      body: json(entitlementRequest, exampleEntitlement),
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

/** D-006, D-084. */
const referenceEntry = looseObject('ReferenceEntry', { id, name: z.string() });
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
