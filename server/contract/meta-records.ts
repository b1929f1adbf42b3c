import { resourceTypes, typeOfWord } from '../model/registry.ts';
import type { ResourceType } from '../model/resource-type.ts';
import type { TypeWord } from '../model/type-words.ts';
import {
  changedRecord,
  embed,
  listAnswer,
  listQuery,
  newRecord,
  newRecordOf,
  patch,
  providerType,
  recordOf,
  removal,
  ruleType,
  showCredentials,
} from './records.ts';
import { may, type Right } from './right.ts';
import { gone, ok, ownBody, type Row, type Rows } from './row.ts';
import { namingOf } from './type-naming.ts';

/** Lists below a resource that hold what names it rather than its children (D-055, D-062, D-072, D-073). */
const RELATED: readonly (readonly [parent: TypeWord, word: TypeWord])[] = [
  ['providers', 'containers'],
  ['lambdas', 'apiendpoints'],
  ['containers', 'apiendpoints'],
  ['users', 'groups'],
  ['groups', 'users'],
];

/** What lists of some types understand besides (D-065, D-066, D-015). */
const LIST_QUERIES: Partial<Record<TypeWord, Row['query']>> = {
  providers: { type: providerType, showcredentials: showCredentials },
  rules: { type: ruleType },
};

type Entry = readonly [id: string, row: Row];

/** The routes that every type of the registry has: lists, child lists, create, read, patch, replace, delete (D-002, D-004). */
export const recordRows: Rows = Object.fromEntries(
  resourceTypes.flatMap((type) => [
    ...ownedRows(type),
    ...type.parents.flatMap((parent) => childRows(type, typeOfWord(parent), true)),
    ...RELATED.filter(([, word]) => word === type.word).flatMap(([parent]) =>
      childRows(type, typeOfWord(parent), false),
    ),
  ]),
);

/** `F/{type}` and `F/{type}/{id}`. */
function ownedRows(type: ResourceType): Entry[] {
  const { plural, many, one, idParameter } = namingOf(type);
  const path = `/meta/{fqon}/${type.word}` as const;
  return [
    listRow(type, path, `list${plural}`, `List the ${many} of an organization`),
    ...(type.parents.includes('orgs') ? [createRow(type, path, '', `Create ${one} in an organization`, 'fqon')] : []),
    ...singleRows(type, `${path}/{${idParameter}}`, '', one, idParameter),
  ];
}

/** `F/{parent type}/{parent id}/{type}`, and with an id the second-level form, which demands that one is below the other. */
function childRows(type: ResourceType, parent: ResourceType, isParent: boolean): Entry[] {
  const { plural, many, one, idParameter } = namingOf(type);
  const above = namingOf(parent);
  const path = `/meta/{fqon}/${parent.word}/{${above.idParameter}}/${type.word}` as const;
  const suffix = `Of${above.schema}`;
  // The names of a path's parameters have to differ.
  const childId = parent === type ? `sub_${idParameter}` : idParameter;
  const single = singleRows(type, `${path}/{${childId}}`, suffix, `${one} of ${above.one}`, childId);
  return [
    listRow(type, path, `list${plural}${suffix}`, `List the ${many} of ${above.one}`),
    ...(isParent
      ? [createRow(type, path, `In${above.schema}`, `Create ${one} in ${above.one}`, above.idParameter)]
      : []),
    // Through a list that only refers nothing is written (D-004).
    ...single.filter(([, { route }]) => isParent || route.startsWith('get ')),
  ];
}

function listRow(type: ResourceType, path: `/${string}`, id: string, summary: string): Entry {
  return [
    id,
    {
      route: `get ${path}`,
      tag: namingOf(type).tag,
      summary,
      right: 'caller',
      query: { ...listQuery, ...LIST_QUERIES[type.word] },
      answer: listAnswer(recordOf(type)),
      errors: [400, 404],
    },
  ];
}

function createRow(type: ResourceType, path: `/${string}`, suffix: string, summary: string, parent: string): Entry {
  const { schema, tag } = namingOf(type);
  return [
    `create${schema}${suffix}`,
    {
      route: `post ${path}`,
      tag,
      summary,
      right: may(`${type.noun}.create`, parent),
      body: ownBody(newRecordOf(type)),
      answer: newRecord(recordOf(type)),
      // 501: what `?action=` asks of a list (D-211).
      errors: [400, 403, 404, 409, 422, 501],
    },
  ];
}

/** What can be done with one resource, however its path begins. */
function singleRows(type: ResourceType, path: `/${string}`, suffix: string, what: string, on: string): Entry[] {
  const { schema, tag } = namingOf(type);
  const record = recordOf(type);
  const embeddable = Object.keys(type.embed ?? {});
  const isProvider = type.word === 'providers';
  const right = (verb: string): Right => may(`${type.noun}.${verb}`, on);
  return [
    [
      `read${schema}${suffix}`,
      {
        route: `get ${path}`,
        tag,
        summary: `Read ${what}`,
        ...(embeddable.length > 0 && {
          description: `\`embed\` knows ${embeddable.map((word) => `\`${word}\``).join(', ')}.`,
        }),
        right: right('view'),
        query: { ...(embeddable.length > 0 && { embed }), ...(isProvider && { showcredentials: showCredentials }) },
        answer: ok(record),
        errors: [400, 403, 404],
      },
    ],
    [
      `patch${schema}${suffix}`,
      {
        route: `patch ${path}`,
        tag,
        summary: `Change ${what} by JSON Patch`,
        right: right('update'),
        body: patch,
        answer: changedRecord(record),
        errors: [400, 403, 404, 409, 422],
      },
    ],
    ...(type.replaceable ? [replaceRow(type, path, suffix, what, right('update'))] : []),
    [
      `delete${schema}${suffix}`,
      {
        route: `delete ${path}`,
        tag,
        summary: `Delete ${what}`,
        right: right('delete'),
        query: { force: removal.force, ...(isProvider && { deleteContainers: removal.deleteContainers }) },
        answer: gone,
        errors: [400, 403, 404, 409],
      },
    ],
  ];
}

function replaceRow(type: ResourceType, path: `/${string}`, suffix: string, what: string, right: Right): Entry {
  const { schema, tag } = namingOf(type);
  return [
    `replace${schema}${suffix}`,
    {
      route: `put ${path}`,
      tag,
      summary: `Replace ${what}`,
      description: 'The whole record: optional properties that are left out fall back to their defaults.',
      right,
      body: ownBody(recordOf(type)),
      answer: changedRecord(recordOf(type)),
      errors: [400, 403, 404, 409],
    },
  ];
}
