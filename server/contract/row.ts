import type { z } from 'zod';
import type { Json, JsonObject } from '../model/json.ts';
import type { TypeWord } from '../model/type-words.ts';
import { parseWith } from '../model/validate.ts';
import type { errorForms } from './forms.ts';
import type { Parameter } from './parameter.ts';
import type { Right } from './right.ts';

export type Verb = 'get' | 'post' | 'put' | 'patch' | 'delete';

type Status = 101 | 200 | 201 | 202 | 204;

/** The forms that an error can have: of most routes, the security service, its token endpoint, health (D-180, D-171, D-015). */
export type ErrorForm = keyof typeof errorForms;

/** What a route is sent. */
export interface Body<Schema extends z.ZodType = z.ZodType> {
  schema: Schema;
  /** What becomes of the JSON that is sent, undefined when nothing is; throws 400. */
  read?: (sent: Json | undefined) => unknown;
  /** What becomes of the fields of the form that is sent; throws 400. Without either the handler reads the request itself. */
  readForm?: (sent: URLSearchParams) => unknown;
  mediaTypes: readonly string[];
  /** May it be left out? */
  isOptional: boolean;
}

/** What a route answers when all is well. */
export interface Answer<Schema extends z.ZodType = z.ZodType> {
  status: Status;
  description: string;
  /** Absent: without a body. */
  schema?: Schema;
  /** JSON unless given; then the handler writes the answer itself. */
  mediaTypes?: readonly string[];
  headers?: JsonObject;
}

/** One route: whoever serves it, tells of it or asks it takes it from here. */
export interface Row {
  /** Verb and path, e.g. `get /inspect/leads/{lead_id}`. */
  route: `${Verb} /${string}`;
  /** Under which heading the document has it. */
  tag: string;
  summary: string;
  description?: string;
  right: Right;
  /** What only root may do: the action that everybody else is told to have no right to; a sentence unless given. */
  failsAs?: string;
  /** The parameter of the path that names a resource, and the types that it may be of; it is looked up before anything else. */
  target?: { id: string; of: readonly TypeWord[] };
  /** The words that a part of its path can be, where not all of them: with another one it is not this route that is meant. */
  only?: Readonly<Record<string, readonly string[]>>;
  /** The parameter of the query without which it is not this route that is meant, but the next one of the same address. */
  when?: string;
  query?: Readonly<Record<string, Parameter>>;
  /** Are parameters that are not in `query` refused? A mistyped one would change or answer something else. */
  isStrict?: true;
  body?: Body;
  /** Absent where it can only refuse. */
  answer?: Answer;
  /** Statuses it can refuse with, besides those that follow from the rest. */
  errors?: readonly number[];
  /** `Error` unless given. */
  errorForm?: ErrorForm;
  /** Ways to authenticate; both unless given. */
  security?: readonly ('bearer' | 'basic')[];
  /** Does the answer hold what must not be kept on its way? */
  isPrivate?: true;
}

export type Rows = Readonly<Record<string, Row>>;

/** Rows under one heading, by their operation ids. */
export function rowsOf<const Table extends Record<string, Omit<Row, 'tag'>>>(
  tag: string,
  table: Table,
): { readonly [Id in keyof Table]: Table[Id] & { tag: string } } {
  const rows = Object.entries(table).map(([id, row]) => [id, { ...row, tag }]);
  return Object.fromEntries(rows); // the same keys with the same rows
}

/** The names of the parameters in a path, in order. */
export function namesIn(route: string): string[] {
  return [...route.matchAll(/\{([^}]+)\}/g)].flatMap(([, name]) => name ?? []);
}

type NamesIn<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;

/** The parameters of a row's path, decoded. */
export type PathOf<R extends Omit<Row, 'tag'>> = { readonly [Name in NamesIn<R['route']>]: string };

