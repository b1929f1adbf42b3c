import { timeOf } from './iso-time.ts';

export type FigureState = 'ok' | 'refused' | 'failed';

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

interface FigureRow {
  seq: number;
  beganMs: number;
  tookMs: number;
  state: FigureState;
}

/** The rows from which figures are computed, newest first. */
export class FigureRows {
  readonly #rows: FigureRow[] = [];

  /** @param row.tookMs NaN in lists whose durations have no meaning */
  add(seq: number, { beganMs, tookMs }: { beganMs: number; tookMs: number }, state: FigureState): void {
    this.#rows.push({ seq, beganMs, tookMs, state });
  }

  /** Returns the figures of a range of time; a limit is infinite if the query has none. */
  view({ fromMs, toMs }: { fromMs: number; toMs: number }, nowMs: number, maxBuckets: number) {
    const rows = this.#rows;
    const endMs = Number.isFinite(toMs) ? toMs : rows.reduce((most, { beganMs }) => Math.max(most, beganMs), nowMs);
    const beginMs = Number.isFinite(fromMs)
      ? Math.min(fromMs, endMs)
      : rows.reduce((least, { beganMs }) => Math.min(least, beganMs), endMs - MIN_RANGE_MS);
    // One more than there is space for, because the first and the last bucket are cut.
    const leastMs = (endMs - beginMs) / Math.max(1, maxBuckets - 1);
    const bucketMs = BUCKETS_MS.find((length) => length >= leastMs) ?? Math.ceil(leastMs);
    const from = Math.trunc(beginMs / bucketMs) * bucketMs;
    const count = Math.trunc((endMs - from) / bucketMs) + 1;
    const parts = Array.from({ length: count }, (): FigureRow[] => []);
    for (const row of rows) parts[Math.trunc((row.beganMs - from) / bucketMs)]?.push(row);
    return {
      ...spanOf(parts[0]?.concat(...parts.slice(1)) ?? []),
      ...{ from: timeOf(from), to: timeOf(from + count * bucketMs), bucketMs, buckets: parts.map(spanOf) },
    };
  }
}

function spanOf(rows: readonly FigureRow[]) {
  let [ok, refused, failed] = [0, 0, 0];
  let slowest: { seq: number; tookMs: number } | undefined;
  const durations = new Float64Array(rows.length);
  for (const row of rows) {
    durations[ok + refused + failed] = row.tookMs;
    if (row.state === 'ok') ok += 1;
    else if (row.state === 'refused') refused += 1;
    else failed += 1;
    if (row.tookMs > (slowest?.tookMs ?? -1)) slowest = { seq: row.seq, tookMs: row.tookMs };
  }
  if (!slowest) return { ok, refused, failed };
  const share = (fraction: number) => valueAt(durations, Math.ceil(fraction * durations.length) - 1);
  return { ok, refused, failed, slowest, p50Ms: share(0.5), p95Ms: share(0.95), p99Ms: share(0.99) };
}

/** The value at this index if they were sorted, which takes several times as long (quickselect). */
function valueAt(values: Float64Array, index: number): number | undefined {
  for (let [start, end] = [0, values.length - 1]; start < end; ) {
    let [low, high, pivot] = [start, end, values[index] ?? 0];
    while (low <= high)
      if ((values[low] ?? 0) < pivot) low += 1;
      else if ((values[high] ?? 0) > pivot) high -= 1;
      else [values[low++], values[high--]] = [values[high] ?? 0, values[low] ?? 0];
    [start, end] = [high < index ? low : start, index < low ? high : end];
  }
  return values[index];
}
