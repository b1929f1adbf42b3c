import { resourceTypes } from '../model/registry.ts';
import type { ResourceType } from '../model/resource-type.ts';
import type { TypeWord } from '../model/type-words.ts';
import { shapeOf } from '../model/types/schema-parts.ts';
import { env } from './meta-global.ts';
import { type Parameter, required, uuid } from './parameter.ts';
import { anyRecord, changedRecord, embed, listAnswer, listQuery, newRecord, patch, removal, whole } from './records.ts';
import { may, type Permission } from './right.ts';
import { begun, gone, ok, type Row, rowsOf } from './row.ts';

/*
 * What is served of the routes that types share: with the words of their paths left open, so that they are asked for any type. The
 * document tells of the same rows with the words of each type filled in.
 */

const LIST = '/meta/{fqon}/{word}';
const ONE = `${LIST}/{resource_id}` as const;
const CHILDREN = `${ONE}/{child_word}` as const;

const lists = {
  right: 'caller',
  query: listQuery,
  answer: listAnswer(anyRecord),
  errors: [400, 404],
} as const;
const creates = {
  body: whole(anyRecord),
  answer: newRecord(anyRecord),
  errors: [400, 403, 404, 409, 422, 501],
} as const;
const reads = { query: { embed }, answer: ok(anyRecord), errors: [400, 403, 404] } as const;
const patches = {
  body: patch,
  answer: changedRecord(anyRecord),
  errors: [400, 403, 404, 409, 422],
} as const;
const replaces = {
  description: 'The whole record: optional properties that are left out fall back to their defaults.',
  body: whole(anyRecord),
  answer: changedRecord(anyRecord),
  errors: [400, 403, 404, 409],
} as const;
const deletes = { query: removal, answer: gone, errors: [400, 403, 404, 409] } as const;
const acts = {
  when: 'action',
  right: 'caller',
  summary: 'Actions on lists are not emulated',
  errors: [404, 501],
} as const;
const patchesList = { right: 'caller', summary: 'A list cannot be patched', errors: [400] } as const;
/** Of their own users everybody changes some properties (D-117): which, the change says. */
const update = (on: string): readonly Permission[] => [{ action: '*.update', on, isNotOfOwn: true }];

/** Lists, child lists, create, read, patch, replace and delete (D-002, D-004, D-005, D-008). */
export const openRows = rowsOf('Resources of any type', {
  listRecords: { ...lists, route: `get ${LIST}`, summary: 'List what an organization owns' },
  actOnList: { ...acts, route: `post ${LIST}` },
  createRecord: {
    ...creates,
    route: 'post /meta/{fqon}/{new_word}',
    summary: 'Create in an organization',
    right: may('{new_word}.create', 'fqon'),
  },
  patchList: { ...patchesList, route: `patch ${LIST}` },
  readRecord: { ...reads, route: `get ${ONE}`, summary: 'Read', right: may('*.view', 'resource_id') },
  patchRecord: { ...patches, route: `patch ${ONE}`, summary: 'Change', right: update('resource_id') },
  replaceRecord: {
    ...replaces,
    route: `put ${LIST}/{replaceable_id}`,
    summary: 'Replace',
    right: update('replaceable_id'),
  },
  deleteRecord: { ...deletes, route: `delete ${ONE}`, summary: 'Delete', right: may('*.delete', 'resource_id') },
  listChildRecords: { ...lists, route: `get ${CHILDREN}`, summary: 'List what is below a resource' },
  actOnChildren: { ...acts, route: `post ${LIST}/{any_id}/{child_word}` },
  createChild: {
    ...creates,
    route: `post ${LIST}/{parent_id}/{new_word}`,
    summary: 'Create below a resource',
    right: may('{new_word}.create', 'parent_id'),
  },
  patchChildren: { ...patchesList, route: `patch ${LIST}/{any_id}/{child_word}` },
  // A child is read in each list that has it, and written in that of its parent (D-004).
  readChild: { ...reads, route: `get ${CHILDREN}/{child_id}`, summary: 'Read', right: may('*.view', 'child_id') },
  patchChild: { ...patches, route: `patch ${CHILDREN}/{own_id}`, summary: 'Change', right: update('own_id') },
  replaceChild: {
    ...replaces,
    route: `put ${CHILDREN}/{own_replaceable_id}`,
    summary: 'Replace',
    right: update('own_replaceable_id'),
  },
  deleteChild: {
    ...deletes,
    route: `delete ${CHILDREN}/{own_id}`,
    summary: 'Delete',
    right: may('*.delete', 'own_id'),
  },
});

