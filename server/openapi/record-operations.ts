import { may, type Right } from '../contract/right.ts';
import { resourceTypes, typeOfWord } from '../model/registry.ts';
import type { ResourceType } from '../model/resource-type.ts';
import type { TypeWord } from '../model/type-words.ts';
import { created, gone, LIST_QUERY, type Operation, ok, okList, patchBody, ref } from './operation.ts';
import { namingOf } from './type-naming.ts';
import { newRecordSchema } from './type-schemas.ts';

/** Lists below a resource that hold what names it rather than its children (D-055, D-062, D-072, D-073). */
const RELATED: readonly (readonly [parent: TypeWord, word: TypeWord])[] = [
  ['providers', 'containers'],
  ['lambdas', 'apiendpoints'],
  ['containers', 'apiendpoints'],
  ['users', 'groups'],
  ['groups', 'users'],
];

/** What lists of some types understand besides (D-065, D-066, D-015). */
const LIST_PARAMETERS: Partial<Record<TypeWord, readonly string[]>> = {
  providers: ['provider_type', 'showcredentials'],
  rules: ['rule_type'],
};

/** The routes that every type of the registry has: lists, child lists, create, read, patch, replace, delete (D-002, D-004). */
export function recordOperations(): Operation[] {
  return resourceTypes.flatMap((type) => [
    ...ownedOperations(type),
    ...type.parents.flatMap((parent) => childOperations(type, typeOfWord(parent), true)),
    ...RELATED.filter(([, word]) => word === type.word).flatMap(([parent]) =>
      childOperations(type, typeOfWord(parent), false),
    ),
  ]);
}

/** `F/{type}` and `F/{type}/{id}`. */
function ownedOperations(type: ResourceType): Operation[] {
  const { plural, many, one, idParameter } = namingOf(type);
  const path = `/meta/{fqon}/${type.word}`;
  const operations = [
    listOperation(type, path, `list${plural}`, `List the ${many} of an organization`),
    ...(type.parents.includes('orgs')
      ? [createOperation(type, path, '', `Create ${one} in an organization`, 'fqon')]
      : []),
  ];
  return [...operations, ...singleOperations(type, `${path}/{${idParameter}}`, '', one, idParameter)];
}

/** `F/{parent type}/{parent id}/{type}`, and with an id the second-level form, which demands that one is below the other. */
function childOperations(type: ResourceType, parent: ResourceType, isParent: boolean): Operation[] {
  const { plural, many, one, idParameter } = namingOf(type);
  const above = namingOf(parent);
  const path = `/meta/{fqon}/${parent.word}/{${above.idParameter}}/${type.word}`;
  const suffix = `Of${above.schema}`;
  // The names of a path's parameters have to differ.
  const childId = parent === type ? `sub_${idParameter}` : idParameter;
  const operations = [
    listOperation(type, path, `list${plural}${suffix}`, `List the ${many} of ${above.one}`),
    ...(isParent
      ? [createOperation(type, path, `In${above.schema}`, `Create ${one} in ${above.one}`, above.idParameter)]
      : []),
  ];
  const single = singleOperations(type, `${path}/{${childId}}`, suffix, `${one} of ${above.one}`, childId);
  // Through a list that only refers nothing is written (D-004).
  return [...operations, ...single.filter(({ verb }) => isParent || verb === 'get')];
}

function listOperation(type: ResourceType, path: string, id: string, summary: string): Operation {
  const { schema, tag } = namingOf(type);
  return {
    verb: 'get',
    path,
    id,
    tag,
    summary,
    right: 'caller',
    query: [...LIST_QUERY, ...(LIST_PARAMETERS[type.word] ?? [])],
    success: okList(schema),
    errors: [400, 404],
  };
}

function createOperation(type: ResourceType, path: string, suffix: string, summary: string, parent: string): Operation {
  const { schema, tag } = namingOf(type);
  return {
    verb: 'post',
    path,
    id: `create${schema}${suffix}`,
    tag,
    summary,
    right: may(`${type.noun}.create`, parent),
    body: { schema: newRecordSchema(type) },
    success: created(ref(schema)),
    errors: [400, 403, 404, 409, 422],
  };
}

/** What can be done with one resource, however its path begins. */
function singleOperations(type: ResourceType, path: string, suffix: string, what: string, on: string): Operation[] {
  const { schema, tag } = namingOf(type);
  const embeddable = Object.keys(type.embed ?? {});
  const isProvider = type.word === 'providers';
  const common = { path, tag };
  const right = (verb: string): Right => may(`${type.noun}.${verb}`, on);
  return [
    {
      ...common,
      verb: 'get',
      right: right('view'),
      id: `read${schema}${suffix}`,
      summary: `Read ${what}`,
      ...(embeddable.length > 0 && {
        description: `\`embed\` knows ${embeddable.map((word) => `\`${word}\``).join(', ')}.`,
      }),
      query: [...(embeddable.length > 0 ? ['embed'] : []), ...(isProvider ? ['showcredentials'] : [])],
      success: ok(ref(schema)),
      errors: [400, 403, 404],
    },
    {
      ...common,
      verb: 'patch',
      right: right('update'),
      id: `patch${schema}${suffix}`,
      summary: `Change ${what} by JSON Patch`,
      body: patchBody,
      success: ok(ref(schema), 'The record after the change'),
      errors: [400, 403, 404, 409, 422],
    },
    ...(type.replaceable
      ? [
          {
            ...common,
            verb: 'put' as const,
            right: right('update'),
            id: `replace${schema}${suffix}`,
            summary: `Replace ${what}`,
            description: 'The whole record: optional properties that are left out fall back to their defaults.',
            body: { schema: ref(schema) },
            success: ok(ref(schema), 'The record after the change'),
            errors: [400, 403, 404, 409],
          },
        ]
      : []),
    {
      ...common,
      verb: 'delete',
      right: right('delete'),
      id: `delete${schema}${suffix}`,
      summary: `Delete ${what}`,
      query: ['force', ...(isProvider ? ['delete_containers'] : [])],
      success: gone,
      errors: [400, 403, 404, 409],
    },
  ];
}
