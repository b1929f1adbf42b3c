import type { z } from 'zod';
import { COMMIT_HEADER } from '../../model/commit.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import { parseWith } from '../../model/rules/validate.ts';
import type { TypeWord } from '../../model/type-words.ts';
import type { Parameter } from './parameter.ts';

export type Verb = 'get' | 'post' | 'put' | 'patch' | 'delete';

type Status = 101 | 200 | 201 | 202 | 204;

export interface Body<Schema extends z.ZodType = z.ZodType> {
  schema: Schema;
  /** Parses the JSON body, or undefined if there is none; throws 400. */
  read?: (input: Json | undefined) => unknown;
  /** Parses the form fields; throws 400. Without `read` and `readForm` the handler reads the request itself. */
  readForm?: (input: URLSearchParams) => unknown;
  mediaTypes: readonly string[];
  isOptional: boolean;
  /** A body that the route accepts, as JSON; ids in it are placeholders. */
  example?: Json;
}

/** The response of a successful request. */
export interface Answer<Schema extends z.ZodType = z.ZodType> {
  status: Status;
  description: string;
  /** Absent: the response has no body. */
  schema?: Schema;
  /** Content type (default: JSON). For other types the handler writes the response itself. */
  mediaTypes?: readonly string[];
  headers?: JsonObject;
  /** The target can choose any other status. */
  isAnyStatus?: true;
}

/** One route: the definition for server, document and clients. */
export interface Route {
  /** Verb and path, e.g. `get /inspect/leads/{lead_id}`. */
  route: `${Verb} /${string}`;
  /** The heading of the route in the document. */
  tag: string;
  summary: string;
  description?: string;
  permission: RequiredPermission;
  /** The route is for root only: the action in the error for other users, or a sentence unless set. */
  failsAs?: string;
  /** The path parameter with the id of a resource, and the accepted types; the resource is looked up before the handler runs. */
  target?: { id: string; types: readonly TypeWord[] };
  /** The accepted values of a path parameter. With other values, the request does not match this route. */
  acceptedValues?: Readonly<Record<string, readonly string[]>>;
  /** The query parameter without which the request matches the next route of the same address. */
  when?: string;
  query?: Readonly<Record<string, Parameter>>;
  /** Refuse parameters that are not in `query`? A mistyped one would change the effect of the request. */
  isStrict?: true;
  body?: Body;
  /** Absent if the route always fails. */
  answer?: Answer;
  /** Possible error statuses besides those that follow from the other members. */
  errors?: readonly number[];
  /** Default: that of the path. */
  errorForm?: 'Health';
  /** Accepted ways to authenticate (default: both). */
  security?: readonly ('bearer' | 'basic')[];
  /** The route also answers without credentials, depending on its target. */
  areCredentialsOptional?: true;
  /** Must caches not store the response? */
  isPrivate?: true;
}

export type Routes = Readonly<Record<string, Route>>;

/** A route by its verb and path, and what it requires of its caller. */
export function route<
  const Address extends Route['route'],
  const Needed extends RequiredPermission,
  const Rest extends Omit<Route, 'tag' | 'route' | 'permission'>,
>(address: Address, needed: Needed, rest: Rest): { route: Address; permission: Needed } & Rest {
  return { route: address, permission: needed, ...rest };
}

/** Routes by their operation ids, under one heading unless a route has another one. */
export function defineRoutes<const Table extends Record<string, Omit<Route, 'tag'>>>(
  tag: string,
  table: Table,
): { readonly [Id in keyof Table]: Table[Id] & { tag: string } } {
  const rows = Object.entries(table).map(([id, row]) => [id, { tag, ...row }]);
  return Object.fromEntries(rows); // the same keys with the same routes
}

export function namesIn(route: string): string[] {
  return [...route.matchAll(/\{([^}]+)\}/g)].flatMap(([, name]) => name ?? []);
}

type NamesIn<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;

export type PathOf<R extends Omit<Route, 'tag'>> = { readonly [Name in NamesIn<R['route']>]: string };

export type QueryOf<R> = R extends { query: infer Query extends Readonly<Record<string, Parameter>> }
  ? { readonly [Name in keyof Query]: z.output<Query[Name]['schema']> }
  : Readonly<Record<never, never>>;

/** The body of a route, parsed; undefined if the handler reads the request itself. */
export type BodyOf<R> = R extends { body: { read: (input: Json | undefined) => infer T } }
  ? T
  : R extends { body: { readForm: (input: URLSearchParams) => infer T } }
    ? T
    : undefined;

