import type { Json } from './json.ts';

/** Maximum size of a record in characters of JSON: the default limit for the body of a create (D-007). */
export const MAX_RECORD_SIZE = 10 * 1024 * 1024;

/** Counted size of a scalar other than a string, or of a pair of brackets. */
const SMALL = 4;

/** Nesting depth, approximate JSON length, and number of members and elements of a value, computed without recursion. */
export function measure(value: Json): { depth: number; size: number; values: number } {
  let depth = 0;
  let size = 0;
  let values = 0;
  for (let level = [value]; level.length > 0; ) {
    const below: Json[] = [];
    let isNested = false;
    values += level.length;
    for (const node of level) {
      size += typeof node === 'string' ? node.length : SMALL;
      if (typeof node !== 'object' || node === null) continue;
      isNested = true;
      for (const [name, member] of Object.entries(node)) {
        size += name.length;
        below.push(member);
      }
    }
    if (isNested) depth += 1;
    level = below;
  }
  return { depth, size, values };
}
