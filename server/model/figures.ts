import { timeOf } from './iso-time.ts';

export type FigureState = 'ok' | 'refused' | 'failed';

export interface FigureSpan extends Record<FigureState, number> {
  slowest?: { seq: number; tookMs: number } | undefined;
  p50Ms?: number | undefined;
  p95Ms?: number | undefined;
  p99Ms?: number | undefined;
}

export interface Figures extends FigureSpan {
  from: string;
  to: string;
  bucketMs: number;
  /** Equal parts of the range, oldest first. */
  buckets: FigureSpan[];
}

const STATES: readonly FigureState[] = ['ok', 'refused', 'failed'];
const FIRST_ROWS = 1_024;
const MIN_RANGE_MS = 60_000;

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Lengths of buckets: with round lengths, their bounds stay the same over time. */
const BUCKETS_MS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((length) => length * SECOND_MS),
  ...[1, 2, 5, 10, 15, 30].map((length) => length * MINUTE_MS),
  ...[1, 2, 3, 6, 12].map((length) => length * HOUR_MS),
  ...[1, 2, 7, 14, 28, 91, 365].map((length) => length * DAY_MS),
];

/** The rows from which figures are computed, newest first, as columns: creating 100,000 objects would take most of the time. */
export class FigureRows {
  #count = 0;
  #seq = new Float64Array(FIRST_ROWS);
  #beganMs = new Float64Array(FIRST_ROWS);
  #tookMs = new Float64Array(FIRST_ROWS);
  #state = new Float64Array(FIRST_ROWS);

  /** @param row.tookMs NaN if a duration has no meaning */
  add(seq: number, { beganMs, tookMs }: { beganMs: number; tookMs: number }, state: FigureState): void {
    if (this.#count === this.#seq.length) this.#grow();
    this.#seq[this.#count] = seq;
    this.#beganMs[this.#count] = beganMs;
    this.#tookMs[this.#count] = tookMs;
    this.#state[this.#count] = STATES.indexOf(state);
    this.#count += 1;
  }

  #grow(): void {
    [this.#seq, this.#beganMs, this.#tookMs, this.#state] = [this.#seq, this.#beganMs, this.#tookMs, this.#state].map(
      (column) => {
        const larger = new Float64Array(2 * column.length);
        larger.set(column);
        return larger;
      },
    ) as [Float64Array<ArrayBuffer>, Float64Array<ArrayBuffer>, Float64Array<ArrayBuffer>, Float64Array<ArrayBuffer>]; // as many as before
  }

