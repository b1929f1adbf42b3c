import type { z } from 'zod';
import type { JsonObject } from '../../model/json.ts';
import { pathParameters } from '../routes/path-parameters.ts';
import { type Answer, commitHeader, namesIn, type Route } from '../routes/route.ts';
import { errorFormOf } from '../schemas/forms.ts';

export type SchemaOf = (schema: z.ZodType) => JsonObject;

/** The error statuses of any request: malformed; unknown Host or missing permission; too slow; path too long; too many headers. */
const ANY_REQUEST = [400, 403, 408, 414, 431];

/** The error statuses of a route: those that follow from its requirements and those that it declares, ascending. */
export function refusalsOf({ route, permission: right, body, errors = [] }: Route): number[] {
  const ofBody = body?.mediaTypes.includes('*/*') ? [413] : [413, 415];
  const statuses = new Set([
    ...ANY_REQUEST,
    ...(right === 'none' ? [] : [401]),
    // What the path names must exist, but for a key or token to revoke (D-174).
    ...(/\{(?!(api_key|token)\})/.test(route) ? [404] : []),
    ...(body ? ofBody : []),
    // Writes can fail: the disk can be full, or the platform can be stopping.
    ...(route.startsWith('get ') ? [] : [503]),
    ...errors,
  ]);
  return [...statuses].sort((a, b) => a - b);
}

/** The name of the error format of a route in the document. */
export function errorFormIn({ route, errorForm }: Route): string {
  return errorForm ?? errorFormOf(route.slice(route.indexOf('/')));
}

/** Lists a path that differs from an earlier one only in parameter names, which OpenAPI forbids, once for each accepted value. */
export function documentedPaths(rows: readonly (readonly [id: string, row: Route])[]): [id: string, row: Route][] {
  const firstByForm = new Map<string, string>();
  const summaries = new Set<string>();
  /** Tools list operations by their summaries, so a second route with the same one gets its path. */
  const distinct = (row: Route): Route => {
    const summary = summaries.has(row.summary) ? `${row.summary} (${row.route.split(' ')[1]})` : row.summary;
    summaries.add(summary);
    return { ...row, summary };
  };
  const listed = rows.flatMap(([id, row]): [string, Route][] => {
    const [, path = ''] = row.route.split(' ');
    const form = path.replace(/\{\w+\}/g, '{}');
    const first = firstByForm.get(form) ?? path;
    firstByForm.set(form, first);
    if (first === path) return [[id, row]];
    const [[name, values] = []] = Object.entries(row.acceptedValues ?? {});
    if (!values) throw new Error(`${row.route}: the document already contains ${first}`);
    // The verb is unchanged.
    const routeOf = (value: string) => row.route.replace(`{${name}}`, value) as Route['route'];
    const idOf = (value: string) => `${id}${value.charAt(0).toUpperCase()}${value.slice(1)}`;
    return values.map((value) => [idOf(value), { ...row, route: routeOf(value), summary: `${row.summary}: ${value}` }]);
  });
  return listed.map(([id, row]) => [id, distinct(row)]);
}

/** Routes grouped by path, in their order. @param serversByTag of paths if they differ from those of the document */
export function pathsOf(
  rows: readonly (readonly [id: string, row: Route])[],
  schemaOf: SchemaOf,
  serversByTag: Readonly<Record<string, JsonObject[]>>,
): Record<string, JsonObject> {
  const paths: Record<string, JsonObject> = {};
  for (const [id, row] of rows) {
    const [verb = '', path = ''] = row.route.split(' ');
    const servers = serversByTag[row.tag];
    const item = paths[path] ?? (servers ? { servers } : {});
    paths[path] = { ...item, [verb]: operationObject(id, row, schemaOf) };
  }
  return paths;
}

