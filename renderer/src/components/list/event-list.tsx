import { useEffect, useMemo } from 'react';
import { momentOf } from '../../../../server/model/query-language.ts';
import type { RecentList } from '../../api/recent-list.ts';
import { type ListFigures, useFigures } from '../../api/use-figures.ts';
import { useMarks } from '../../api/use-marks.ts';
import type { SavedView } from '../../preferences/preferences.ts';
import { useSearch } from '../../url.ts';
import { useNowMs } from '../amount.tsx';
import { durationText } from '../amounts.ts';
import type { ListRows } from '../data-grid.tsx';
import { FailureNote } from '../empty-state.tsx';
import { Segments } from '../segments.tsx';
import { State } from '../state.tsx';
import { ColumnsMenu, useHiddenColumns, ViewsMenu } from './list-bar.tsx';
import { aboveListClass, ListPane, type ListPaneProps } from './list-pane.tsx';
import { TIME_FIELDS, termsOf, toggledTerm, withTerms } from './query-terms.ts';
import { type RowState, TimeStrip } from './time-strip.tsx';

export interface EventListOptions<Row> {
  atMsOf(row: Row): number;
  states: readonly RowState[];
  views: readonly SavedView[];
}

export interface EventListProps<Row> extends ListPaneProps<Row>, EventListOptions<Row> {
  /** The figures of all that the list contains; undefined while they are read. */
  figures: ListFigures | undefined;
  figuresError?: unknown;
  /** The row of a place in the figures. */
  rowAt(seq: number): Promise<Row | undefined> | Row | undefined;
}

/** Number of rows to read for a sort by something other than time; a period reduces it. */
const MAX_SORTED = 20_000;
/** The columns by which the slowest row is the first one; it may be on a page that was not read yet. */
const DURATION_COLUMNS: readonly string[] = ['took', 'duration'];
const TIMES = [
  { id: '', text: 'All' },
  { id: '1h', text: '1 h' },
  { id: '10m', text: '10 min' },
  { id: '1m', text: '1 min' },
];

/**
 * A list of what happened: a strip over time with changes of the world, times, counts by state, views and columns, then the rows, and one in detail.
 * One of its columns has the id `time`.
 */
