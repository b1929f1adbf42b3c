import { z } from 'zod';
import { epochMsOf } from '../../model/iso-time.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import { isUuid, type Uuid } from '../../model/record.ts';

/** A query parameter: how its text is parsed and documented. */
export interface Parameter<T = unknown> {
  /** Parses the text, or undefined if the parameter is missing. An error completes "must be ...". */
  schema: z.ZodType<T, unknown>;
  /**
   * Alternative input of the schema: all values of a repeatable parameter, or an object of all parameters that the route does not declare.
   */
  acceptedNames?: 'all' | ((name: string) => boolean);
  /** Names of such parameters that the document also lists one by one: generated clients cannot send an object in their place. */
  names?: readonly string[];
  /** True if `names` has all names that can match, so that the document needs no object. */
  isListedByName?: boolean;
  description: string;
  form: JsonObject;
  isRequired?: true;
}

const written = z.string().optional();

function optional<T>(
  form: JsonObject,
  description: string,
  read: (text: string) => T | Wrong,
): Parameter<T | undefined> {
  const schema = written.transform((text, context) => {
    const value = text === undefined ? undefined : read(text);
    if (!(value instanceof Wrong)) return value;
    context.addIssue(value.expected);
    return z.NEVER;
  });
  return { schema, description, form };
}

/** Completes "must be" for an invalid text. */
class Wrong {
  readonly expected: string;

  constructor(expected: string) {
    this.expected = expected;
  }
}

export function text(description: string, form: JsonObject = {}): Parameter<string | undefined> {
  return optional({ type: 'string', ...form }, description, (value) => value);
}

/** A UUID in any letter case, converted to lower case (D-014). */
export function uuid(description: string): Parameter<Uuid | undefined> {
  return optional({ type: 'string', format: 'uuid' }, description, (value) =>
    isUuid(value) ? value.toLowerCase() : new Wrong('a UUID'),
  );
}

export function countWithin(description: string, least: number, most: number, absent: number): Parameter<number> {
  const read = (value: string) =>
    /^\d{1,15}$/.test(value) && Number(value) >= least && Number(value) <= most
      ? Number(value)
      : new Wrong(`a whole number from ${least} to ${most}`);
  return or(absent, optional({ type: 'integer', minimum: least, maximum: most }, description, read));
}

/** A whole number; a value above `most` is reduced to `most`. */
export function count(description: string, least: number, most?: number): Parameter<number | undefined> {
  const form = { type: 'integer', minimum: least, ...(most !== undefined && { maximum: most }) };
  return optional(form, description, (value) =>
    /^\d{1,15}$/.test(value) && Number(value) >= least
      ? Math.min(Number(value), most ?? Number.MAX_SAFE_INTEGER)
      : new Wrong(`a whole number of at least ${least}`),
  );
}

/** Exactly `true` or `false` (D-012). */
export function flag(description: string, absent = false): Parameter<boolean> {
  const read = (value: string) =>
    value === 'true' || value === 'false' ? value === 'true' : new Wrong('true or false');
  return or(absent, optional({ type: 'boolean' }, description, read));
}

export function choice<Word extends string>(description: string, values: readonly Word[]): Parameter<Word | undefined> {
  const find = (value: string) => values.find((candidate) => candidate === value) ?? new Wrong(values.join(' or '));
  return optional({ type: 'string', enum: [...values] }, description, find);
}

/** An ISO 8601 date or time, in UTC without an offset, converted to epoch milliseconds. */
export function moment(description: string): Parameter<number | undefined> {
  return optional({ type: 'string', format: 'date-time' }, description, readTime);
}

export function momentOrCommit(description: string): Parameter<{ seq: number } | { atMs: number } | undefined> {
  const form = { type: 'string', examples: ['12', '2026-05-01T12:00:00Z'] };
  return optional(form, description, (value) => {
    if (/^\d{1,15}$/.test(value)) return { seq: Number(value) };
    const atMs = readTime(value);
    return atMs instanceof Wrong ? atMs : { atMs };
  });
}

function readTime(text: string): number | Wrong {
  const atMs = epochMsOf(text);
  return Number.isNaN(atMs) ? new Wrong('an ISO time such as 2026-05-01T12:00:00Z') : atMs;
}

export function nonEmptyText(description: string): Parameter<string | undefined> {
  return optional({ type: 'string' }, description, (value) => (value === '' ? new Wrong('a word') : value));
}

/** Comma-separated values; the parameter can also be repeated (D-012). */
export function textList(description: string): Parameter<string[]> {
  const schema = z.array(z.string()).transform((values) => values.flatMap((value) => value.split(',')));
  return { schema, acceptedNames: 'all', description, form: { type: 'array', items: { type: 'string' } } };
}

/** A list of UUIDs with at least one entry (D-012). */
export function uuids(description: string): Parameter<Uuid[]> {
  const form = { type: 'array', items: { type: 'string', format: 'uuid' }, minItems: 1 };
  const id = z.string().refine(isUuid, 'a UUID');
  const schema = z.array(id).transform((ids) => ids.map((id) => id.toLowerCase()));
  return { schema, acceptedNames: 'all', description, form, isRequired: true };
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
  return optional({ type: 'string' }, description, (value) => {
    const names = value.split(',');
    return names.every(isOne) ? names : new Wrong(expected);
  });
}
