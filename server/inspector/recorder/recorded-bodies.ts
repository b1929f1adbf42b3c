import {
  type BodyPlace,
  type CapturedBody,
  MAX_CAPTURED_BYTES,
  type SharedBodies,
} from '../../model/exchange-record.ts';
import { SLAB_BYTES } from '../../storage/records/buffer-pool.ts';
import type { ByteLog } from '../../storage/records/byte-log.ts';

export interface KeptBody extends CapturedBody {
  /** True if the body is complete although its length differs, because secrets in it were hidden before. */
  isWhole?: boolean;
}

export const NO_BODY: CapturedBody = { bytes: new Uint8Array(0), sizeBytes: 0 };

/** Stores a body, or its beginning. @param candidate where the same body may be stored already */
export function keepBody(bodies: ByteLog, { bytes, sizeBytes, isWhole }: KeptBody, candidate?: BodyPlace): BodyPlace {
  const storedBytes = bytes.length > MAX_CAPTURED_BYTES ? bytes.subarray(0, MAX_CAPTURED_BYTES) : bytes;
  if (
    candidate &&
    candidate[1] === storedBytes.length &&
    candidate[2] === sizeBytes &&
    bodies.isInMemory(candidate[0], storedBytes)
  )
    return candidate;
  const at = bodies.append(storedBytes);
  return isWhole ? [at, storedBytes.length, sizeBytes, 1] : [at, storedBytes.length, sizeBytes];
}

/** Stores a body that the records of a request and its invocation share. */
export function keepShared(bodies: ByteLog, body: KeptBody, shared: SharedBodies, side: keyof SharedBodies): BodyPlace {
  const position = keepBody(bodies, body, shared[side]);
  shared[side] = position;
  return position;
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
