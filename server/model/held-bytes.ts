/** What an object, an array or a boxed number takes besides its members, and what each member's place takes. */
const HOLDER_BYTES = 24;
const PLACE_BYTES = 8;
/** The head of a string. */
const TEXT_BYTES = 16;

/** About what V8 holds for a text: one byte a character for Latin-1 and two for all others. */
export function bytesOfText(text: string): number {
  // ASCII is what can be told fast, and nearly all there is.
  return TEXT_BYTES + (Buffer.byteLength(text) === text.length ? text.length : 2 * text.length);
}

/**
 * About what V8 holds for a value that JSON can hold: many small members weigh more than one long text. Names of members are
 * shared by all objects that have them, and count nothing.
 */
export function heldBytes(value: unknown): number {
  if (typeof value === 'string') return bytesOfText(value);
  if (typeof value !== 'object' || value === null) return 0;
  const members: unknown[] = Array.isArray(value) ? value : Object.values(value);
  return members.reduce((sum: number, member) => sum + PLACE_BYTES + heldBytes(member), HOLDER_BYTES);
}
