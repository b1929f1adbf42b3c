import { z } from 'zod';
import { resourceTypes } from '../../model/registry.ts';
import type { ResourceType } from '../../model/resource-type.ts';
import type { TypeWord } from '../../model/type-words.ts';
import { shapeOf } from '../../model/types/schema-parts.ts';
import { named } from '../schemas/parts.ts';
import { required, uuid } from './parameter.ts';
import { anyRecord, changedRecord, listAnswer, listQuery, patch, readQuery, removal, wholeRecord } from './records.ts';
import {
  accepted,
  createdWithLocation,
  defineRoutes,
  noContent,
  ok,
  type Permission,
  permission,
  permissionOrOwn,
  route,
} from './route.ts';

/* The server mounts these routes once for all types, with parameters in place of the type names. The document lists them once per type. */

const LIST = '/meta/{fqon}/{word}';
const RESOURCE = `${LIST}/{resource_id}` as const;
const CHILDREN = `${RESOURCE}/{child_word}` as const;

const lists = { permission: 'caller', summary: 'List', query: listQuery, answer: listAnswer(anyRecord) } as const;
const creates = {
  summary: 'Create',
  body: wholeRecord(),
  answer: createdWithLocation(anyRecord),
  errors: [409, 422, 501],
} as const;
const reads = { summary: 'Read', query: readQuery, answer: ok(anyRecord) } as const;
const patches = { summary: 'Change', body: patch, answer: changedRecord(anyRecord), errors: [409, 422] } as const;
const replaces = {
  summary: 'Replace',
  description:
    'The request contains the whole record: optional properties that are left out get their defaults. The name must be that of the ' +
    'record.',
  body: wholeRecord(),
  answer: changedRecord(anyRecord),
  errors: [409],
} as const;
const deletes = { summary: 'Delete', query: removal, answer: noContent, errors: [409] } as const;
const acts = {
  when: 'action',
  permission: 'caller',
  summary: 'Actions on lists are not emulated',
  errors: [501],
} as const;
const patchesList = { permission: 'caller', summary: 'A list cannot be patched' } as const;
/** Users can change some properties of their own record (D-117). The patch defines which permission is needed. */
const update = (on: string) => permissionOrOwn('*.update', on);

/** Lists, child lists, create, read, patch, replace and delete (D-002, D-004, D-005, D-008). */
export const openRoutes = defineRoutes('Resources of any type', {
  listRecords: { ...lists, route: `get ${LIST}` },
  actOnList: { ...acts, route: `post ${LIST}` },
  createRecord: route('post /meta/{fqon}/{new_word}', permission('{new_word}.create', 'fqon'), creates),
  patchList: { ...patchesList, route: `patch ${LIST}` },
  readRecord: route(`get ${RESOURCE}`, permission('*.view', 'resource_id'), reads),
  patchRecord: route(`patch ${RESOURCE}`, update('resource_id'), patches),
  replaceRecord: route(`put ${LIST}/{replaceable_id}`, update('replaceable_id'), replaces),
  deleteRecord: route(`delete ${RESOURCE}`, permission('*.delete', 'resource_id'), deletes),
  listChildRecords: { ...lists, route: `get ${CHILDREN}` },
  actOnChildren: { ...acts, route: `post ${LIST}/{any_id}/{child_word}` },
  createChild: route(`post ${LIST}/{parent_id}/{new_word}`, permission('{new_word}.create', 'parent_id'), creates),
  patchChildren: { ...patchesList, route: `patch ${LIST}/{any_id}/{child_word}` },
  // Reads accept every list that contains a child, writes only the list of its parent (D-004).
  readChild: route(`get ${CHILDREN}/{child_id}`, permission('*.view', 'child_id'), reads),
  patchChild: route(`patch ${CHILDREN}/{own_id}`, update('own_id'), patches),
  replaceChild: route(`put ${CHILDREN}/{own_replaceable_id}`, update('own_replaceable_id'), replaces),
  deleteChild: route(`delete ${CHILDREN}/{own_id}`, permission('*.delete', 'own_id'), deletes),
});

/** Types that can be moved (D-131), and types with variables besides organizations (D-112). */
export const MOVABLE = typeWordsWith(({ verbs }) => verbs?.includes('migrate'));
export const WITH_ENV = typeWordsWith(
  ({ collection, properties }) => collection !== 'orgs' && 'env' in shapeOf(properties),
);

/** Lists below a resource that contain references instead of children (D-004). */
export const referringLists = resourceTypes.flatMap(({ collection, listedBelow = {} }) =>
  (Object.keys(listedBelow) as TypeWord[]).map((parent) => [parent, collection] as const),
); // the type of these arrays ensures that they are type names

function typeWordsWith(isOne: (type: ResourceType) => boolean | undefined): TypeWord[] {
  return resourceTypes.filter(isOne).map(({ collection }) => collection);
}

/** D-112. */
export const env = named('Env', z.record(z.string(), z.string()).describe('Environment variables by name'));

const moves = {
  acceptedValues: { word: MOVABLE },
  answer: accepted(anyRecord),
  errors: [409, 503],
} as const;
const moveRight = (verb: string, to: string): readonly Permission[] => [
  ...permission(`*.${verb}`, 'resource_id'),
  ...permission('*.create', to),
];

export const openTypeRoutes = defineRoutes('Resources of any type', {
  migrate: route(`post ${RESOURCE}/migrate`, moveRight('migrate', 'parent'), {
    ...moves,
    summary: 'Move a resource to another provider',
    query: { provider: required(uuid('Target provider')) },
  }),
  promote: route(`post ${RESOURCE}/promote`, moveRight('promote', 'target'), {
    ...moves,
    summary: 'Copy a resource to another environment',
    query: { target: required(uuid('Target environment')) },
  }),
  readEnv: route(`get ${RESOURCE}/env`, permission('*.view', 'resource_id'), {
    acceptedValues: { word: WITH_ENV },
    summary: 'List own and inherited environment variables',
    answer: ok(env),
  }),
});
