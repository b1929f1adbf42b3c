import { useEffect, useMemo } from 'react';
import { momentOf } from '../../../../server/model/query-language.ts';
import { useMarks } from '../../api/marks.ts';
import type { SavedView } from '../../preferences/preferences.ts';
import { useSearch } from '../../url.ts';
import { useNowMs } from '../amount.tsx';
import { durationText } from '../amounts.ts';
import type { ListRows } from '../data-grid.tsx';
import { Segments } from '../segments.tsx';
import { type Condition, State } from '../state.tsx';
import { ColumnsMenu, useHiddenColumns, ViewsMenu } from './list-bar.tsx';
import { ListPane, type ListPaneProps } from './list-pane.tsx';
import { termsOf, toggledTerm, withTerms } from './query-terms.ts';
import type { StripPoint } from './strip-slots.ts';
import { TimeStrip } from './time-strip.tsx';

/** How rows can be, each with what of the query finds those. */
export interface RowState<Row> {
  is: Condition;
  /** After a number, e.g. `failed`. */
  text: string;
  term: string;
  has(row: Row): boolean;
}

/** What can be said of rows that are something that happened. */
export interface Happened<Row> {
  pointOf(row: Row): Omit<StripPoint, 'key'>;
  states: readonly RowState<Row>[];
  views: readonly SavedView[];
}

/** Sorted by something else than time, so many are read to be sorted; a time that is asked for keeps them fewer. */
const MAX_SORTED = 20_000;
const TIMES = [
  { id: '', text: 'All' },
  { id: '1h', text: '1 h' },
  { id: '10m', text: '10 min' },
  { id: '1m', text: '1 min' },
];

/**
 * A list of what happened: a strip of it over time, with what was changed meanwhile, times, counts by state, views and columns, then the rows, and one in detail.
 * One of its columns has the id `time`.
 */
export function HappenedPane<Row>({ pointOf, states, views, ...pane }: ListPaneProps<Row> & Happened<Row>) {
  const marks = useMarks();
  const { name, label, list, keyOf, columns } = pane;
  const [{ q = '', sort }, change] = useSearch();
  const nowMs = Math.max(useNowMs(), Date.now() - 1_000);
  const hidden = useHiddenColumns(name);
  const range = useMemo(() => rangeOf(q, nowMs), [q, nowMs]);
  const rows = useMemo(() => {
    const { fromMs } = range;
    // What was in the last minute when it was read may not be any more.
    return fromMs === undefined ? list.rows : list.rows.filter((row) => pointOf(row).atMs >= fromMs);
  }, [list.rows, range, pointOf]);
  const points = useMemo(
    () => list.rows.map((row) => ({ ...pointOf(row), key: keyOf(row) })),
    [list.rows, pointOf, keyOf],
  );
  const oldest = useMemo(() => points.reduce((least, { atMs }) => Math.min(least, atMs), nowMs), [points, nowMs]);
  const select = (key: string) => change({ sel: key });
  useAllForSorting(list, sort !== undefined && sort !== '' && !/^-?time$/.test(sort));
  const setTime = (terms: readonly string[]) => change({ q: withTerms(q, 'time', terms) || undefined });
  // Without an end what has come since the clock was read counts, too.
  const slowest = slowestOf(points, range.fromMs ?? 0, range.toMs ?? Number.POSITIVE_INFINITY);
  return (
    <>
      <div className="flex min-h-9 shrink-0 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-3.5 py-1">
        <Segments
          label="Time"
          segments={TIMES}
          value={TIMES.find(({ id }) => termsOf(q, 'time').join() === (id === '' ? '' : `time:>${id}`))?.id ?? 'other'}
          onChange={(id) => setTime(id === '' ? [] : [`time:>${id}`])}
        />
        <span className="flex items-center gap-1">
          {states.map((state) => (
            <StateCount
              key={state.term}
              state={state}
              count={rows.reduce((sum, row) => sum + (state.has(row) ? 1 : 0), 0)}
              isMore={list.hasMore === true}
              isOn={termsOf(q, state.term.split(':')[0] ?? '').includes(state.term)}
              onToggle={() => change({ q: toggledTerm(q, state.term) || undefined })}
            />
          ))}
        </span>
        {slowest?.tookMs !== undefined && (
          <button type="button" className="link min-h-6 text-accent" onClick={() => select(slowest.key)}>
            slowest {durationText(slowest.tookMs)}
          </button>
        )}
        <span className="ml-auto flex items-center gap-2">
          <ViewsMenu name={name} presets={views} />
          <ColumnsMenu name={name} columns={columns} />
        </span>
      </div>
      {points.length > 0 && (
        <TimeStrip
          what={label}
          points={points}
          marks={marks}
          fromMs={range.fromMs ?? Math.min(oldest, nowMs - 60_000)}
          toMs={range.toMs ?? nowMs}
          onBrush={(from, to) => setTime([`time:>=${isoOf(from)}`, `time:<${isoOf(to)}`])}
          onPick={select}
        />
      )}
      <ListPane {...pane} list={{ ...list, rows }} order="-time" {...(hidden && { hidden })} />
    </>
  );
}

/** Reads on while something else than time is sorted by: the greatest may be far back. */
function useAllForSorting<Row>({ rows, hasMore, loadMore }: ListRows<Row>, isSorted: boolean): void {
  const count = rows.length;
  useEffect(() => {
    if (isSorted && hasMore && count < MAX_SORTED) loadMore?.();
  }, [isSorted, hasMore, count, loadMore]);
}

/** The part of the time that a query asks for. */
function rangeOf(q: string, nowMs: number): { fromMs: number | undefined; toMs: number | undefined } {
  const limit = (sign: RegExp) =>
    termsOf(q, 'time').flatMap((term) => (sign.test(term) ? (momentOf(term.replace(sign, ''), nowMs) ?? []) : []))[0];
  return { fromMs: limit(/^time:>=?/), toMs: limit(/^time:<=?/) };
}

function slowestOf(points: readonly StripPoint[], fromMs: number, toMs: number): StripPoint | undefined {
  let slowest: StripPoint | undefined;
  for (const point of points) {
    if (point.tookMs === undefined || point.atMs < fromMs || point.atMs > toMs) continue;
    if (!slowest || point.tookMs > (slowest.tookMs ?? 0)) slowest = point;
  }
  return slowest;
}

function isoOf(atMs: number): string {
  return new Date(Math.round(atMs)).toISOString();
}

interface StateCountProps<Row> {
  state: RowState<Row>;
  count: number;
  /** Are there more than were read? */
  isMore: boolean;
  isOn: boolean;
  onToggle(): void;
}

function StateCount<Row>({ state: { is, text }, count, isMore, isOn, onToggle }: StateCountProps<Row>) {
  return (
    <button
      type="button"
      aria-pressed={isOn}
      className={`inline-flex h-6 items-center rounded border px-1.5 hover:bg-raised ${isOn ? 'border-accent bg-accent-soft' : 'border-transparent'}`}
      onClick={onToggle}
    >
      {/* None of them alarms nobody. */}
      <State is={count === 0 ? 'idle' : is}>
        {count.toLocaleString('en')}
        {isMore && '+'} {text}
      </State>
    </button>
  );
}
