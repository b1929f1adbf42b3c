import { z } from 'zod';
import { listedOnlyWords, referenceWords } from '../../model/type-words.ts';
import { entitlementRequest, readEntitlement, readNewEntitlement } from '../schemas/entitlement.ts';
import { link } from '../schemas/forms.ts';
import { named, object } from '../schemas/parts.ts';
import { context, referenceEntry } from './meta-global.ts';
import { filled, openRoutes } from './meta-open.ts';
import { text } from './parameter.ts';
import { anyRecord, changedRecord, listAnswer, listQuery, patch, readQuery, removal } from './records.ts';
import {
  defineRoutes,
  noContent,
  ok,
  permission,
  type RequiredPermission,
  type Route,
  type Routes,
  readJson,
} from './route.ts';

const PLACE = 'Organization, workspace and environment of the resource';
const AT_RESOURCE = '/meta/{fqon}/{word}/{resource_id}';
const nothing = ok(z.array(z.never()).max(0), 'Always empty');
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

const ofPlace = <const Path extends `/${string}`>(path: Path, permission: RequiredPermission) =>
  ({ route: `get ${path}`, permission, errors: [404] }) as const satisfies Partial<Route>;

/** The routes for `resources`, which represents any type. */
export const resourceRoutes: Routes = defineRoutes('Resources of any type', {
  listResources: {
    ...ofAny(openRoutes.listRecords, listQuery),
    summary: 'List the resources of an organization',
    answer: listAnswer(anyRecord),
  },
  listChildren: {
    ...filled(openRoutes.listChildRecords, { child_word: 'resources' }, '*', listQuery),
    summary: 'List the children of a resource',
    answer: listAnswer(anyRecord),
  },
  readResource: {
    ...ofAny(openRoutes.readRecord),
    summary: 'Read a resource by id',
    answer: ok(anyRecord),
  },
  patchResource: {
    ...ofAny(openRoutes.patchRecord),
    summary: 'Update a resource with a JSON Patch',
    answer: changedRecord(anyRecord),
  },
  replaceResource: {
    ...ofAny(openRoutes.replaceRecord),
    summary: 'Replace a resource, if its type supports it',
    answer: changedRecord(anyRecord),
  },
  deleteResource: {
    ...ofAny(openRoutes.deleteRecord, { force: removal.force }),
    summary: 'Delete a resource',
    answer: noContent,
  },
});

function ofAny(row: Route, query: Route['query'] = {}) {
  const { description: _, ...reported } = filled(
    row,
    { word: 'resources', replaceable_id: '{resource_id}' },
    '*',
    query,
  );
  return reported;
}

/** Routes with the same paths for resources of any type (D-005, D-015, D-186, D-210). */
export const anyRoutes = defineRoutes('Resources of any type', {
  readTop: {
    route: 'get /meta/top/{word}/{resource_id}',
    summary: 'Read a resource without naming an organization',
    permission: permission('*.view', 'resource_id'),
    query: readQuery,
    answer: ok(anyRecord),
    errors: [404],
  },
  readContextOfOrganization: {
    ...ofPlace('/meta/{fqon}/context', permission('org.view', 'fqon')),
    summary: PLACE,
    answer: ok(context),
  },
  listActionsOfOrganization: {
    ...ofPlace('/meta/{fqon}/actions', permission('org.view', 'fqon')),
    summary: NOTHING_TO_DO,
    answer: nothing,
  },
  readContextOfResource: {
    ...ofPlace(`${AT_RESOURCE}/context`, permission('*.view', 'resource_id')),
    summary: PLACE,
    answer: ok(context),
  },
  listActionsOfResource: {
    ...ofPlace(`${AT_RESOURCE}/actions`, permission('*.view', 'resource_id')),
    summary: NOTHING_TO_DO,
    answer: nothing,
  },
  readContextOfChild: {
    ...ofPlace(`${AT_RESOURCE}/{child_word}/{child_id}/context`, permission('*.view', 'child_id')),
    summary: PLACE,
    answer: ok(context),
  },
  listNotEmulated: {
    route: 'get /meta/{fqon}/{listed_word}',
    only: { listed_word: listedOnlyWords },
    summary: 'Lists of types that are not emulated are empty',
    permission: 'caller',
    answer: nothing,
  },
  createNotEmulated: {
    route: 'post /meta/{fqon}/{listed_word}',
    only: { listed_word: listedOnlyWords },
    summary: 'Types that are not emulated',
    permission: 'caller',
    errors: [501],
  },
});

const ENTITLEMENTS = 'Entitlements';