function operationObject(id: string, row: Route, schemaOf: SchemaOf): JsonObject {
  const { tag, summary, description, permission: right, query = {}, body, answer } = row;
  const schemes = row.security ?? (right === 'none' ? [] : undefined);
  const security = row.areCredentialsOptional
    ? [{}, ...(row.security ?? (['basic', 'bearer'] as const)).map(requirement)]
    : schemes?.map(requirement);
  const parameters = [
    ...namesIn(row.route).map((name) => ({ $ref: `#/components/parameters/${name}` })),
    ...Object.entries(query)
      .filter(([, { isListedByName }]) => !isListedByName)
      .map(([name, { description, form, isRequired }]) => ({
        name,
        in: 'query',
        ...(isRequired && { required: true }),
        // The default, which generated clients do not assume.
        ...((form.type === 'object' || form.type === 'array') && { style: 'form', explode: true }),
        schema: form,
        description,
      })),
    ...Object.values(query).flatMap(({ names = [] }) =>
      names
        .filter((name) => !Object.hasOwn(query, name))
        .map((name) => ({ name, in: 'query', schema: { type: 'string' }, description: `Only with this ${name}` })),
    ),
  ];
  const refusals = refusalsOf(row).map((status) => [
    status,
    { $ref: `#/components/responses/${errorFormIn(row)}${status}` },
  ]);
  const requirementText = requirementTextOf(row);
  const sentences = right === 'root' ? [requirementText, description] : [description, requirementText];
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: sentences.filter(Boolean).join(' '),
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: !body.isOptional,
        content: contentOf(
          { schema: schemaOf(body.schema), ...(body.example !== undefined && { example: body.example }) },
          body.mediaTypes,
        ),
      },
    }),
    responses: {
      ...(answer && successOf(row.route, answer, schemaOf)),
      ...Object.fromEntries(refusals),
      ...(answer?.isAnyStatus && { default: responseOf(answer, schemaOf) }),
    },
    ...(security && { security }),
    'x-terrarium-right': typeof right === 'string' ? right : right.map(({ action, on }) => ({ action, on })),
  };
}

/** A Security Requirement Object. */
const requirement = (scheme: string): JsonObject => ({ [scheme]: [] });

function requirementTextOf({ permission: right, areCredentialsOptional }: Route): string {
  if (right === 'none') return 'Needs no credentials.';
  if (right === 'caller') return 'For every user.';
  if (right === 'root') return 'For the root user.';
  const requirements = right.map(({ action, on, isNotOfOwn }) => {
    const target = on === 'root' || on === 'parent' ? `the ${on === 'root' ? 'root organization' : on}` : `\`${on}\``;
    return `\`${action}\` on ${target}${isNotOfOwn ? ' unless it is your own' : ''}`;
  });
  return `Requires ${requirements.join(' and ')}${areCredentialsOptional ? ' unless it is public' : ''}.`;
}

/** Routes whose requests make commits in the name of the caller. */
const CHANGES_RESOURCES = /^(post|put|patch|delete) \/(meta|security\/(accounts|groups)|inspect\/roles)\//;

function successOf(route: Route['route'], answer: NonNullable<Route['answer']>, schemaOf: SchemaOf): JsonObject {
  const headers = CHANGES_RESOURCES.test(route) ? { ...answer.headers, ...commitHeader } : answer.headers;
  return { [answer.status]: responseOf({ ...answer, ...(headers && { headers }) }, schemaOf) };
}

function responseOf({ description, schema, headers, mediaTypes }: Answer, schemaOf: SchemaOf): JsonObject {
  const content = schema && { content: contentOf({ schema: schemaOf(schema) }, mediaTypes) };
  return { description, ...(headers && { headers }), ...content };
}

function contentOf(content: JsonObject, mediaTypes: readonly string[] = ['application/json']): JsonObject {
  return Object.fromEntries(mediaTypes.map((type) => [type, content]));
}

/** `components.parameters`: the path parameters by name. Query parameters are inlined. */
export function parametersOf(rows: readonly (readonly [id: string, row: Route])[]): JsonObject {
  const names = new Set(rows.flatMap(([, { route }]) => namesIn(route)));
  return Object.fromEntries(
    [...names].map((name) => {
      const [description, schema] = pathParameters[name] ?? [];
      if (description === undefined || !schema) throw new Error(`path-parameters.ts does not describe {${name}}`);
      return [name, { name, in: 'path', required: true, description, schema }];
    }),
  );
}
