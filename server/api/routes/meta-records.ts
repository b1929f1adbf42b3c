import { z } from 'zod';
import { resourceTypes, typeOfWord } from '../../model/registry.ts';
import type { ResourceType } from '../../model/resource-type.ts';
import { hiddenProperties } from '../../model/rules/secrets.ts';
import type { TypeWord } from '../../model/type-words.ts';
import { shapeOf } from '../../model/types/schema-parts.ts';
import { MOVABLE, openRoutes, openTypeRoutes, referringLists, WITH_ENV } from './meta-open.ts';
import { envRoutes, lambdaEnvRoutes, membershipRoutes, providerRoutes, scaleRoutes } from './meta-types.ts';
import {
  changedRecord,
  listAnswer,
  listQuery,
  providerType,
  readQuery,
  recordOf,
  removal,
  ruleType,
  showCredentials,
  wholeRecord,
} from './records.ts';
import { accepted, createdWithLocation, noContent, ok, type Route, type Routes } from './route.ts';
import { namingOf } from './type-naming.ts';

/** Additional query parameters of the lists of some types (D-065, D-066, D-015). */
const LIST_QUERIES: Partial<Record<TypeWord, Route['query']>> = {
  providers: { type: providerType, showcredentials: showCredentials },
  rules: { type: ruleType },
};

const inputSchemaOf = (schema: z.ZodType) => z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });

/** Can a property be compared with the text of a parameter? */
function isScalar(schema: z.ZodType): boolean {
  const { type } = inputSchemaOf(schema);
  return type !== 'object' && type !== 'array';
}

/** The parameters of the list of one type: it can be filtered by each property with a simple value. */
function listQueryOf(type: ResourceType) {
  const hidden = hiddenProperties(type);
  const shape = Object.entries(shapeOf(type.properties));
  const properties = shape.flatMap(([name, schema]) => (hidden.includes(name) || !isScalar(schema) ? [] : [name]));
  const names = [...listQuery.filter.names, ...properties];
  const isListedByName = !inputSchemaOf(type.properties).additionalProperties;
  return { ...listQuery, filter: { ...listQuery.filter, names, isListedByName } };
}

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

/** `F/{type}` and `F/{type}/{id}`; with a parent, `F/{parent type}/{parent id}/{type}` and `F/{parent type}/{parent id}/{type}/{id}`. */
function routesOf(type: ResourceType, parent?: ResourceType): [id: string, row: Route][] {
  const { schema, plural, many, one: singularName, idParameter, tag } = namingOf(type);
  const above = parent && namingOf(parent);
  const aboveId = `{${above?.idParameter}}`;
  // The parameter names in a path must differ.
  const id = parent === type ? `{sub_${idParameter}}` : `{${idParameter}}`;
  const replacements = {
    word: (parent ?? type).collection,
    resource_id: parent ? aboveId : id,
    parent_id: aboveId,
    child_word: type.collection,
    new_word: type.collection,
    child_id: id,
    own_id: id,
    replaceable_id: id,
    own_replaceable_id: id,
  };
  const filledRoute = (ownRoute: Route, child: Route, query: Route['query'] = {}) => ({
    ...filled(parent ? child : ownRoute, replacements, type.singular),
    query,
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

/** The routes for `resources`, which represents any type. */
export const resourceRoutes: Routes = {
  listResources: ofAny(openRoutes.listRecords, 'List the resources of an organization'),
  listChildren: {
    ...filled(openRoutes.listChildRecords, { child_word: 'resources' }),
    summary: 'List the children of a resource',
  },
  readResource: { ...ofAny(openRoutes.readRecord, 'Read a resource by id'), query: {} },
  patchResource: ofAny(openRoutes.patchRecord, 'Update a resource with a JSON Patch'),
  replaceResource: ofAny(openRoutes.replaceRecord, 'Replace a resource, if its type supports it'),
  deleteResource: ofAny(openRoutes.deleteRecord, 'Delete a resource'),
};

function ofAny(row: Route, summary: string): Route {
  return { ...filled(row, { word: 'resources', replaceable_id: '{resource_id}' }), summary };
}

/** Routes of single types: membership, moves, inherited variables ... */
export const typeTables: readonly Routes[] = [
  membershipRoutes,
  providerRoutes,
  scaleRoutes,
  ...MOVABLE.map((collection) =>
    ofType(collection, { migrate: openTypeRoutes.migrate, promote: openTypeRoutes.promote }),
  ),
  envRoutes,
  ...WITH_ENV.map((collection) => ofType(collection, { readEnvOf: openTypeRoutes.readEnv })),
  lambdaEnvRoutes,
];

/** Routes with the name of the type filled in and operation ids that include the type. */
function ofType(collection: TypeWord, table: Readonly<Record<string, Route>>): Routes {
  const type = typeOfWord(collection);
  const { tag, schema, idParameter } = namingOf(type);
  const rows = Object.entries(table).map(([name, row]): [string, Route] => {
    const reported = filled(row, { word: collection, resource_id: `{${idParameter}}` }, type.singular);
    const isMove = row.answer?.status === 202;
    return [`${name}${schema}`, { ...reported, tag, ...(isMove && { answer: accepted(recordOf(type)) }) }];
  });
  return Object.fromEntries(rows);
}

/** A route with names in braces replaced: by values, or by other names in braces. @param singular of the type, for the permission */
function filled(row: Route, replacements: Readonly<Record<string, string>>, singular = '*'): Route {
  const { permission } = row;
  const on = (name: string) => replacements[name]?.replace(/[{}]/g, '') ?? name;
  const actionOf = (action: string) => action.replace(/^(\*|\{\w+\})/, singular);
  return {
    ...row,
    // Replacing parameters by type names still leaves a verb and a path.
    route: row.route.replace(/\{(\w+)\}/g, (name, inside: string) => replacements[inside] ?? name) as Route['route'],
    permission:
      typeof permission === 'string'
        ? permission
        : permission.map((entry) => ({ ...entry, action: actionOf(entry.action), on: on(entry.on) })),
  };
}