/** The parameters of a row's query, read. */
export type QueryOf<R> = R extends { query: infer Query extends Readonly<Record<string, Parameter>> }
  ? { readonly [Name in keyof Query]: z.output<Query[Name]['schema']> }
  : Readonly<Record<never, never>>;

/** The body of a row, read; undefined where the handler reads the request itself. */
export type BodyOf<R> = R extends { body: { read: (sent: Json | undefined) => infer T } }
  ? T
  : R extends { body: { readForm: (sent: URLSearchParams) => infer T } }
    ? T
    : undefined;

/** The answer of a row; where there is none, or the handler writes it itself, what it gives back is nothing to anybody. */
export type AnswerOf<R> = R extends { answer: { mediaTypes: readonly string[] } }
  ? unknown
  : R extends { answer: { schema: infer Schema extends z.ZodType } }
    ? z.input<Schema>
    : unknown;

const JSON_TYPE = 'application/json';
/** How browsers and OAuth clients send fields (D-171). */
export const FORM_TYPE = 'application/x-www-form-urlencoded';

/** A JSON body, as its schema reads it. */
export function json<Schema extends z.ZodType>(schema: Schema) {
  return readJson(schema, (sent) => parseWith(schema, sent));
}

/** The same where it may be left out, and is `{}` then. */
export function optionalJson<Schema extends z.ZodType>(schema: Schema) {
  return { ...readJson(schema, (sent) => parseWith(schema, sent ?? {})), isOptional: true } as const satisfies Body;
}

/** A JSON body that more than its schema has a say in. @param read as in `Body` */
export function readJson<Schema extends z.ZodType, T>(schema: Schema, read: (sent: Json | undefined) => T) {
  return { schema, read, mediaTypes: [JSON_TYPE], isOptional: false } as const satisfies Body;
}

/** The fields of a form. @param readForm as in `Body` */
export function form<Schema extends z.ZodType, T>(schema: Schema, readForm: (sent: URLSearchParams) => T) {
  return { schema, readForm, mediaTypes: [FORM_TYPE], isOptional: false } as const satisfies Body;
}

/** A body that the handler reads itself; JSON unless other types are named. */
export function ownBody<Schema extends z.ZodType>(schema: Schema, ...mediaTypes: readonly string[]) {
  const types = mediaTypes.length > 0 ? mediaTypes : [JSON_TYPE];
  return { schema, mediaTypes: types, isOptional: false } as const satisfies Body;
}

/** 200 with a JSON body. */
export function ok<Schema extends z.ZodType>(schema: Schema, description = 'OK') {
  return { status: 200, description, schema } as const satisfies Answer;
}

/** 200 with a body that the handler writes itself. */
export function stream<Schema extends z.ZodType>(schema: Schema, ...mediaTypes: readonly string[]) {
  return { status: 200, description: 'OK', schema, mediaTypes } as const satisfies Answer;
}

/** 101: the handler goes on with the connection as a WebSocket. */
export const webSocket = { status: 101, description: 'A WebSocket', mediaTypes: [] } as const satisfies Answer;

/** 201 with what was made, which has no address of its own. */
export function made<Schema extends z.ZodType>(schema: Schema, description = 'Created') {
  return { status: 201, description, schema } as const satisfies Answer;
}

/** 201 with what was made and its address (D-008). */
export function created<Schema extends z.ZodType>(schema: Schema) {
  return { ...made(schema), headers: LOCATION } as const satisfies Answer;
}
const LOCATION = {
  Location: { description: 'Address of the new resource', schema: { type: 'string', format: 'uri' } },
} as const;

/** 202: the change goes on after the answer (D-008). */
export const underWay = { status: 202, description: 'Under way' } as const satisfies Answer;

/** The same with a body. */
export function begun<Schema extends z.ZodType>(schema: Schema) {
  return { ...underWay, schema } as const satisfies Answer;
}

/** 204 without a body (D-008). */
export const gone = { status: 204, description: 'Deleted' } as const satisfies Answer;
