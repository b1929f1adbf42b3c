import { z } from 'zod';
import { epochMsOf } from '../../model/iso-time.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import { isUuid, type Uuid } from '../../model/record.ts';

/** A query parameter: how its text is parsed and documented. */
export interface Parameter<T = unknown> {
  /** Parses the text, or undefined if the parameter is missing. An error completes "must be ...". */
  schema: z.ZodType<T, unknown>;
  /** The input of the schema is all values of a repeatable parameter, or an object of all parameters that the route does not declare. */
  acceptedNames?: 'all' | ((name: string) => boolean);
  /** Names of such parameters that the document also lists one by one: generated clients cannot send an object in their place. */
  names?: readonly string[];
  /** True if `names` has all names that can match, so that the document needs no object. */
  isListedByName?: boolean;
  description: string;
  form: JsonObject;
  isRequired?: true;
}

function optional<T>(form: JsonObject, description: string, schema: z.ZodType<T, string>): Parameter<T | undefined> {
  return { schema: schema.optional(), description, form };
}

export function text(description: string, form: JsonObject = {}): Parameter<string | undefined> {
  return optional({ type: 'string', ...form }, description, z.string());
}

/** A UUID in any letter case, converted to lower case (D-014). */
const uuidText: z.ZodType<Uuid, string> = z.string().refine(isUuid, 'a UUID').toLowerCase();

export function uuid(description: string): Parameter<Uuid | undefined> {
  return optional({ type: 'string', format: 'uuid' }, description, uuidText);
}

function wholeNumber(expected: string, least: number, most: number): z.ZodType<number, string> {
  const isValid = (value: string) => /^\d{1,15}$/.test(value) && Number(value) >= least && Number(value) <= most;
  return z.string().refine(isValid, expected).transform(Number);
}

export function countWithin(description: string, least: number, most: number, absent: number): Parameter<number> {
  const schema = wholeNumber(`a whole number from ${least} to ${most}`, least, most);
  return or(absent, optional({ type: 'integer', minimum: least, maximum: most }, description, schema));
}

/** A whole number; a value above `most` is reduced to `most`. */
export function count(description: string, least: number, most?: number): Parameter<number | undefined> {
  const form = { type: 'integer', minimum: least, ...(most !== undefined && { maximum: most }) };
  const number = wholeNumber(`a whole number of at least ${least}`, least, Number.POSITIVE_INFINITY);
  return optional(form, description, most === undefined ? number : number.transform((value) => Math.min(value, most)));
}

/** Exactly `true` or `false` (D-012). */
export function flag(description: string): Parameter<boolean> {
  const schema = z.enum(['true', 'false'], 'true or false').transform((value) => value === 'true');
  return or(false, optional({ type: 'boolean' }, description, schema));
}

export function choice<Word extends string>(description: string, values: readonly Word[]): Parameter<Word | undefined> {
  return optional({ type: 'string', enum: [...values] }, description, z.enum(values, values.join(' or ')));
}

const TIME = 'an ISO time such as 2026-05-01T12:00:00Z';
const time = z
  .string()
  .refine((text) => !Number.isNaN(epochMsOf(text)), TIME)
  .transform(epochMsOf);

/** An ISO 8601 date or time, in UTC without an offset, converted to epoch milliseconds. */
export function moment(description: string): Parameter<number | undefined> {
  return optional({ type: 'string', format: 'date-time' }, description, time);
}

export function momentOrCommit(description: string): Parameter<{ seq: number } | { atMs: number } | undefined> {
  const form = { type: 'string', examples: ['12', '2026-05-01T12:00:00Z'] };
  const seq = wholeNumber('', 0, Number.POSITIVE_INFINITY).transform((value) => ({ seq: value }));
  return optional(form, description, z.union([seq, time.transform((atMs) => ({ atMs }))], TIME));
}

/** Comma-separated values; the parameter can also be repeated (D-012). */
export function textList(description: string): Parameter<string[]> {
  const schema = z.array(z.string()).transform((values) => values.flatMap((value) => value.split(',')));
  return { schema, acceptedNames: 'all', description, form: { type: 'array', items: { type: 'string' } } };
}

/** A list of UUIDs with at least one entry (D-012). */
export function uuids(description: string): Parameter<Uuid[]> {
  const form = { type: 'array', items: { type: 'string', format: 'uuid' }, minItems: 1 };
  return { schema: z.array(uuidText), acceptedNames: 'all', description, form, isRequired: true };
}

/** All parameters that the route does not declare, each at most once, but for `besides` and those with `_`, which only defeat caches. */
export function otherParameters(
  description: string,
  besides: readonly string[],
): Parameter<Readonly<Record<string, string>>> {
  return {
    schema: z.custom<Readonly<Record<string, string>>>(),
    acceptedNames: (name) => !name.startsWith('_') && !besides.includes(name),
    description,
    form: { type: 'object', additionalProperties: { type: 'string' } },
  };
}

export function required<T>({ schema, ...rest }: Parameter<T | undefined>): Parameter<T> {
  return { ...rest, isRequired: true, schema: schema.transform((value) => value as T) }; // already checked to be present
}

/** Replaces a missing parameter with a default value. */
function or<T>(absent: T & Json, { schema, form, ...rest }: Parameter<T | undefined>): Parameter<T> {
  return { ...rest, form: { ...form, default: absent }, schema: schema.transform((value) => value ?? absent) };
}

export const countOr = (absent: number, description: string, least: number, most?: number): Parameter<number> =>
  or(absent, count(description, least, most));

/** Words with commas between them. */
export function list<Word extends string>(
  description: string,
  expected: string,
  isOne: (name: string) => name is Word,
): Parameter<Word[] | undefined> {
  const schema = z
    .string()
    .transform((value) => value.split(','))
    .refine((names): names is Word[] => names.every(isOne), expected);
  return optional({ type: 'string' }, description, schema);
}
