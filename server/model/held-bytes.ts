/** Estimated size of an object, array or boxed number without its members, and of a member's slot. */
const HOLDER_BYTES = 24;
const PLACE_BYTES = 8;
const TEXT_BYTES = 16;

/** Estimated memory of a string in V8: one byte per character for Latin-1, two for others. */
export function bytesOfText(text: string): number {
  // ASCII is fast to detect and the most frequent case.
  return TEXT_BYTES + (Buffer.byteLength(text) === text.length ? text.length : 2 * text.length);
}

/** Estimated memory in V8: many small members need more than one long string. Member names are shared and not counted. */
export function heldBytes(value: unknown): number {
  if (typeof value === 'string') return bytesOfText(value);
  if (typeof value !== 'object' || value === null) return 0;
  const members: unknown[] = Array.isArray(value) ? value : Object.values(value);
  let sum = HOLDER_BYTES;
  for (const member of members) sum += PLACE_BYTES + heldBytes(member);
  return sum;
}
