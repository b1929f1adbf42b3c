const CHUNK_ROWS = 4096;
const BUCKETS = 16_384;

/** What of a record is at hand without reading it. */
export interface RecordMarks {
  /** Epoch milliseconds; the days that records are kept count from it. */
  atMs: number;
  /** By which it is found; '' for none. */
  key: string;
  /** What it belongs to. */
  group: string;
  /** From 0 to 65535; what it says is the owner's. */
  mark: number;
}

interface Chunk {
  start: Float64Array;
  length: Uint32Array;
  atMs: Float64Array;
  key: Float64Array;
  group: Float64Array;
  mark: Uint16Array;
  /** The record before of the same bucket of keys. */
  before: Float64Array;
}

/** Where each record is, and a few facts about it, by its sequence number: 50 bytes a record, and no object. */
export class RecordColumns {
  readonly #chunks = new Map<number, Chunk>();
  readonly #buckets = new Float64Array(BUCKETS);

  set(seq: number, start: number, length: number, atMs: number, key: number, group: number, mark: number): void {
    const chunk = this.#chunkFor(seq);
    const row = seq % CHUNK_ROWS;
    chunk.start[row] = start;
    chunk.length[row] = length;
    chunk.atMs[row] = atMs;
    chunk.key[row] = key;
    chunk.group[row] = group;
    chunk.mark[row] = mark;
    if (key !== 0) this.#link(chunk, row, seq, key);
  }

  /** Newest first within a bucket, in whatever order they come. */
  #link(chunk: Chunk, row: number, seq: number, key: number): void {
    const bucket = key % BUCKETS;
    let [later, at] = [0, this.#buckets[bucket] ?? 0];
    while (at > seq) [later, at] = [at, this.#beforeOf(at)];
    chunk.before[row] = at;
    const chunkOfLater = this.#chunkOf(later);
    if (later > 0 && chunkOfLater) chunkOfLater.before[later % CHUNK_ROWS] = seq;
    else this.#buckets[bucket] = seq;
  }

  /** Sequence number of the newest of that key; undefined for none at or after `oldest`. */
  find(key: number, oldest: number): number | undefined {
    if (key === 0) return undefined;
    let at = this.#buckets[key % BUCKETS] ?? 0;
    while (at >= oldest && at > 0) {
      if (this.#chunkOf(at)?.key[at % CHUNK_ROWS] === key) return at;
      at = this.#beforeOf(at);
    }
    return undefined;
  }

  /** Position and length of a record's bytes; undefined when it is not known. */
  placeOf(seq: number): [start: number, lengthBytes: number] | undefined {
    const chunk = this.#chunkOf(seq);
    const length = chunk?.length[seq % CHUNK_ROWS] ?? 0;
    return length === 0 ? undefined : [chunk?.start[seq % CHUNK_ROWS] ?? 0, length];
  }

  atMsOf(seq: number): number {
    return this.#chunkOf(seq)?.atMs[seq % CHUNK_ROWS] ?? 0;
  }

  groupOf(seq: number): number {
    return this.#chunkOf(seq)?.group[seq % CHUNK_ROWS] ?? 0;
  }

  markOf(seq: number): number {
    return this.#chunkOf(seq)?.mark[seq % CHUNK_ROWS] ?? 0;
  }

  /** Forgets all before a sequence number, in chunks. */
  forgetBefore(seq: number): void {
    const keep = Math.floor(seq / CHUNK_ROWS);
    for (const number of this.#chunks.keys()) if (number < keep) this.#chunks.delete(number);
  }

  #beforeOf(seq: number): number {
    return this.#chunkOf(seq)?.before[seq % CHUNK_ROWS] ?? 0;
  }

  #chunkOf(seq: number): Chunk | undefined {
    return this.#chunks.get(Math.floor(seq / CHUNK_ROWS));
  }

  #chunkFor(seq: number): Chunk {
    const known = this.#chunkOf(seq);
    if (known) return known;
    const made: Chunk = {
      start: new Float64Array(CHUNK_ROWS),
      length: new Uint32Array(CHUNK_ROWS),
      atMs: new Float64Array(CHUNK_ROWS),
      key: new Float64Array(CHUNK_ROWS),
      group: new Float64Array(CHUNK_ROWS),
      mark: new Uint16Array(CHUNK_ROWS),
      before: new Float64Array(CHUNK_ROWS),
    };
    this.#chunks.set(Math.floor(seq / CHUNK_ROWS), made);
    return made;
  }
}

/** A number for a text, 52 bits of it: two of the records that are kept do not have the same by chance. 0 for ''. */
export function numberOf(text: string): number {
  if (text === '') return 0;
  let [high, low] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    high = Math.imul(high ^ code, 2654435761);
    low = Math.imul(low ^ code, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return 0x100000 * (high >>> 0) + (low >>> 12) || 1;
}
