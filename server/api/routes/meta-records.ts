import { resourceTypes, typeOfWord } from '../../model/registry.ts';
import type { ResourceType } from '../../model/resource-type.ts';
import type { TypeWord } from '../../model/type-words.ts';
import { filled, openRoutes, referringLists } from './meta-open.ts';
import {
  changedRecord,
  listAnswer,
  listQueryOf,
  providerType,
  readQuery,
  recordOf,
  removal,
  ruleType,
  showCredentials,
  wholeRecord,
} from './records.ts';
import { createdWithLocation, noContent, ok, type Route, type Routes } from './route.ts';
import { namingOf } from './type-naming.ts';

/** Additional query parameters of the lists of some types (D-065, D-066, D-015). */
const LIST_QUERIES: Partial<Record<TypeWord, Route['query']>> = {
  providers: { type: providerType, showcredentials: showCredentials },
  rules: { type: ruleType },
};

/** The routes of all types of the registry, as the document lists them. */
export const recordRoutes: Routes = Object.fromEntries(
  resourceTypes.flatMap((type) => [
    ...routesOf(type),
    ...type.parents.flatMap((parent) => routesOf(type, typeOfWord(parent))),
    // Lists that only refer to resources cannot be written (D-004).
    ...referringLists
      .flatMap(([parent, child]) => (child === type.collection ? routesOf(type, typeOfWord(parent)) : []))
      .filter(([, { route }]) => route.startsWith('get ')),
  ]),
);

/**
 * `F/{type}` and `F/{type}/{id}`; with a parent `F/{parent type}/{parent id}/{type}`, and the second-level form with an id, which requires
 * that the resource is a child of the parent.
 */
function routesOf(type: ResourceType, parent?: ResourceType): [id: string, row: Route][] {
  const { schema, plural, many, one: singularName, idParameter, tag } = namingOf(type);
  const above = parent && namingOf(parent);
  const aboveId = `{${above?.idParameter}}`;
  // The parameter names in a path must differ.
  const id = parent === type ? `{sub_${idParameter}}` : `{${idParameter}}`;
  const pathParts: Record<string, string> = parent
    ? {
        word: parent.collection,
        resource_id: aboveId,
        parent_id: aboveId,
        child_word: type.collection,
        child_id: id,
        own_id: id,
      }
    : { word: type.collection, resource_id: id };
  const replacements = { ...pathParts, new_word: type.collection, replaceable_id: id, own_replaceable_id: id };
  const filledRoute = (ownRoute: Route, child: Route, query: Route['query'] = {}) => ({
    ...filled(parent ? child : ownRoute, replacements, type.singular, query),
    tag,
  });
  const suffix = above ? `Of${above.schema}` : '';
  const subject = above ? `${singularName} of ${above.one}` : singularName;
  const record = recordOf(type);
  const body = wholeRecord(type);
  const embeddable = Object.keys(type.embed ?? {});
  const isProvider = type.collection === 'providers';
  const { expand, embed } = readQuery;
  const credentials = isProvider && { showcredentials: showCredentials };
  const seen = { expand, ...(embeddable.length > 0 && { embed }), ...credentials };
  const removed = { force: removal.force, ...(isProvider && { deleteContainers: removal.deleteContainers }) };
  const description = `\`embed\` accepts ${embeddable.map((property) => `\`${property}\``).join(', ')}.`;
  const rows: Record<string, Route | false | undefined> = {
    [`list${plural}${suffix}`]: {
      ...filledRoute(openRoutes.listRecords, openRoutes.listChildRecords, {
        ...listQueryOf(type),
        ...LIST_QUERIES[type.collection],
      }),
      summary: above ? `List the ${many} of ${above.one}` : `List ${many} in an organization`,
      answer: listAnswer(record),
    },
    [`create${schema}${above ? `In${above.schema}` : ''}`]: (parent || type.parents.includes('orgs')) && {
      ...filledRoute(openRoutes.createRecord, openRoutes.createChild),
      summary: `Create ${singularName} in ${above?.one ?? 'an organization'}`,
      body,
      answer: createdWithLocation(record),
    },
    [`read${schema}${suffix}`]: {
      ...filledRoute(openRoutes.readRecord, openRoutes.readChild, seen),
      summary: `Read ${subject}`,
      ...(embeddable.length > 0 && { description }),
      answer: ok(record),
    },
    [`patch${schema}${suffix}`]: {
      ...filledRoute(openRoutes.patchRecord, openRoutes.patchChild),
      summary: `Update ${subject} with a JSON Patch`,
      answer: changedRecord(record),
    },
    [`replace${schema}${suffix}`]: type.replaceable && {
      ...filledRoute(openRoutes.replaceRecord, openRoutes.replaceChild),
      summary: `Replace ${subject}`,
      body,
      answer: changedRecord(record),
    },
    [`delete${schema}${suffix}`]: {
      ...filledRoute(openRoutes.deleteRecord, openRoutes.deleteChild, removed),
      summary: `Delete ${subject}`,
      answer: noContent,
    },
  };
  return Object.entries(rows).flatMap(([name, row]) => (row ? [[name, row]] : []));
}
