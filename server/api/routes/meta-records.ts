import { resourceTypes, typeOfWord } from '../../model/registry.ts';
import type { ResourceType } from '../../model/resource-type.ts';
import type { TypeWord } from '../../model/type-words.ts';
import { filled, openRoutes, referringLists } from './meta-open.ts';
import {
  changedRecord,
  listAnswer,
  listQueryOf,
  newRecord,
  providerType,
  readQuery,
  recordOf,
  removal,
  requestOf,
  ruleType,
  showCredentials,
  whole,
} from './records.ts';
import { noContent, ok, type Route, type Routes } from './route.ts';
import { namingOf } from './type-naming.ts';

/** Additional query parameters of the lists of some types (D-065, D-066, D-015). */
const LIST_QUERIES: Partial<Record<TypeWord, Route['query']>> = {
  providers: { type: providerType, showcredentials: showCredentials },
  rules: { type: ruleType },
};

type Entry = readonly [id: string, row: Route];

/** The routes of all types of the registry, as the document lists them. */
export const recordRoutes: Routes = Object.fromEntries(
  resourceTypes.flatMap((type) => [
    ...ownedRoutes(type),
    ...type.parents.flatMap((parent) => childRoutes(type, typeOfWord(parent), true)),
    ...referringLists.flatMap(([parent, child]) =>
      child === type.word ? childRoutes(type, typeOfWord(parent), false) : [],
    ),
  ]),
);

/** `F/{type}` and `F/{type}/{id}`. */
function ownedRoutes(type: ResourceType): Entry[] {
  const { plural, many, one, idParameter } = namingOf(type);
  const id = `{${idParameter}}`;
  const { listRecords, createRecord, readRecord, patchRecord, replaceRecord, deleteRecord } = openRoutes;
  return [
    listRow(type, listRecords, { word: type.word }, `list${plural}`, `List ${many} in an organization`),
    ...(type.parents.includes('orgs')
      ? [createRow(type, createRecord, { new_word: type.word }, '', `Create ${one} in an organization`)]
      : []),
    ...singleRoutes(
      type,
      [readRecord, patchRecord, replaceRecord, deleteRecord],
      { word: type.word, resource_id: id, replaceable_id: id },
      '',
      one,
    ),
  ];
}

/**
 * `F/{parent type}/{parent id}/{type}`, and the second-level form with an id, which requires that the resource is a child of the parent.
 */
function childRoutes(type: ResourceType, parent: ResourceType, isParent: boolean): Entry[] {
  const { plural, many, one, idParameter } = namingOf(type);
  const above = namingOf(parent);
  const suffix = `Of${above.schema}`;
  // The parameter names in a path must differ.
  const id = parent === type ? `{sub_${idParameter}}` : `{${idParameter}}`;
  const aboveId = `{${above.idParameter}}`;
  const words = {
    word: parent.word,
    resource_id: aboveId,
    child_word: type.word,
    child_id: id,
    own_id: id,
    own_replaceable_id: id,
  };
  const { listChildRecords, createChild, readChild, patchChild, replaceChild, deleteChild } = openRoutes;
  const single = singleRoutes(
    type,
    [readChild, patchChild, replaceChild, deleteChild],
    words,
    suffix,
    `${one} of ${above.one}`,
  );
  const within = { word: parent.word, parent_id: aboveId, new_word: type.word };
  return [
    listRow(type, listChildRecords, words, `list${plural}${suffix}`, `List the ${many} of ${above.one}`),
    ...(isParent ? [createRow(type, createChild, within, `In${above.schema}`, `Create ${one} in ${above.one}`)] : []),
    // Lists that only refer to resources cannot be written (D-004).
    ...single.filter(([, { route }]) => isParent || route.startsWith('get ')),
  ];
}

type Words = Readonly<Record<string, string>>;

function listRow(type: ResourceType, row: Route, words: Words, id: string, summary: string): Entry {
  const query = { ...listQueryOf(type), ...LIST_QUERIES[type.word] };
  const answer = listAnswer(recordOf(type));
  return [id, { ...filled(row, words, type.singular, query), tag: namingOf(type).tag, summary, answer }];
}

function createRow(type: ResourceType, row: Route, words: Words, suffix: string, summary: string): Entry {
  const { schema, tag } = namingOf(type);
  const reported = { tag, summary, body: whole(requestOf(type)), answer: newRecord(recordOf(type)) };
  return [`create${schema}${suffix}`, { ...filled(row, words, type.singular, {}), ...reported }];
}

function singleRoutes(
  type: ResourceType,
  [read, patch, replace, remove]: readonly [Route, Route, Route, Route],
  words: Words,
  suffix: string,
  what: string,
): Entry[] {
  const { schema, tag } = namingOf(type);
  const record = recordOf(type);
  const embeddable = Object.keys(type.embed ?? {});
  const isProvider = type.word === 'providers';
  const { expand, embed } = readQuery;
  const credentials = isProvider && { showcredentials: showCredentials };
  const seen = { expand, ...(embeddable.length > 0 && { embed }), ...credentials };
  const removed = { force: removal.force, ...(isProvider && { deleteContainers: removal.deleteContainers }) };
  const description = `\`embed\` accepts ${embeddable.map((word) => `\`${word}\``).join(', ')}.`;
  const of = (row: Route, query: Route['query'] = {}) => ({ ...filled(row, words, type.singular, query), tag });
  const rows: Record<string, Route> = {
    read: {
      ...of(read, seen),
      summary: `Read ${what}`,
      ...(embeddable.length > 0 && { description }),
      answer: ok(record),
    },
    patch: { ...of(patch), summary: `Update ${what} with a JSON Patch`, answer: changedRecord(record) },
    ...(type.replaceable && {
      replace: {
        ...of(replace),
        summary: `Replace ${what}`,
        body: whole(requestOf(type)),
        answer: changedRecord(record),
      },
    }),
    delete: { ...of(remove, removed), summary: `Delete ${what}`, answer: noContent },
  };
  return Object.entries(rows).map(([verb, row]) => [`${verb}${schema}${suffix}`, row]);
}
