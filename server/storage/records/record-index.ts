const CHUNK_ROWS = 4096;
const BUCKETS = 16_384;

export interface RecordFlags {
  atMs: number;
  key: string;
  group: string;
  /** From 0 to 65535; the owner defines the meaning. */
  mark: number;
  figures?: RecordFigures;
}

/** Values from which figures are computed without reading records. They are not stored, but computed again at a start. */
export interface RecordFigures {
  beganMs: number;
  tookMs: number;
  /** From 0 to 65535; the owner defines the meaning. */
  kind: number;
  /** `numberOf` a text that records have in common; 0 for none. */
  cause: number;
}

/** The facts that are stored with a record; `group` and `key` are numbers (`numberOf`). */
export interface RecordHead {
  seq: number;
  atMs: number;
  key: number;
  group: number;
  mark: number;
}

/** The facts of a record that are available without reading it. */
export type MarkedPlace = RecordFigures & Omit<RecordHead, 'atMs'>;

type Chunk = ReturnType<typeof emptyChunk>;

/** The position of each record and a few facts by sequence number: 76 bytes per record, without objects. */
export class RecordIndex {
  readonly #chunks = new Map<number, Chunk>();
  readonly #buckets = new Float64Array(BUCKETS);

  set({ seq, atMs, key, group, mark }: RecordHead, start: number, length: number, figures?: RecordFigures): void {
    const chunk = this.#chunkFor(seq);
    const row = seq % CHUNK_ROWS;
    chunk.start[row] = start;
    chunk.length[row] = length;
    chunk.atMs[row] = atMs;
    chunk.key[row] = key;
    chunk.group[row] = group;
    chunk.mark[row] = mark;
    chunk.beganMs[row] = figures?.beganMs ?? atMs;
    chunk.tookMs[row] = figures?.tookMs ?? Number.NaN;
    chunk.kind[row] = figures?.kind ?? 0;
    chunk.cause[row] = figures?.cause ?? 0;
    if (key !== 0) this.#link(chunk, row, seq, key);
  }

  /** Newest first within a bucket, in whatever order they are added. */
  #link(chunk: Chunk, row: number, seq: number, key: number): void {
    const bucket = key % BUCKETS;
    let [later, at] = [0, this.#buckets[bucket] ?? 0];
    while (at > seq) [later, at] = [at, this.fact(at, 'before')];
    chunk.before[row] = at;
    const chunkOfLater = this.#chunkOf(later);
    if (later > 0 && chunkOfLater) chunkOfLater.before[later % CHUNK_ROWS] = seq;
    else this.#buckets[bucket] = seq;
  }

  /** Sequence number of the newest record with that key; undefined if none is at or after `oldest`. */
  find(key: number, oldest: number): number | undefined {
    if (key === 0) return undefined;
    let at = this.#buckets[key % BUCKETS] ?? 0;
    while (at >= oldest && at > 0) {
      if (this.#chunkOf(at)?.key[at % CHUNK_ROWS] === key) return at;
      at = this.fact(at, 'before');
    }
    return undefined;
  }

  placeOf(seq: number): [start: number, lengthBytes: number] | undefined {
    const chunk = this.#chunkOf(seq);
    const length = chunk?.length[seq % CHUNK_ROWS] ?? 0;
    return length === 0 ? undefined : [chunk?.start[seq % CHUNK_ROWS] ?? 0, length];
  }

  /** A fact of a record; 0 if it is not known. */
  fact(seq: number, name: 'atMs' | 'group' | 'mark' | 'kind' | 'beganMs' | 'before'): number {
    return this.#chunkOf(seq)?.[name][seq % CHUNK_ROWS] ?? 0;
  }

  /** One object represents each in turn, because creating 100,000 would take most of the time. */
  *entries(from: number, to: number): Generator<Readonly<MarkedPlace>> {
    const entry: MarkedPlace = {
      seq: 0,
      key: 0.5,
      group: 0.5,
      mark: 0,
      beganMs: 0.5,
      tookMs: 0.5,
      kind: 0,
      cause: 0.5,
    };
    const step = from <= to ? 1 : -1;
    const [least, most] = [Math.min(from, to), Math.max(from, to)];
    for (let at = from; at >= least && at <= most; ) {
      const chunk = this.#chunkOf(at);
      const first = at - (at % CHUNK_ROWS);
      const [begin, end] = [Math.max(least, first), Math.min(most, first + CHUNK_ROWS - 1)];
      for (; chunk && at >= begin && at <= end; at += step) {
        const row = at % CHUNK_ROWS;
        if (chunk.length[row] === 0) continue;
        entry.seq = at;
        entry.key = chunk.key[row] ?? 0;
        entry.group = chunk.group[row] ?? 0;
        entry.mark = chunk.mark[row] ?? 0;
        entry.beganMs = chunk.beganMs[row] ?? 0;
        entry.tookMs = chunk.tookMs[row] ?? Number.NaN;
        entry.kind = chunk.kind[row] ?? 0;
        entry.cause = chunk.cause[row] ?? 0;
        yield entry;
      }
      at = step > 0 ? end + 1 : begin - 1;
    }
  }

  removeBefore(seq: number): void {
    const keep = Math.floor(seq / CHUNK_ROWS);
    for (const number of this.#chunks.keys()) if (number < keep) this.#chunks.delete(number);
  }

  #chunkOf(seq: number): Chunk | undefined {
    return this.#chunks.get(Math.floor(seq / CHUNK_ROWS));
  }

  #chunkFor(seq: number): Chunk {
    const chunk = this.#chunkOf(seq);
    if (chunk) return chunk;
    const newChunk = emptyChunk();
    this.#chunks.set(Math.floor(seq / CHUNK_ROWS), newChunk);
    return newChunk;
  }
}

function emptyChunk() {
  return {
    start: new Float64Array(CHUNK_ROWS),
    length: new Uint32Array(CHUNK_ROWS),
    atMs: new Float64Array(CHUNK_ROWS),
    key: new Float64Array(CHUNK_ROWS),
    group: new Float64Array(CHUNK_ROWS),
    mark: new Uint16Array(CHUNK_ROWS),
    beganMs: new Float64Array(CHUNK_ROWS),
    tookMs: new Float64Array(CHUNK_ROWS),
    kind: new Uint16Array(CHUNK_ROWS),
    cause: new Float64Array(CHUNK_ROWS),
    before: new Float64Array(CHUNK_ROWS),
  };
}

/** A 52-bit hash of a text, large enough to make a collision among the kept records improbable. 0 for ''. */
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