  /** Returns the figures of a range of time; a limit is infinite if the query has none. */
  view({ fromMs, toMs }: { fromMs: number; toMs: number }, nowMs: number, maxBuckets: number): Figures {
    const beganMs = this.#beganMs.subarray(0, this.#count);
    const endMs = Number.isFinite(toMs) ? toMs : beganMs.reduce((most, atMs) => Math.max(most, atMs), nowMs);
    const beginMs = Number.isFinite(fromMs)
      ? Math.min(fromMs, endMs)
      : beganMs.reduce((least, atMs) => Math.min(least, atMs), endMs - MIN_RANGE_MS);
    // One more than there is space for, because the first and the last bucket are cut.
    const leastMs = (endMs - beginMs) / Math.max(1, maxBuckets - 1);
    const bucketMs = BUCKETS_MS.find((length) => length >= leastMs) ?? Math.ceil(leastMs);
    const from = Math.trunc(beginMs / bucketMs) * bucketMs;
    const count = Math.trunc((endMs - from) / bucketMs) + 1;
    const parts = new Uint16Array(this.#count).map((_, index) => ((beganMs[index] ?? from) - from) / bucketMs);
    const { spans: buckets, tookMs } = this.#spans(parts, count);
    return {
      ...buckets.reduce(joined, EMPTY_SPAN),
      ...sharesOf(tookMs, placed),
      ...{ from: timeOf(from), to: timeOf(from + count * bucketMs), bucketMs, buckets },
    };
  }

  /** The figures of so many parts, and all durations. @param parts the part of each row */
  #spans(parts: Uint16Array, count: number): { spans: FigureSpan[]; tookMs: Float64Array } {
    const states = new Uint32Array(count * STATES.length);
    const slowest = new Int32Array(count).fill(-1);
    const ends = new Uint32Array(count + 1);
    for (let index = 0; index < parts.length; index++) {
      const part = parts[index] ?? 0;
      const took = this.#tookMs[index] ?? Number.NaN;
      const state = part * STATES.length + (this.#state[index] ?? 0);
      states[state] = (states[state] ?? 0) + 1;
      if (Number.isNaN(took)) continue;
      ends[part] = (ends[part] ?? 0) + 1;
      const most = slowest[part] ?? -1;
      if (most < 0 || took > (this.#tookMs[most] ?? 0)) slowest[part] = index;
    }
    // The durations of each part are put next to each other and sorted there.
    for (let part = 1; part <= count; part++) ends[part] = (ends[part] ?? 0) + (ends[part - 1] ?? 0);
    const begins = ends.slice();
    const tookMs = new Float64Array(ends[count] ?? 0);
    for (let index = 0; index < parts.length; index++) {
      const took = this.#tookMs[index] ?? Number.NaN;
      if (Number.isNaN(took)) continue;
      const part = parts[index] ?? 0;
      begins[part] = (begins[part] ?? 0) - 1;
      tookMs[begins[part] ?? 0] = took;
    }
    const spans = Array.from(slowest, (at, part) => {
      const [ok = 0, refused = 0, failed = 0] = states.subarray(part * STATES.length);
      const slowestRow = at < 0 ? undefined : { seq: this.#seq[at] ?? 0, tookMs: this.#tookMs[at] ?? 0 };
      const sorted = tookMs.subarray(begins[part], ends[part]).sort();
      return {
        ok,
        refused,
        failed,
        ...(slowestRow && { slowest: slowestRow }),
        ...sharesOf(sorted, (values, rank) => values[rank]),
      };
    });
    return { spans, tookMs };
  }
}

const EMPTY_SPAN: FigureSpan = { ok: 0, refused: 0, failed: 0 };

function joined(total: FigureSpan, span: FigureSpan): FigureSpan {
  const [slowest] = [total.slowest ?? [], span.slowest ?? []].flat().sort((a, b) => b.tookMs - a.tookMs);
  return {
    ...{ ok: total.ok + span.ok, refused: total.refused + span.refused, failed: total.failed + span.failed },
    ...(slowest && { slowest }),
  };
}

/** @param valueAt the duration that has a place among all in order */
function sharesOf(
  tookMs: Float64Array,
  valueAt: (values: Float64Array, rank: number) => number | undefined,
): Pick<FigureSpan, 'p50Ms' | 'p95Ms' | 'p99Ms'> {
  const share = (fraction: number) => valueAt(tookMs, Math.ceil(fraction * tookMs.length) - 1);
  return tookMs.length === 0 ? {} : { p50Ms: share(0.5), p95Ms: share(0.95), p99Ms: share(0.99) };
}

/** The value that has this place in order. Moves values (quickselect), in a fraction of the time that sorting takes. */
function placed(values: Float64Array, rank: number): number | undefined {
  let [start, end] = [0, values.length - 1];
  while (start < end) {
    const pivot = values[(start + end) >> 1] ?? 0;
    let [low, high] = [start, end];
    while (low <= high) {
      while ((values[low] ?? 0) < pivot) low += 1;
      while ((values[high] ?? 0) > pivot) high -= 1;
      if (low > high) break;
      const moved = values[low] ?? 0;
      values[low] = values[high] ?? 0;
      values[high] = moved;
      low += 1;
      high -= 1;
    }
    if (rank > high && rank < low) break;
    if (rank <= high) end = high;
    else start = low;
  }
  return values[rank];
}