/** All entitlements of an organization or of any resource (D-115, D-119). */
const allOf = <const Path extends `/${string}`, const Node extends string>(path: Path, node: Node) =>
  defineRoutes(ENTITLEMENTS, {
    listEntitlements: {
      route: `get ${path}`,
      summary: 'List the entitlements that are set on this resource',
      permission: 'caller',
      query: { ...listQuery, action: text('Only the entitlement of this action', { examples: ['container.view'] }) },
      answer: listAnswer(entitlement),
      errors: [404],
    },
    createEntitlement: {
      route: `post ${path}`,
      summary: 'Always refused: every action already has an entitlement',
      permission: permission('entitlement.create', node),
      body: readJson(entitlementRequest, readNewEntitlement),
      errors: [404, 409],
    },
  });

const oneOf = <const Path extends `/${string}`, const On extends string>(path: Path, on: On) =>
  defineRoutes(ENTITLEMENTS, {
    readEntitlement: {
      route: `get ${path}/{${on}}`,
      summary: 'Read an entitlement',
      permission: permission('entitlement.view', on),
      answer: ok(entitlement),
      errors: [404],
    },
    replaceEntitlement: {
      route: `put ${path}/{${on}}`,
      summary: 'Replace an entitlement',
      description: 'The difference from the inherited identities is stored and applies to everything below.',
      permission: permission('entitlement.update', on),
      body: readJson(entitlementRequest, readEntitlement),
      answer: ok(entitlement),
      errors: [404, 409],
    },
    patchEntitlement: {
      route: `patch ${path}/{${on}}`,
      summary: 'Update an entitlement with a JSON Patch',
      permission: permission('entitlement.update', on),
      body: patch,
      answer: ok(entitlement),
      errors: [404, 409, 422],
    },
    resetEntitlement: {
      route: `delete ${path}/{${on}}`,
      summary: 'Restore the inherited identities',
      permission: permission('entitlement.delete', on),
      answer: noContent,
      errors: [404],
    },
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
};

export const entitlementTables: readonly Routes[] = [
  { ...entitlementRoutes.ofOrganization.all, ...entitlementRoutes.ofOrganization.one },
  Object.fromEntries(
    Object.entries({ ...entitlementRoutes.ofResource.all, ...entitlementRoutes.ofResource.one }).map(([name, row]) => [
      `${name}OfResource`,
      row,
    ]),
  ),
];

const ONE_TYPE = '/meta/{fqon}/resourcetypes/{type_id}';
const referenceQuery = { expand: listQuery.expand, compact: listQuery.compact };

/** Reference lists and details of resource types (D-006, D-084, D-085). */
export const referenceRoutes = defineRoutes('Reference lists', {
  listReferences: {
    route: 'get /meta/{reference_word}',
    only: { reference_word: referenceWords },
    summary: 'Read a reference list',
    permission: 'caller',
    query: referenceQuery,
    answer: ok(z.array(referenceEntry)),
  },
  listReferencesOf: {
    route: 'get /meta/{fqon}/{reference_word}',
    only: { reference_word: referenceWords },
    summary: 'Read a reference list below an organization',
    permission: 'caller',
    query: referenceQuery,
    answer: ok(z.array(referenceEntry)),
  },
  readResourceType: {
    route: `get ${ONE_TYPE}`,
    summary: 'Read a resource type',
    permission: 'caller',
    answer: ok(referenceEntry),
    errors: [404],
  },
  readSchemaOfType: {
    route: `get ${ONE_TYPE}/schema`,
    summary: "Read the JSON Schema of a type's properties",
    permission: 'caller',
    answer: ok(z.looseObject({}).describe('A JSON Schema')),
    errors: [404],
  },
  listTypeProperties: {
    route: `get ${ONE_TYPE}/typeproperties`,
    summary: 'List the properties of a type',
    permission: 'caller',
    answer: ok(
      z.array(
        object('TypeProperty', {
          name: z.string(),
          data_type: z.unknown(),
          requirement_type: z.enum(['required', 'optional']),
        }),
      ),
    ),
    errors: [404],
  },
  listResourcesOfType: {
    route: `get ${ONE_TYPE}/resources`,
    summary: 'List resources of a type in an organization',
    permission: 'caller',
    query: listQuery,
    answer: listAnswer(anyRecord),
    errors: [404],
  },
  searchResourcesOfType: {
    route: `get ${ONE_TYPE}/resources/search`,
    summary: 'List resources of a type that match at least one criterion',
    permission: 'caller',
    query: listQuery,
    answer: listAnswer(anyRecord),
    errors: [404],
  },
});

/** The members of a group (D-073). */
export const members = ok(z.array(link), 'The members after the change');
