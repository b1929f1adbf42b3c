import {
  type BodyPlace,
  type CapturedBody,
  MAX_CAPTURED_BYTES,
  type SharedBodies,
} from '../../model/exchange-record.ts';
import { SLAB_BYTES } from '../../storage/records/buffer-pool.ts';
import type { ByteLog } from '../../storage/records/byte-log.ts';

export interface KeptBody extends CapturedBody {
  /** Is it whole although its length is another, because secrets in it were hidden before? */
  isWhole?: boolean;
}

export const NO_BODY: CapturedBody = { bytes: new Uint8Array(0), sizeBytes: 0 };

/** Stores a body, or its beginning. @param known where the same body may be stored already */
export function keepBody(bodies: ByteLog, { bytes, sizeBytes, isWhole }: KeptBody, known?: BodyPlace): BodyPlace {
  const kept = bytes.length > MAX_CAPTURED_BYTES ? bytes.subarray(0, MAX_CAPTURED_BYTES) : bytes;
  if (known && known[1] === kept.length && known[2] === sizeBytes && bodies.isInMemory(known[0], kept)) return known;
  const at = bodies.append(kept);
  return isWhole ? [at, kept.length, sizeBytes, 1] : [at, kept.length, sizeBytes];
}

/** The same for a body that the records of a request and its invocation have in common. */
export function keepShared(bodies: ByteLog, body: KeptBody, shared: SharedBodies, of: keyof SharedBodies): BodyPlace {
  const place = keepBody(bodies, body, shared[of]);
  shared[of] = place;
  return place;
}

/** Stores what is read only with the whole record. */
export function keepText(bodies: ByteLog, json: string): BodyPlace {
  const at = bodies.end;
  const lengthBytes = bodies.appendText(json);
  return [at, lengthBytes, lengthBytes];
}

/** The latest text of each log that was stored by `keepSameText`. */
const lastTexts = new WeakMap<ByteLog, { json: string; place: BodyPlace }>();

/** The same of a text that is often the same as before; it is then not stored again within a slab. */
export function keepSameText(bodies: ByteLog, json: string): BodyPlace {
  const last = lastTexts.get(bodies);
  if (last?.json === json && bodies.end - last.place[0] < SLAB_BYTES) return last.place;
  const place = keepText(bodies, json);
  lastTexts.set(bodies, { json, place });
  return place;
}

/** A copy of a stored body; undefined if it was removed to free space. */
export function bodyAt(bodies: ByteLog, [at, keptBytes, sizeBytes, isWhole]: BodyPlace): KeptBody | undefined {
  const bytes = bodies.read(at, keptBytes);
  return bytes && { bytes: Buffer.from(bytes), sizeBytes, ...(isWhole && { isWhole: true }) };
}

/** What `keepText` has stored; undefined if it was removed to make space, or its file is damaged. */
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

const MAX_TEXTS = 1_000;
const MAX_CHARACTERS = 256;
const texts = new Map<string, string>();

/** A text of few kinds, such as a name, as JSON. */
export function jsonOf(text: string): string {
  const known = texts.get(text);
  if (known !== undefined) return known;
  const json = JSON.stringify(text);
  if (text.length > MAX_CHARACTERS) return json;
  if (texts.size >= MAX_TEXTS) texts.clear();
  texts.set(text, json);
  return json;
}

export function optionalMember(name: string, text: string | undefined): string {
  return text === undefined ? '' : `,"${name}":${jsonOf(text)}`;
}

export function endOf([at, keptBytes]: BodyPlace): number {
  return at + keptBytes;
}
