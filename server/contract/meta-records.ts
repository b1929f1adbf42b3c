import { resourceTypes, typeOfWord } from '../model/registry.ts';
import type { ResourceType } from '../model/resource-type.ts';
import type { TypeWord } from '../model/type-words.ts';
import { filled, openRows, referringLists } from './meta-open.ts';
import {
  changedRecord,
  embed,
  listAnswer,
  listQuery,
  newRecord,
  newRecordOf,
  providerType,
  recordOf,
  removal,
  ruleType,
  showCredentials,
  whole,
} from './records.ts';
import { gone, ok, type Row, type Rows } from './row.ts';
import { namingOf } from './type-naming.ts';

/** What lists of some types understand besides (D-065, D-066, D-015). */
const LIST_QUERIES: Partial<Record<TypeWord, Row['query']>> = {
  providers: { type: providerType, showcredentials: showCredentials },
  rules: { type: ruleType },
};

type Entry = readonly [id: string, row: Row];

/** The open rows with the words of every type of the registry, as the document tells of them. */
export const recordRows: Rows = Object.fromEntries(
  resourceTypes.flatMap((type) => [
    ...ownedRows(type),
    ...type.parents.flatMap((parent) => childRows(type, typeOfWord(parent), true)),
    ...referringLists.flatMap(([parent, child]) =>
      child === type.word ? childRows(type, typeOfWord(parent), false) : [],
    ),
  ]),
);

/** `F/{type}` and `F/{type}/{id}`. */
function ownedRows(type: ResourceType): Entry[] {
  const { plural, many, one, idParameter } = namingOf(type);
  const id = `{${idParameter}}`;
  const { listRecords, createRecord, readRecord, patchRecord, replaceRecord, deleteRecord } = openRows;
  return [
    listRow(type, listRecords, { word: type.word }, `list${plural}`, `List the ${many} of an organization`),
    ...(type.parents.includes('orgs')
      ? [createRow(type, createRecord, { new_word: type.word }, '', `Create ${one} in an organization`)]
      : []),
    ...singleRows(
      type,
      [readRecord, patchRecord, replaceRecord, deleteRecord],
      { word: type.word, resource_id: id, replaceable_id: id },
      '',
      one,
    ),
  ];
}

/** `F/{parent type}/{parent id}/{type}`, and with an id the second-level form, which demands that one is below the other. */
function childRows(type: ResourceType, parent: ResourceType, isParent: boolean): Entry[] {
  const { plural, many, one, idParameter } = namingOf(type);
  const above = namingOf(parent);
  const suffix = `Of${above.schema}`;
  // The names of a path's parameters have to differ.
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
  const { listChildRecords, createChild, readChild, patchChild, replaceChild, deleteChild } = openRows;
  const single = singleRows(
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
    // Through a list that only refers nothing is written (D-004).
    ...single.filter(([, { route }]) => isParent || route.startsWith('get ')),
  ];
}

type Words = Readonly<Record<string, string>>;

function listRow(type: ResourceType, row: Row, words: Words, id: string, summary: string): Entry {
  const query = { ...listQuery, ...LIST_QUERIES[type.word] };
  const answer = listAnswer(recordOf(type));
  return [id, { ...filled(row, words, type.noun, query), tag: namingOf(type).tag, summary, answer }];
}

function createRow(type: ResourceType, row: Row, words: Words, suffix: string, summary: string): Entry {
  const { schema, tag } = namingOf(type);
  const told = { tag, summary, body: whole(newRecordOf(type)), answer: newRecord(recordOf(type)) };
  return [`create${schema}${suffix}`, { ...filled(row, words, type.noun, {}), ...told }];
}

/** What can be done with one resource, however its path begins. */
function singleRows(
  type: ResourceType,
  [read, patch, replace, remove]: readonly [Row, Row, Row, Row],
  words: Words,
  suffix: string,
  what: string,
): Entry[] {
  const { schema, tag } = namingOf(type);
  const record = recordOf(type);
  const embeddable = Object.keys(type.embed ?? {});
  const isProvider = type.word === 'providers';
  const seen = { ...(embeddable.length > 0 && { embed }), ...(isProvider && { showcredentials: showCredentials }) };
  const removed = { force: removal.force, ...(isProvider && { deleteContainers: removal.deleteContainers }) };
  const description = `\`embed\` knows ${embeddable.map((word) => `\`${word}\``).join(', ')}.`;
  const of = (row: Row, query: Row['query'] = {}) => ({ ...filled(row, words, type.noun, query), tag });
  const rows: Record<string, Row> = {
    read: {
      ...of(read, seen),
      summary: `Read ${what}`,
      ...(embeddable.length > 0 && { description }),
      answer: ok(record),
    },
    patch: { ...of(patch), summary: `Change ${what} by JSON Patch`, answer: changedRecord(record) },
    ...(type.replaceable && {
      replace: { ...of(replace), summary: `Replace ${what}`, body: whole(record), answer: changedRecord(record) },
    }),
    delete: { ...of(remove, removed), summary: `Delete ${what}`, answer: gone },
  };
  return Object.entries(rows).map(([verb, row]) => [`${verb}${schema}${suffix}`, row]);
}
