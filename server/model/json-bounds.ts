import type { Json } from './json.ts';

/** Deepest nesting of JSON from outside: far above any real record, far below what could exhaust the stack. */
export const MAX_JSON_DEPTH = 100;

/** Largest record, in characters of JSON: what the body of a create may hold by default (D-007). */
export const MAX_RECORD_SIZE = 10 * 1024 * 1024;

/** What a scalar other than a string, or a pair of brackets, counts as. */
const SMALL = 4;

/** Levels of objects and arrays in a value, and about how many characters it has as JSON; found without recursion. */
export function measure(value: Json): { depth: number; size: number } {
  let depth = 0;
  let size = 0;
  for (let level = [value]; level.length > 0; ) {
    const below: Json[] = [];
    let isNested = false;
    for (const one of level) {
      size += typeof one === 'string' ? one.length : SMALL;
      if (typeof one !== 'object' || one === null) continue;
      isNested = true;
      for (const [name, member] of Object.entries(one)) {
        size += name.length;
        below.push(member);
      }
    }
    if (isNested) depth += 1;
    level = below;
  }
  return { depth, size };
}
