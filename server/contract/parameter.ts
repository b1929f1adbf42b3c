import { z } from 'zod';
import { isUuid, type Uuid } from '../model/ids.ts';
import type { JsonObject } from '../model/json.ts';

/** A parameter of a query: how its text is read, and how the document tells of it. */
export interface Parameter<T = unknown> {
  /** From the text that was sent, undefined when it was not; what is wrong with it completes "must be ...". */
  schema: z.ZodType<T, string | undefined>;
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

/** A whole number; what is above `most` counts as that. */
function count(description: string, least: number, most?: number): Parameter<number | undefined> {
  const form = { type: 'integer', minimum: least, ...(most !== undefined && { maximum: most }) };
  return optional(form, description, (sent) =>
    /^\d{1,15}$/.test(sent) && Number(sent) >= least
      ? Math.min(Number(sent), most ?? Number.MAX_SAFE_INTEGER)
      : new Wrong(`a whole number of at least ${least}`),
  );
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
