import type { Right } from '../contract/right.ts';
import type { Verb } from '../contract/row.ts';
import type { JsonObject } from '../model/json.ts';

/** What a successful answer holds. */
interface Success {
  status: 200 | 201 | 202 | 204;
  description: string;
  /** JSON Schema of a JSON body; absent when there is none. */
  schema?: JsonObject;
  headers?: JsonObject;
  /** Media types of the body; JSON unless given. */
  mediaTypes?: readonly string[];
}

/** A request body; JSON unless other media types are named. */
interface Body {
  schema: JsonObject;
  mediaTypes?: readonly string[];
  optional?: boolean;
}

/** One route as the document tells of it: a row of the tables beside this file. */
export interface Operation {
  verb: Verb;
  /** What stands in braces is described in `parameters.ts` under that name. */
  path: string;
  /** The operationId, unique in the document. */
  id: string;
  tag: string;
  summary: string;
  description?: string;
  /** Query parameters, by their names in `parameters.ts`. */
  query?: readonly string[];
  /** Query parameters as they are. */
  parameters?: readonly JsonObject[];
  body?: Body;
  /** Absent when the route can only refuse. */
  success?: Success;
  /** Statuses it can refuse with; 400 for a body, 401, 413 and 415 follow from the rest. */
  errors?: readonly number[];
  /** What it asks of the caller; the test of all routes against all callers begins from it. */
  right: Right;
  /** Ways to authenticate; both unless given. */
  security?: readonly ('bearer' | 'basic')[];
  /** Schema of its errors; `Error` unless given (D-180). */
  errorSchema?: ErrorSchema;
}

/**
 * Makes the rows of one tag, written as `row('get /meta/about', 'readAbout', 'Version and time', { ... })`: verb and path,
 * operationId, summary, and the rest.
 */
export function rowsOf(tag: string) {
  return (
    route: `${Verb} ${string}`,
    id: string,
    summary: string,
    rest: Omit<Operation, 'verb' | 'path' | 'id' | 'tag' | 'summary'>,
  ): Operation => {
    const [verb, path = ''] = route.split(' ');
    return { verb: verb as Verb, path, id, tag, summary, ...rest }; // the type of route says what its first word is
  };
}

/** The forms that an error can have: of most routes, the security service, its token endpoint, health (D-180, D-171, D-015). */
export type ErrorSchema = 'Error' | 'SecurityError' | 'TokenError' | 'Health';

/** A reference to one of `components.schemas`. */
export function ref(schema: string): JsonObject {
  return { $ref: `#/components/schemas/${schema}` };
}

/** The schema of an array. */
export function listOf(items: JsonObject): JsonObject {
  return { type: 'array', items };
}

/** 200 with a JSON body. */
export function ok(schema: JsonObject, description = 'OK'): Success {
  return { status: 200, description, schema };
}

/** 201 with the full record and its address (D-008). */
export function created(schema: JsonObject): Success {
  const Location = { description: 'Address of the new resource', schema: { type: 'string', format: 'uri' } };
  return { status: 201, description: 'Created', schema, headers: { Location } };
}

/** 200 with a list, oldest first (D-186). */
export function okList(schema: string): Success {
  return ok(listOf({ anyOf: [ref('Link'), ref(schema)] }), 'Oldest first; links unless `expand` or `compact` is true');
}

/** The query parameters of all lists of resources (D-186, D-187). */
export const LIST_QUERY = ['expand', 'compact', 'filter'];

/** 202: the change goes on after the answer (D-008). */
export function accepted(schema?: JsonObject): Success {
  return { status: 202, description: 'Under way', ...(schema && { schema }) };
}

/** 204 without a body (D-008). */
export const gone: Success = { status: 204, description: 'Deleted' };

const JSON_TYPE = 'application/json';

/** A JSON Patch (D-007, D-090). */
export const patchBody: Body = {
  schema: ref('PatchDocument'),
  mediaTypes: ['application/json-patch+json', JSON_TYPE],
};

/** The statuses that an operation can refuse with, ascending. */
export function errorStatuses({ body, errors = [], right }: Operation): number[] {
  const isOpen = right === 'none';
  const ofBody = body?.mediaTypes?.includes('*/*') ? [400, 413] : [400, 413, 415];
  const statuses = new Set([...errors, ...(isOpen ? [] : [401]), ...(body ? ofBody : [])]);
  return [...statuses].sort((a, b) => a - b);
}

/** Name of the response component for a status in one of the error forms. */
export function errorResponse(schema: ErrorSchema, status: number): string {
  return `${schema}${status}`;
}

/**
 * The `paths` of a document: what the operations say, grouped by path in their order.
 *
 * @param servers where these paths are when it is not where the document says
 */
export function pathsOf(operations: readonly Operation[], servers?: JsonObject[]): Record<string, JsonObject> {
  const paths: Record<string, JsonObject> = {};
  for (const operation of operations) {
    const item = paths[operation.path] ?? (servers ? { servers } : {});
    paths[operation.path] = { ...item, [operation.verb]: operationObject(operation) };
  }
  return paths;
}

/** The Operation Object of OpenAPI 3.1 that a row stands for. */
function operationObject(operation: Operation): JsonObject {
  const { id, tag, summary, description, path, query = [], body, success, right, errorSchema = 'Error' } = operation;
  const security = operation.security ?? (right === 'none' ? [] : undefined);
  const parameters = [
    ...[...namesInBraces(path), ...query].map((name) => ({ $ref: `#/components/parameters/${name}` })),
    ...(operation.parameters ?? []),
  ];
  const refusals = errorStatuses(operation).map((status) => [
    status,
    { $ref: `#/components/responses/${errorResponse(errorSchema, status)}` },
  ]);
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description && { description }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: !body.optional,
        content: contentOf(body.schema, body.mediaTypes),
      },
    }),
    responses: { ...(success && successResponse(success)), ...Object.fromEntries(refusals) },
    ...(security && { security: security.map((scheme) => ({ [scheme]: [] })) }),
    'x-terrarium-right': typeof right === 'string' ? right : right.map((one) => ({ ...one })),
  };
}

function successResponse({ status, description, schema, headers, mediaTypes }: Success): JsonObject {
  const content = schema && { content: contentOf(schema, mediaTypes) };
  return { [status]: { description, ...(headers && { headers }), ...content } };
}

function contentOf(schema: JsonObject, mediaTypes: readonly string[] = [JSON_TYPE]): JsonObject {
  return Object.fromEntries(mediaTypes.map((type) => [type, { schema }]));
}

/** Names of the parameters in a path, in order. */
function namesInBraces(path: string): string[] {
  return [...path.matchAll(/\{([^}]+)\}/g)].flatMap(([, name]) => name ?? []);
}
