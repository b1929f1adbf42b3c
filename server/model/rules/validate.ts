import type { z } from 'zod';
import { type ErrorDetail, PlatformError } from '../errors.ts';
import { pointerTo } from '../patch/pointer.ts';

const MAX_DETAILS = 20;

function detailsOf(error: z.ZodError, base: string): ErrorDetail[] {
  return error.issues
    .flatMap((issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => ({
            pointer: pointerTo([...issue.path, key], base),
            message: 'is not a known member',
          }))
        : [{ pointer: pointerTo(issue.path, base) || '/', message: issue.message }],
    )
    .slice(0, MAX_DETAILS);
}

/** A schema is interpreted this often before it is compiled, because compiling it takes as long as interpreting it some dozen times. */
const INTERPRETED_USES = 50;
const useCounts = new WeakMap<z.ZodType, number>();

/** Options with which a schema reads untrusted input. */
export function parsingOf(schema: z.ZodType): z.core.ParseContext<z.core.$ZodIssue> {
  const uses = useCounts.get(schema) ?? 0;
  const jitless = uses < INTERPRETED_USES;
  if (jitless) useCounts.set(schema, uses + 1);
  return { error: validationMessage, jitless };
}

/** Throws 400 whose message contains the first violation and whose details contain all, by JSON Pointer below `base`. */
export function parseWith<T extends z.ZodType>(schema: T, value: unknown, base = ''): z.output<T> {
  const result = schema.safeParse(value, parsingOf(schema));
  if (result.success) return result.data;
  const details = detailsOf(result.error, base);
  const [first] = details;
  throw new PlatformError('invalid_body', first ? `${first.pointer}: ${first.message}` : 'invalid value', { details });
}

const nouns: Readonly<Record<string, string>> = {
  int: 'a whole number',
  number: 'a number',
  string: 'a string',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
};

const formats: Readonly<Record<string, string>> = {
  guid: 'must be a UUID',
  url: 'must be a URL',
  datetime: 'must be an ISO 8601 time in UTC',
};

/** `5`, `5 characters`, `5 elements`. */
function amount(origin: string, count: number | bigint): string {
  if (origin === 'string') return `${count} characters`;
  return origin === 'array' ? `${count} elements` : String(count);
}

/** The message for one schema violation, which completes "<pointer>: ...". A message in the schema itself takes precedence. */
export function validationMessage(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : `must be ${nouns[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return issue.input === undefined ? 'is required' : `must be one of ${issue.values.map(String).join(', ')}`;
    case 'too_small':
      if (issue.minimum === 1 && issue.origin !== 'number' && issue.origin !== 'int') return 'must not be empty';
      if (!issue.inclusive) return `must be greater than ${issue.minimum}`;
      return `must be at least ${amount(issue.origin, issue.minimum)}`;
    case 'too_big':
      return issue.inclusive
        ? `must be at most ${amount(issue.origin, issue.maximum)}`
        : `must be less than ${issue.maximum}`;
    case 'invalid_format':
      return formats[issue.format];
    case 'invalid_key':
      return issue.issues[0]?.message;
    case 'invalid_union':
      return issue.input === undefined ? 'is required' : undefined;
    default:
      return undefined;
  }
}
