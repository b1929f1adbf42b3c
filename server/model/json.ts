export type Json = string | number | boolean | null | Json[] | JsonObject;
export interface JsonObject {
  [member: string]: Json;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An own member of a JSON object, or undefined; never reads the prototype. */
export function memberOf(value: unknown, name: string): Json | undefined {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** The elements of an array; none of any other value. */
export function elementsOf(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}

/** The id in a reference, which is an id or a link. */
export function idIn(value: unknown): string | undefined {
  const id = typeof value === 'string' ? value : memberOf(value, 'id');
  return typeof id === 'string' ? id.toLowerCase() : undefined;
}

/** Parses JSON; undefined if it is invalid or nested too deep. The reader limits its size. */
export function jsonIn(text: string): unknown {
  try {
    return faultOfJson(text, Number.POSITIVE_INFINITY) === undefined ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

/** Maximum nesting of JSON input: far above any real record, far below the limit of the stack. */
export const MAX_JSON_DEPTH = 100;

/** Maximum number of members and elements in JSON input: each takes many times its text in memory. */
export const MAX_JSON_VALUES = 1_000_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Returns the reason why a JSON text exceeds the limits of input; undefined if it does not. Counts without parsing. */
export function faultOfJson(text: string, maxValues = MAX_JSON_VALUES): string | undefined {
  let depth = 0;
  let values = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) {
      while (++at < text.length && text.charCodeAt(at) !== QUOTE) if (text.charCodeAt(at) === BACKSLASH) at++;
    } else if (char === 0x5b || char === 0x7b) {
      if (++depth > MAX_JSON_DEPTH) return `JSON is nested deeper than ${MAX_JSON_DEPTH} levels`;
      values++;
    } else if (char === 0x5d || char === 0x7d) depth--;
    else if (char === 0x2c) values++;
    if (values > maxValues) return `JSON has more than ${maxValues} members and elements`;
  }
  return undefined;
}

/** Finds the first string or member name that is not well-formed Unicode: half of a surrogate pair has no bytes in UTF-8. */
export function pathOfMalformedText(
  value: Json,
  path: readonly PropertyKey[] = [],
): readonly PropertyKey[] | undefined {
  if (typeof value === 'string') return value.isWellFormed() ? undefined : path;
  if (!Array.isArray(value) && !isJsonObject(value)) return undefined;
  for (const [name, member] of Object.entries(value)) {
    // The name itself could not be sent in the pointer of a response.
    const malformed = name.isWellFormed() ? pathOfMalformedText(member, [...path, name]) : path;
    if (malformed) return malformed;
  }
  return undefined;
}

export const MALFORMED_TEXT = 'must be well-formed Unicode, without half of a surrogate pair';