export function EventList<Row>(props: EventListProps<Row>) {
  const { atMsOf, states, views, figures, figuresError, rowAt, ...pane } = props;
  const changes = useMarks(figures);
  const { name, label, list, keyOf, columns } = pane;
  const [{ q = '', sort }, change] = useSearch();
  const nowMs = Math.max(useNowMs(), Date.now() - 1_000);
  const hidden = useHiddenColumns(name);
  const range = useMemo(() => rangeOf(q, nowMs), [q, nowMs]);
  const rows = useMemo(() => {
    const { fromMs } = range;
    // What was in the last minute when it was read may not be any more.
    return fromMs === undefined ? list.rows : list.rows.filter((row) => atMsOf(row) >= fromMs);
  }, [list.rows, range, atMsOf]);
  const open = async (seq: number, order?: string) => {
    const row = await rowAt(seq);
    if (row !== undefined) change({ sel: keyOf(row), ...(order !== undefined && { sort: order }) });
  };
  const duration = columns.find(({ id }) => DURATION_COLUMNS.includes(id));
  useAllForSorting(list, sort !== undefined && sort !== '' && !/^-?time$/.test(sort));
  const setTime = (terms: readonly string[]) => change({ q: withTerms(q, TIME_FIELDS, terms) || undefined });
  return (
    <>
      <div className={aboveListClass(pane.detail)}>
        <div className="flex min-h-9 shrink-0 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-3.5 py-1">
          <Segments
            label="Time"
            segments={TIMES}
            value={TIMES.find(({ id }) => timeOf(q) === (id === '' ? '' : `since:${id}`))?.id ?? 'other'}
            onChange={(id) => setTime(id === '' ? [] : [`since:${id}`])}
          />
          <span className="flex flex-wrap items-center gap-1">
            {states.map((state) => (
              <StateCount
                key={state.term}
                state={state}
                count={figures?.[state.figure]}
                isMore={figures?.countedFrom !== undefined}
                isOn={termsOf(q, state.term.split(':')[0] ?? '').includes(state.term)}
                onToggle={() => change({ q: toggledTerm(q, state.term) || undefined })}
              />
            ))}
          </span>
          {figures?.slowest && (
            <Durations figures={figures} onSlowest={(seq) => open(seq, duration && `-${duration.id}`)} />
          )}
          <span className="ml-auto flex items-center gap-2">
            <ViewsMenu name={name} presets={views} />
            <ColumnsMenu name={name} columns={columns} />
          </span>
        </div>
        <FailureNote error={figuresError} className="border-b border-line px-3.5 py-1" />
        {figures && hasAny(figures) && (
          <TimeStrip
            subject={label}
            figures={figures}
            changes={changes}
            states={states}
            onBrush={(from, to) => setTime([`since:${isoOf(from)}`, `until:${isoOf(to)}`])}
            onPick={(seq) => open(seq)}
          />
        )}
      </div>
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

function rangeOf(q: string, nowMs: number): { fromMs: number | undefined; toMs: number | undefined } {
  const limit = (sign: RegExp) =>
    termsOf(q, TIME_FIELDS).flatMap((term) =>
      sign.test(term) ? (momentOf(term.replace(sign, ''), nowMs) ?? []) : [],
    )[0];
  return { fromMs: limit(/^(since:|time:>=?)/), toMs: limit(/^(until:|time:<=?)/) };
}

const hasAny = ({ ok, refused, failed }: ListFigures) => ok + refused + failed > 0;

/** The durations of the events: a link to the slowest one, and the percentiles. */
function Durations({ figures, onSlowest }: { figures: ListFigures; onSlowest(seq: number): void }) {
  const { slowest, p50Ms = 0, p95Ms = 0, p99Ms = 0 } = figures;
  if (!slowest) return null;
  return (
    <span className="flex items-center gap-3">
      <span className="hidden text-muted xl:inline" title="Half, 95 % and 99 % took at most this long">
        p50 {durationText(p50Ms)} · p95 {durationText(p95Ms)} · p99 {durationText(p99Ms)}
      </span>
      <button type="button" className="link min-h-6 text-accent" onClick={() => onSlowest(slowest.seq)}>
        slowest {durationText(slowest.tookMs)}
      </button>
    </span>
  );
}

export function RecordedEvents<Row>(
  props: Omit<EventListProps<Row>, 'figures' | 'figuresError' | 'rowAt'> & {
    list: Pick<RecentList<Row>, 'source' | 'readAt'>;
  },
) {
  const { source, readAt } = props.list;
  const { data, error } = useFigures(source);
  return <EventList {...props} figures={data} figuresError={error} rowAt={readAt} />;
}

function isoOf(atMs: number): string {
  return new Date(Math.round(atMs)).toISOString();
}

/** The terms that limit the time of a query. Saved views of earlier versions have `time:>10m` for `since:10m`. */
function timeOf(q: string): string {
  return termsOf(q, TIME_FIELDS)
    .join()
    .replace(/^time:>=?/, 'since:');
}

interface StateCountProps {
  state: RowState;
  count: number | undefined;
  /** Are there more than were counted? */
  isMore: boolean;
  isOn: boolean;
  onToggle(): void;
}

function StateCount({ state: { is, text }, count, isMore, isOn, onToggle }: StateCountProps) {
  return (
    <button
      type="button"
      aria-pressed={isOn}
      className={`inline-flex h-6 items-center rounded border px-1.5 hover:bg-raised ${isOn ? 'border-accent bg-accent-soft' : 'border-transparent'}`}
      onClick={onToggle}
    >
      {/* No color when none failed. */}
      <State is={count === 0 || count === undefined ? 'idle' : is}>
        {count?.toLocaleString('en')}
        {isMore && '+'} {text}
      </State>
    </button>
  );
}
