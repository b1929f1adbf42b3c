import { z } from 'zod';
import { isUuid, type Uuid } from '../model/ids.ts';
import type { JsonObject } from '../model/json.ts';

/** A parameter of a query: how its text is read, and how the document tells of it. */
export interface Parameter<T = unknown> {
  /** From the text that was sent, undefined when it was not; what is wrong with it completes "must be ...". */
  schema: z.ZodType<T, unknown>;
  /** What its schema reads instead: all texts where it may be repeated; or by name the parameters that the row does not know and this does. */
  takes?: 'all' | ((name: string) => boolean);
  description: string;
  /** As a JSON Schema. */
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

/** What a text is not. */
class Wrong {
  readonly expected: string;

  constructor(expected: string) {
    this.expected = expected;
  }
}

/** Any text. */
export function text(description: string, form: JsonObject = {}): Parameter<string | undefined> {
  return optional({ type: 'string', ...form }, description, (sent) => sent);
}

/** A UUID in any letter case; it is read in lower case (D-014). */
export function uuid(description: string): Parameter<Uuid | undefined> {
  return optional({ type: 'string', format: 'uuid' }, description, (sent) =>
    isUuid(sent) ? sent.toLowerCase() : new Wrong('a UUID'),
  );
}

/** A whole number within bounds. */
export function countWithin(description: string, least: number, most: number, absent: number): Parameter<number> {
  const form = { type: 'integer', minimum: least, maximum: most, default: absent };
  const { schema, ...rest } = optional(form, description, (sent) =>
    /^\d{1,15}$/.test(sent) && Number(sent) >= least && Number(sent) <= most
      ? Number(sent)
      : new Wrong(`a whole number from ${least} to ${most}`),
  );
  return { ...rest, schema: schema.transform((value) => value ?? absent) };
}

/** A whole number; what is above `most` counts as that. */
export function count(description: string, least: number, most?: number): Parameter<number | undefined> {
  const form = { type: 'integer', minimum: least, ...(most !== undefined && { maximum: most }) };
  return optional(form, description, (sent) =>
    /^\d{1,15}$/.test(sent) && Number(sent) >= least
      ? Math.min(Number(sent), most ?? Number.MAX_SAFE_INTEGER)
      : new Wrong(`a whole number of at least ${least}`),
  );
}

/** `true` or `false`, and nothing else (D-012). */
export function flag(description: string, absent = false): Parameter<boolean> {
  const { schema, form, ...rest } = choice(description, ['true', 'false'], 'true or false');
  const read = schema.transform((value) => (value === undefined ? absent : value === 'true'));
  return { ...rest, form: { type: 'boolean', default: absent }, schema: read };
}

/** One of some words. */
export function choice<Word extends string>(
  description: string,
  words: readonly Word[],
  expected = words.join(' or '),
): Parameter<Word | undefined> {
  const find = (sent: string) => words.find((word) => word === sent) ?? new Wrong(expected);
  return optional({ type: 'string', enum: [...words] }, description, find);
}

/** A moment as ISO 8601 writes it, a day or a time; it is read as epoch milliseconds. */
export function moment(description: string): Parameter<number | undefined> {
  return optional({ type: 'string', format: 'date-time' }, description, readTime);
}

/** The number of a commit, or an ISO time. */
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

/** Any text but none. */
export function word(description: string): Parameter<string | undefined> {
  return optional({ type: 'string' }, description, (sent) => (sent === '' ? new Wrong('a word') : sent));
}

/** Texts with commas between them, which may also be sent one by one (D-012). */
export function words(description: string): Parameter<string[]> {
  const schema = z.array(z.string()).transform((sent) => sent.flatMap((one) => one.split(',')));
  return { schema, takes: 'all', description, form: { type: 'array', items: { type: 'string' } } };
}

/** UUIDs, the first of which has to be there (D-012). */
export function uuids(description: string): Parameter<Uuid[]> {
  const form = { type: 'array', items: { type: 'string', format: 'uuid' }, minItems: 1 };
  const one = z.string().refine(isUuid, 'a UUID');
  const schema = z.array(one).transform((sent) => sent.map((id) => id.toLowerCase()));
  return { schema, takes: 'all', description, form, isRequired: true };
}

/**
 * All parameters that the row does not name, by their names; each may stand once. One that begins with `_` is for caches only.
 *
 * @param besides names that are none of them either
 */
export function others(description: string, besides: readonly string[]): Parameter<Readonly<Record<string, string>>> {
  return {
    schema: z.custom<Readonly<Record<string, string>>>(),
    takes: (name) => !name.startsWith('_') && !besides.includes(name),
    description,
    form: { type: 'object', additionalProperties: { type: 'string' } },
  };
}

/** A parameter that has to be there. */
export function required<T>({ schema, ...rest }: Parameter<T | undefined>): Parameter<T> {
  return { ...rest, isRequired: true, schema: schema.transform((value) => value as T) }; // it was looked for before it was read
}

/** The same with what holds when it is absent. */
export function countOr(absent: number, description: string, least: number, most?: number): Parameter<number> {
  const { schema, form, ...rest } = count(description, least, most);
  return { ...rest, form: { ...form, default: absent }, schema: schema.transform((value) => value ?? absent) };
}

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