/** The response of a route. If there is none or the handler writes it itself, the returned value is ignored. */
export type AnswerOf<R> = R extends { answer: { mediaTypes: readonly string[] } }
  ? unknown
  : R extends { answer: { schema: infer Schema extends z.ZodType } }
    ? z.input<Schema>
    : unknown;

const JSON_TYPE = 'application/json';
/** Media type of form fields from browsers and OAuth clients (D-171). */
export const FORM_TYPE = 'application/x-www-form-urlencoded';

/** @param example as in `Body` */
export function json<Schema extends z.ZodType>(schema: Schema, example: Json) {
  return readJson(schema, (input) => parseWith(schema, input), example);
}

/** Returns an optional JSON body; `{}` if it is absent. */
export function optionalJson<Schema extends z.ZodType>(schema: Schema, example: Json) {
  const body = readJson(schema, (input) => parseWith(schema, input ?? {}), example);
  return { ...body, isOptional: true } as const satisfies Body;
}

/** A JSON body with a custom parser. @param read as in `Body` */
export function readJson<Schema extends z.ZodType, T>(
  schema: Schema,
  read: (input: Json | undefined) => T,
  example: Json,
) {
  return { schema, read, mediaTypes: [JSON_TYPE], isOptional: false, example } as const satisfies Body;
}

/** The fields of a form. @param readForm as in `Body` */
export function form<Schema extends z.ZodType, T>(
  schema: Schema,
  readForm: (input: URLSearchParams) => T,
  example: JsonObject,
) {
  return { schema, readForm, mediaTypes: [FORM_TYPE], isOptional: false, example } as const satisfies Body;
}

/** A body that the handler reads itself; JSON unless other types are named. */
export function ownBody<Schema extends z.ZodType>(schema: Schema, ...mediaTypes: readonly string[]) {
  const types = mediaTypes.length > 0 ? mediaTypes : [JSON_TYPE];
  return { schema, mediaTypes: types, isOptional: false } as const satisfies Body;
}

export function ok<Schema extends z.ZodType>(schema: Schema, description = 'OK') {
  return { status: 200, description, schema } as const satisfies Answer;
}

/** 200 with a body that the handler writes itself. */
export function stream<Schema extends z.ZodType>(schema: Schema, ...mediaTypes: readonly string[]) {
  return { status: 200, description: 'OK', schema, mediaTypes } as const satisfies Answer;
}

/** 101: the handler uses the connection as a WebSocket. */
export const webSocket = { status: 101, description: 'A WebSocket', mediaTypes: [] } as const satisfies Answer;

/** 201 with a created object that has no address. */
export function created<Schema extends z.ZodType>(schema: Schema, description = 'Created') {
  return { status: 201, description, schema } as const satisfies Answer;
}

/** 201 with a created resource and its address (D-008). */
export function createdWithLocation<Schema extends z.ZodType>(schema: Schema) {
  return { ...created(schema), headers: LOCATION } as const satisfies Answer;
}
const LOCATION = {
  Location: { description: 'Address of the new resource', schema: { type: 'string', format: 'uri' } },
} as const;

export const commitHeader = {
  [COMMIT_HEADER]: {
    description: 'Numbers of the commits that the request made, separated by commas; absent if nothing changed',
    schema: { type: 'string' },
  },
} as const;

/** 202: the change continues after the response (D-008). */
export const acceptedWithoutBody = { status: 202, description: 'The change is in progress' } as const satisfies Answer;

export function accepted<Schema extends z.ZodType>(schema: Schema) {
  return { ...acceptedWithoutBody, schema } as const satisfies Answer;
}

/** 204 without a body (D-008). */
export const noContent = { status: 204, description: 'Deleted' } as const satisfies Answer;

/** A permission on a resource of the request (D-116). */
export interface Permission {
  /** `noun.verb`; `*` represents the noun of the resource's type. */
  action: string;
  /** The parameter or member of the body with the id of the resource; `root` is the root organization, `parent` that of the path's resource. */
  on: string;
  /** Not needed for the caller's own account, of which users see everything and can change some members (D-117). */
  isNotOfOwn?: true;
}

/** None, to be authenticated (the handler restricts the data), to be root, or to have all of these permissions (D-117, D-118). */
export type RequiredPermission = 'none' | 'caller' | 'root' | readonly Permission[];

export function permission(action: string, on: string): readonly Permission[] {
  return [{ action, on }];
}

/** Returns a permission that callers do not need for their own account. */
export function permissionOrOwn(action: string, on: string): readonly Permission[] {
  return [{ action, on, isNotOfOwn: true }];
}

export const SEES_ALL: readonly Permission[] = permission('org.view', 'root');
