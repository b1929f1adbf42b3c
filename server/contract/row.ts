import type { z } from 'zod';
import type { JsonObject } from '../model/json.ts';
import type { TypeWord } from '../model/type-words.ts';
import type { Parameter } from './parameter.ts';
import type { Right } from './right.ts';

export type Verb = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** What a route is sent. */
export interface Body<Schema extends z.ZodType = z.ZodType> {
  schema: Schema;
  /** `json` is parsed by the schema; of the others the handler reads what it wants, and the schema only tells of them. */
  form: 'json' | 'own';
  mediaTypes: readonly string[];
  /** May it be left out? It is read as `{}` then. */
  isOptional: boolean;
}

/** What a route answers when all is well. */
export interface Answer<Schema extends z.ZodType = z.ZodType> {
  status: 200 | 201 | 202 | 204;
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
  /** The parameter of the path that names a resource, and the types that it may be of; it is looked up before anything else. */
  target?: { id: string; of: readonly TypeWord[] };
  query?: Readonly<Record<string, Parameter>>;
  /** Are parameters that are not in `query` refused? A mistyped one would change or answer something else. */
  isStrict?: true;
  body?: Body;
  answer: Answer;
  /** Statuses it can refuse with, besides those that follow from the rest. */
  errors?: readonly number[];
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

type NamesIn<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;

/** The parameters of a row's path, decoded. */
export type PathOf<R extends Omit<Row, 'tag'>> = { readonly [Name in NamesIn<R['route']>]: string };

/** The parameters of a row's query, read. */
export type QueryOf<R> = R extends { query: infer Query extends Readonly<Record<string, Parameter>> }
  ? { readonly [Name in keyof Query]: z.output<Query[Name]['schema']> }
  : Readonly<Record<never, never>>;

/** The body of a row, parsed; undefined where the handler reads it itself. */
export type BodyOf<R> = R extends { body: { schema: infer Schema extends z.ZodType; form: 'json' } }
  ? z.output<Schema>
  : undefined;

/** The answer of a row; where there is none, or the handler writes it itself, what it gives back is nothing to anybody. */
export type AnswerOf<R> = R extends { answer: { mediaTypes: readonly string[] } }
  ? unknown
  : R extends { answer: { schema: infer Schema extends z.ZodType } }
    ? z.input<Schema>
    : unknown;

const JSON_TYPE = 'application/json';

/** A JSON body. */
export function json<Schema extends z.ZodType>(schema: Schema) {
  return { schema, form: 'json', mediaTypes: [JSON_TYPE], isOptional: false } as const satisfies Body;
}

/** 200 with a JSON body. */
export function ok<Schema extends z.ZodType>(schema: Schema, description = 'OK') {
  return { status: 200, description, schema } as const satisfies Answer;
}

/** 202 without a body. */
export const underWay = { status: 202, description: 'Under way' } as const satisfies Answer;

/** 204 without a body (D-008). */
export const gone = { status: 204, description: 'Deleted' } as const satisfies Answer;
