import { z } from 'zod';
import type { Json, JsonObject } from '../../model/json.ts';
import { isUuid, type Uuid } from '../../model/record.ts';

/** A query parameter: how its text is parsed and documented. */
export interface Parameter<T = unknown> {
  /** Parses the text, or undefined if the parameter is missing. An error completes "must be ...". */
  schema: z.ZodType<T, unknown>;
  /**
   * Alternative input of the schema: all values of a repeatable parameter, or an object of all parameters that the route does not declare.
   */
  takes?: 'all' | ((name: string) => boolean);
  /** Names of such parameters that the document also lists one by one: generated clients cannot send an object in their place. */
  names?: readonly string[];
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
  return optional({ type: 'string', ...form }, description, (sent) => sent);
}

/** A UUID in any letter case, converted to lower case (D-014). */
export function uuid(description: string): Parameter<Uuid | undefined> {
  return optional({ type: 'string', format: 'uuid' }, description, (sent) =>
    isUuid(sent) ? sent.toLowerCase() : new Wrong('a UUID'),
  );
}

export function countWithin(description: string, least: number, most: number, absent: number): Parameter<number> {
  const read = (sent: string) =>
    /^\d{1,15}$/.test(sent) && Number(sent) >= least && Number(sent) <= most
      ? Number(sent)
      : new Wrong(`a whole number from ${least} to ${most}`);
  return or(absent, optional({ type: 'integer', minimum: least, maximum: most }, description, read));
}

/** A whole number; a value above `most` is reduced to `most`. */
export function count(description: string, least: number, most?: number): Parameter<number | undefined> {
  const form = { type: 'integer', minimum: least, ...(most !== undefined && { maximum: most }) };
  return optional(form, description, (sent) =>
    /^\d{1,15}$/.test(sent) && Number(sent) >= least
      ? Math.min(Number(sent), most ?? Number.MAX_SAFE_INTEGER)
      : new Wrong(`a whole number of at least ${least}`),
  );
}

/** Exactly `true` or `false` (D-012). */
export function flag(description: string, absent = false): Parameter<boolean> {
  const read = (sent: string) => (sent === 'true' || sent === 'false' ? sent === 'true' : new Wrong('true or false'));
  return or(absent, optional({ type: 'boolean' }, description, read));
}

export function choice<Word extends string>(description: string, words: readonly Word[]): Parameter<Word | undefined> {
  const find = (sent: string) => words.find((word) => word === sent) ?? new Wrong(words.join(' or '));
  return optional({ type: 'string', enum: [...words] }, description, find);
}

/** An ISO 8601 date or time, converted to epoch milliseconds. */
export function moment(description: string): Parameter<number | undefined> {
  return optional({ type: 'string', format: 'date-time' }, description, readTime);
}

export function momentOrCommit(description: string): Parameter<{ seq: number } | { atMs: number } | undefined> {
  const form = { type: 'string', examples: ['12', '2026-05-01T12:00:00Z'] };
  return optional(form, description, (sent) => {
    if (/^\d{1,15}$/.test(sent)) return { seq: Number(sent) };
    const atMs = readTime(sent);
    return atMs instanceof Wrong ? atMs : { atMs };
  });
}

function readTime(sent: string): number | Wrong {
  const atMs = /^\d{4}-\d\d-\d\d(T.+)?$/.test(sent) ? Date.parse(sent) : Number.NaN;
  return Number.isNaN(atMs) ? new Wrong('an ISO time such as 2026-05-01T12:00:00Z') : atMs;
}

/** A text that is not empty. */
export function word(description: string): Parameter<string | undefined> {
  return optional({ type: 'string' }, description, (sent) => (sent === '' ? new Wrong('a word') : sent));
}

/** Comma-separated values; the parameter can also be repeated (D-012). */
export function words(description: string): Parameter<string[]> {
  const schema = z.array(z.string()).transform((sent) => sent.flatMap((one) => one.split(',')));
  return { schema, takes: 'all', description, form: { type: 'array', items: { type: 'string' } } };
}

/** A list of UUIDs with at least one entry (D-012). */
export function uuids(description: string): Parameter<Uuid[]> {
  const form = { type: 'array', items: { type: 'string', format: 'uuid' }, minItems: 1 };
  const one = z.string().refine(isUuid, 'a UUID');
  const schema = z.array(one).transform((sent) => sent.map((id) => id.toLowerCase()));
  return { schema, takes: 'all', description, form, isRequired: true };
}

/**
 * All parameters that the route does not declare, by name; each at most once. Names that begin with `_` only defeat caches and are ignored.
 *
 * @param besides further names to ignore
 */
export function others(description: string, besides: readonly string[]): Parameter<Readonly<Record<string, string>>> {
  return {
    schema: z.custom<Readonly<Record<string, string>>>(),
    takes: (name) => !name.startsWith('_') && !besides.includes(name),
    description,
    form: { type: 'object', additionalProperties: { type: 'string' } },
  };
}

export function required<T>({ schema, ...rest }: Parameter<T | undefined>): Parameter<T> {
  return { ...rest, isRequired: true, schema: schema.transform((value) => value as T) }; // already checked to be present
}

/** The same, with a value for a missing parameter. */
function or<T>(absent: T & Json, { schema, form, ...rest }: Parameter<T | undefined>): Parameter<T> {
  return { ...rest, form: { ...form, default: absent }, schema: schema.transform((value) => value ?? absent) };
}

export const countOr = (absent: number, description: string, least: number, most?: number): Parameter<number> =>
  or(absent, count(description, least, most));

/** Words with commas between them. */
export function list<Word extends string>(
  description: string,
  expected: string,
  isOne: (word: string) => word is Word,
): Parameter<Word[] | undefined> {
  return optional({ type: 'string' }, description, (sent) => {
    const words = sent.split(',');
    return words.every(isOne) ? words : new Wrong(expected);
  });
}
