import { isJsonObject, type Json } from './json.ts';

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
