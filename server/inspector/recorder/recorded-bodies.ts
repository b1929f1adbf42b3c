import type { BodyPlace, CapturedBody, SharedBodies } from '../../model/exchange-record.ts';
import { type ByteLog, SLAB_BYTES } from '../../storage/records/byte-log.ts';

export interface KeptBody extends CapturedBody {
  /** True if the body is complete although its length differs, because secrets in it were hidden before. */
  isWhole?: boolean;
}

export const NO_BODY: CapturedBody = { bytes: new Uint8Array(0), sizeBytes: 0 };

/** Stores the captured part of a body. */
export function keepBody(bodies: ByteLog, { bytes, sizeBytes, isWhole }: KeptBody): BodyPlace {
  const at = bodies.append(bytes);
  return isWhole ? [at, bytes.length, sizeBytes, 1] : [at, bytes.length, sizeBytes];
}

/** Stores a body that the records of a request and its invocation share if it is the same memory. */
export function keepShared(bodies: ByteLog, body: KeptBody, shared: SharedBodies, side: keyof SharedBodies): BodyPlace {
  const stored = shared[side];
  // It may be removed since.
  if (stored && isSameMemory(stored.bytes, body.bytes) && bodies.has(stored.position[0], stored.position[1]))
    return stored.position;
  const position = keepBody(bodies, body);
  shared[side] = { bytes: body.bytes, position };
  return position;
}

function isSameMemory(bytes: Uint8Array, otherBytes: Uint8Array): boolean {
  const { buffer, byteOffset, length } = bytes;
  return buffer === otherBytes.buffer && byteOffset === otherBytes.byteOffset && length === otherBytes.length;
}

/** Stores what is read only with the whole record. */
export function keepText(bodies: ByteLog, json: string): BodyPlace {
  const at = bodies.end;
  const lengthBytes = bodies.appendText(json);
  return [at, lengthBytes, lengthBytes];
}

/** The latest text of each log that was stored by `keepSameText`. */
const lastTexts = new WeakMap<ByteLog, { json: string; position: BodyPlace }>();

/** Stores a text that is often the same as the previous one. It is not stored again within a slab. */
export function keepSameText(bodies: ByteLog, json: string): BodyPlace {
  const last = lastTexts.get(bodies);
  if (last?.json === json && bodies.end - last.position[0] < SLAB_BYTES) return last.position;
  const position = keepText(bodies, json);
  lastTexts.set(bodies, { json, position });
  return position;
}

/** A copy of a stored body; undefined if it was removed to free space. */
export function bodyAt(bodies: ByteLog, [at, keptBytes, sizeBytes, isWhole]: BodyPlace): KeptBody | undefined {
  const bytes = bodies.read(at, keptBytes);
  return bytes && { bytes: Buffer.from(bytes), sizeBytes, ...(isWhole && { isWhole: true }) };
}

/** Reads a text stored by `keepText`; undefined if it was removed to free space, or its file is damaged. */
export function textAt<T>(bodies: ByteLog, [at, keptBytes]: BodyPlace): T | undefined {
  const bytes = bodies.read(at, keptBytes);
  try {
    return bytes && (JSON.parse(bytes.toString()) as T); // written by this program
  } catch {
    return undefined;
  }
}

/*
 * Records are written as JSON member by member, because there are two for each request, and JSON.stringify takes four times as long.
 */

/** ASCII without control characters, quotes and backslashes, which is the same in JSON. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** A text as JSON. */
export function jsonOf(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** A position as JSON: an array in a template takes several times as long. */
export function jsonOfPlace([at, keptBytes, sizeBytes, isWhole]: BodyPlace): string {
  return isWhole ? `[${at},${keptBytes},${sizeBytes},1]` : `[${at},${keptBytes},${sizeBytes}]`;
}

export function optionalMember(name: string, text: string | undefined): string {
  return text === undefined ? '' : `,"${name}":${jsonOf(text)}`;
}

export function endOf([at, keptBytes]: BodyPlace): number {
  return at + keptBytes;
}
