import type { z } from 'zod';
import { pathParameters } from '../contract/path-parameters.ts';
import { type ErrorForm, namesIn, type Row } from '../contract/row.ts';
import type { JsonObject } from '../model/json.ts';

/** The JSON Schema of a row's schema, as the document has it. */
export type SchemaOf = (schema: z.ZodType) => JsonObject;

/** The statuses that a row can refuse with: those that follow from what it asks for, and those that it names; ascending. */
export function refusalsOf({ route, right, target, query, body, errors = [] }: Row): number[] {
  const isRead = Object.keys(query ?? {}).length > 0 || target !== undefined;
  const ofBody = body?.mediaTypes.includes('*/*') ? [400, 413] : [400, 413, 415];
  const statuses = new Set([
    ...(right === 'none' ? [] : [401]),
    ...(isRead ? [400] : []),
    ...(right === 'none' || right === 'caller' ? [] : [403]),
    // An organization has to be there.
    ...(target || route.includes('{fqon}') ? [404] : []),
    ...(body ? ofBody : []),
    // What is to be kept may not be: a disk is full, or the platform ends.
    ...(route.startsWith('get ') ? [] : [503]),
    ...errors,
  ]);
  return [...statuses].sort((a, b) => a - b);
}

/** Name of the response component for a status in one of the error forms. */
export function errorResponse(form: ErrorForm, status: number): string {
  return `${form}${status}`;
}

/**
 * Rows as a document may tell of them: no two of its paths may differ in nothing but the names of their parameters (OpenAPI 3.1, Paths
 * Object). Of two such rows the later one stands there once for each of the words that its path is for.
 */
export function withPathsOfTheirOwn(rows: readonly (readonly [id: string, row: Row])[]): [id: string, row: Row][] {
  const firstByForm = new Map<string, string>();
  return rows.flatMap(([id, row]): [string, Row][] => {
    const [, path = ''] = row.route.split(' ');
    const form = path.replace(/\{\w+\}/g, '{}');
    const first = firstByForm.get(form) ?? path;
    firstByForm.set(form, first);
    if (first === path) return [[id, row]];
    const [[name, words] = []] = Object.entries(row.only ?? {});
    if (!words) throw new Error(`${row.route}: the document has ${first} already`);
    // As: the verb stays what it was.
    const routeOf = (word: string) => row.route.replace(`{${name}}`, word) as Row['route'];
    return words.map((word) => [`${id}_${word}`, { ...row, route: routeOf(word) }]);
  });
}

/**
 * The `paths` of a document: what rows say, grouped by path in their order.
 *
 * @param servers where these paths are when it is not where the document says
 */
export function pathsOf(
  rows: readonly (readonly [id: string, row: Row])[],
  schemaOf: SchemaOf,
  servers?: JsonObject[],
): Record<string, JsonObject> {
  const paths: Record<string, JsonObject> = {};
  for (const [id, row] of rows) {
    const [verb = '', path = ''] = row.route.split(' ');
    const item = paths[path] ?? (servers ? { servers } : {});
    paths[path] = { ...item, [verb]: operationObject(id, row, schemaOf) };
  }
  return paths;
}

/** The Operation Object of OpenAPI 3.1 that a row stands for. */
function operationObject(id: string, row: Row, schemaOf: SchemaOf): JsonObject {
  const { tag, summary, description, right, query = {}, body, answer, errorForm = 'Error' } = row;
  const security = row.security ?? (right === 'none' ? [] : undefined);
  const parameters = [
    ...namesIn(row.route).map((name) => ({ $ref: `#/components/parameters/${name}` })),
    ...Object.entries(query).map(([name, { description, form, isRequired }]) => ({
      name,
      in: 'query',
      ...(isRequired && { required: true }),
      schema: form,
      description,
    })),
  ];
  const refusals = refusalsOf(row).map((status) => [
    status,
    { $ref: `#/components/responses/${errorResponse(errorForm, status)}` },
  ]);
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description && { description }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: { required: !body.isOptional, content: contentOf(schemaOf(body.schema), body.mediaTypes) },
    }),
    responses: { ...(answer && successOf(answer, schemaOf)), ...Object.fromEntries(refusals) },
    ...(security && { security: security.map((scheme) => ({ [scheme]: [] })) }),
    'x-terrarium-right': typeof right === 'string' ? right : right.map(({ action, on }) => ({ action, on })),
  };
}

function successOf(
  { status, description, schema, headers, mediaTypes }: NonNullable<Row['answer']>,
  schemaOf: SchemaOf,
): JsonObject {
  const content = schema && { content: contentOf(schemaOf(schema), mediaTypes) };
  return { [status]: { description, ...(headers && { headers }), ...content } };
}

function contentOf(schema: JsonObject, mediaTypes: readonly string[] = ['application/json']): JsonObject {
  return Object.fromEntries(mediaTypes.map((type) => [type, { schema }]));
}

/** `components.parameters`: those of paths, by the name in braces; those of queries stand where they are. */
export function parametersOf(rows: readonly (readonly [id: string, row: Row])[]): JsonObject {
  const names = new Set(rows.flatMap(([, { route }]) => namesIn(route)));
  return Object.fromEntries(
    [...names].map((name) => {
      const [description, schema] = pathParameters[name] ?? [];
      if (description === undefined || !schema) throw new Error(`no row of path-parameters.ts tells what {${name}} is`);
      return [name, { name, in: 'path', required: true, description, schema }];
    }),
  );
}
