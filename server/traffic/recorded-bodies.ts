import { type CapturedBody, MAX_CAPTURED_BYTES } from '../model/exchange-record.ts';
import type { ByteLog } from '../store/records/byte-log.ts';
import { SLAB_BYTES } from '../store/records/slab-pool.ts';

/** Where a body is kept: position, bytes that are kept, bytes that it had, and 1 when it is whole although these differ. */
export type BodyPlace = readonly [at: number, keptBytes: number, sizeBytes: number, isWhole?: 1];

/** What of a body is kept. */
export interface KeptBody extends CapturedBody {
  /** Is it whole although its length is another, since what is secret in it was hidden before? */
  isWhole?: boolean;
}

export const NO_BODY: CapturedBody = { bytes: new Uint8Array(0), sizeBytes: 0 };

/** Keeps a body, or its beginning. @param known where the same body may be kept already */
export function keepBody(bodies: ByteLog, { bytes, sizeBytes, isWhole }: KeptBody, known?: BodyPlace): BodyPlace {
  const kept = bytes.length > MAX_CAPTURED_BYTES ? bytes.subarray(0, MAX_CAPTURED_BYTES) : bytes;
  if (known && known[1] === kept.length && known[2] === sizeBytes && bodies.holds(known[0], kept)) return known;
  const at = bodies.append(kept);
  return isWhole ? [at, kept.length, sizeBytes, 1] : [at, kept.length, sizeBytes];
}

/** Keeps what is only read with the whole record. */
export function keepRest(bodies: ByteLog, json: string): BodyPlace {
  const at = bodies.end;
  const lengthBytes = bodies.appendText(json);
  return [at, lengthBytes, lengthBytes];
}

/** What was kept last of each log by `keepSameRest`. */
const lastRests = new WeakMap<ByteLog, { json: string; place: BodyPlace }>();

/**
 * The same of what is often what it was before: that is not kept again. It makes room with its slab, so that no record loses more than
 * it would a slab later.
 */
export function keepSameRest(bodies: ByteLog, json: string): BodyPlace {
  const last = lastRests.get(bodies);
  if (last?.json === json && bodies.end - last.place[0] < SLAB_BYTES) return last.place;
  const place = keepRest(bodies, json);
  lastRests.set(bodies, { json, place });
  return place;
}

/** A body as it was kept, in memory of its own; undefined when it had to make room. */
export function bodyAt(bodies: ByteLog, [at, keptBytes, sizeBytes, isWhole]: BodyPlace): KeptBody | undefined {
  const bytes = bodies.read(at, keptBytes);
  return bytes && { bytes: Buffer.from(bytes), sizeBytes, ...(isWhole && { isWhole: true }) };
}

/** What `keepRest` has kept; undefined when it had to make room, or its file was damaged. */
export function restAt<T>(bodies: ByteLog, [at, keptBytes]: BodyPlace): T | undefined {
  const bytes = bodies.read(at, keptBytes);
  try {
    return bytes && (JSON.parse(bytes.toString()) as T); // written by this program
  } catch {
    return undefined;
  }
}

export function endOf([at, keptBytes]: BodyPlace): number {
  return at + keptBytes;
}