/** What can be moved (D-131), and what has variables besides organizations (D-112). */
export const MOVABLE = wordsWhere(({ verbs }) => verbs?.includes('migrate'));
export const WITH_ENV = wordsWhere(({ word, properties }) => word !== 'orgs' && 'env' in shapeOf(properties));

/** Lists below a resource that hold what names it rather than its children: they only refer to it (D-004). */
export const referringLists = resourceTypes.flatMap(({ word, listedBelow = {} }) =>
  (Object.keys(listedBelow) as TypeWord[]).map((parent) => [parent, word] as const),
); // they are words of types by their type

function wordsWhere(isOne: (type: ResourceType) => boolean | undefined): TypeWord[] {
  return resourceTypes.filter(isOne).map(({ word }) => word);
}

const moves = {
  only: { word: MOVABLE },
  answer: begun(anyRecord),
  errors: [404, 409, 503],
} as const;
const moveRight = (verb: string, to: string): readonly Permission[] => [
  ...may(`*.${verb}`, 'resource_id'),
  ...may('*.create', to),
];

/** What some types have besides. */
export const openTypeRows = rowsOf('Resources of any type', {
  migrate: {
    ...moves,
    route: `post ${ONE}/migrate`,
    summary: 'Move it to another provider',
    right: moveRight('migrate', 'parent'),
    query: { provider: required(uuid('Provider to move to')) },
  },
  promote: {
    ...moves,
    route: `post ${ONE}/promote`,
    summary: 'Bring it to another environment',
    right: moveRight('promote', 'target'),
    query: { target: required(uuid('Environment to move to')) },
  },
  readEnv: {
    route: `get ${ONE}/env`,
    only: { word: WITH_ENV },
    summary: 'Its environment variables and those it inherits',
    right: may('*.view', 'resource_id'),
    answer: ok(env),
    errors: [400],
  },
});

/** What an open row is with words filled in: whatever does not depend on more than their nouns. */
type Filled = Pick<Row, 'route' | 'right'> & Partial<Pick<Row, 'description' | 'body' | 'errors' | 'query'>>;

/**
 * An open row of one type.
 *
 * @param words what stands in place of the names in braces; those in braces themselves are names of parameters
 * @param noun of the type that is asked for; absent: of any
 * @param query which of its parameters are told
 */
export function filled(
  { route, right, description, body, errors, query: known = {} }: Row,
  words: Readonly<Record<string, string>>,
  noun = '*',
  query: Readonly<Record<string, Parameter>> = known,
): Filled {
  const on = (name: string) => words[name]?.replace(/[{}]/g, '') ?? name;
  // As: words take the place of names, which leaves a verb and a path.
  const path = route.replace(/\{(\w+)\}/g, (name, inside: string) => words[inside] ?? name) as Row['route'];
  return {
    route: path,
    right:
      typeof right === 'string'
        ? right
        : right.map((one) => ({ ...one, action: one.action.replace(/^(\*|\{\w+\})/, noun), on: on(one.on) })),
    ...(description !== undefined && { description }),
    ...(Object.keys(query).length > 0 && { query }),
    ...(body && { body }),
    ...(errors && { errors }),
  };
}
