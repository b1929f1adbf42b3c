import { Pause, Play } from 'lucide-react';
import { useMemo } from 'react';
import { invocationQuery } from '../../../../server/model/recorded-queries.ts';
import { live } from '../../api/live.ts';
import { useMarks } from '../../api/marks.ts';
import { Duration, useNowMs } from '../../parts/amount.tsx';
import { counted } from '../../parts/amounts.ts';
import { Button } from '../../parts/button.tsx';
import type { GridColumn } from '../../parts/data-grid.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ListPane, type RowState } from '../../parts/list/list-pane.tsx';
import { termsOf, withTerms } from '../../parts/list/query-terms.ts';
import { timeColumn } from '../../parts/list/time-column.tsx';
import { QueryBar } from '../../parts/query-bar.tsx';
import { State } from '../../parts/state.tsx';
import type { SavedView } from '../../preferences/preferences.ts';
import { PlaceLink } from '../../shell/place-link.tsx';
import { ScreenFrame } from '../../shell/screen-frame.tsx';
import { hrefOf, useSearch } from '../../url.ts';
import { useValue } from '../../value-store.ts';
import { InvocationDetailPane } from './invocation-detail.tsx';
import { conditionOf, statusOf } from './invocation-words.ts';
import { LineList } from './line-list.tsx';
import { ListChoice } from './list-choice.tsx';
import { OutboundList } from './outbound-list.tsx';
import { type BegunInvocation, type InvocationSummary, useInvocations } from './use-invocations.ts';

const SUGGESTIONS = [
  'status:error',
  'outbound:error',
  'time:>10m',
  'dur:>200',
  'trigger:gateway',
  'http:>=500',
  'start:cold',
  'log:"some text"',
];

/** One that has ended, or one that waits or runs. */
type Row = Pick<
  InvocationSummary,
  'executionId' | 'lambdaId' | 'lambdaName' | 'trigger' | 'acceptedAt' | 'excerpt' | 'durationMs'
> &
  Partial<InvocationSummary>;

const STATES: readonly RowState<Row>[] = [
  { is: 'ok', text: 'ok', term: 'status:ok', has: (row) => conditionOf(row) === 'ok' },
  {
    is: 'error',
    text: 'failed',
    term: 'status:error',
    has: (row) => ['error', 'warning'].includes(conditionOf(row)),
  },
];
const VIEWS: readonly SavedView[] = [
  { name: 'Failed', search: { q: 'status:error' } },
  { name: 'Slowest of the last minute', search: { q: 'time:>1m', sort: '-duration' } },
  { name: 'Calls that came to nothing', search: { q: 'outbound:error' } },
  { name: 'Cold starts', search: { q: 'start:cold' } },
];
const pointOf = (row: Row) => ({
  atMs: Date.parse(row.acceptedAt),
  tookMs: row.durationMs,
  hasFailed: conditionOf(row) === 'error',
});
const NO_RUNNING: readonly BegunInvocation[] = [];
const keyOf = ({ executionId }: Row) => executionId;
const faultOf = (text: string) => {
  const query = invocationQuery(text, Date.now());
  return query.ok ? undefined : query.fault;
};

/** What ran, or what it called, or what it printed. */
export default function InvocationsScreen() {
  const [{ list }] = useSearch();
  if (list === 'outbound') return <OutboundList />;
  return list === 'lines' ? <LineList /> : <InvocationList />;
}

/** What ran, newest first, and one of them in detail. */
function InvocationList() {
  const marks = useMarks();
  const [{ q = '', sel, scope, lambda, sort }, change] = useSearch();
  const { page, ...list } = useInvocations({ q: q || undefined, scope, lambda });
  const isPaused = useValue(live.isPaused);
  const running = page?.running ?? NO_RUNNING;
  const nowMs = useNowMs();
  const { rows: ended } = list;
  const rows = useMemo<readonly Row[]>(() => {
    // A time has to be now to have what runs; nothing else of a query can be said of it yet.
    if (
      running.length === 0 ||
      withTerms(q, 'time', []) !== '' ||
      termsOf(q, 'time').some((term) => term.includes('<'))
    )
      return ended;
    const begun = running.map((one) => ({
      ...one,
      excerpt: '',
      durationMs: Math.max(0, nowMs - Date.parse(one.acceptedAt)),
    }));
    return [...begun.reverse(), ...ended];
  }, [running, ended, q, nowMs]);
  const longest = useMemo(
    () => ended.slice(0, 500).reduce((most, { durationMs }) => Math.max(most, durationMs), 1),
    [ended],
  );
  const columns = useMemo(() => columnsFor(longest), [longest]);
  const isFiltered = q !== '' || scope !== undefined || lambda !== undefined;

  return (
    <ScreenFrame
      title="Invocations"
      bar={
        <QueryBar
          what="invocations"
          faultOf={faultOf}
          example="status:error lambda:webform dur:>200"
          suggestions={SUGGESTIONS}
        />
      }
      actions={
        <>
          <ListChoice />
          <span className="text-muted" role="status">
            {countText(ended.length, list.total, isFiltered, list.hasMore)}
          </span>
          <Button icon={isPaused ? Play : Pause} shortcut="p" onPress={() => live.togglePause()}>
            {isPaused ? 'Go on' : 'Pause'}
          </Button>
        </>
      }
    >
      <ListPane
        name="invocations"
        label="Invocations"
        list={{ ...list, rows }}
        columns={columns}
        keyOf={keyOf}
        pointOf={pointOf}
        states={STATES}
        marks={marks}
        views={VIEWS}
        hrefOf={({ executionId }) =>
          hrefOf({ screen: 'invocations', search: { q, lambda, sort, sel: executionId } }, scope)
        }
        isFiltered={isFiltered && list.total > 0}
        onClearFilter={() => change({ q: undefined, scope: undefined, lambda: undefined })}
        empty={
          <EmptyState title="Nothing has run yet" text="Every call of a lambda shows up here as soon as it begins.">
            <PlaceLink to={{ screen: 'home' }}>Send the demo's form</PlaceLink>
            <PlaceLink to={{ screen: 'lambdas' }}>Run a lambda by hand</PlaceLink>
          </EmptyState>
        }
        detailLabel="Invocation"
        detail={
          sel === undefined ? undefined : (
            <InvocationDetailPane
              key={sel}
              id={sel}
              isRunning={running.some(({ executionId }) => executionId === sel)}
              previousId={previousOf(ended, sel)}
            />
          )
        }
      />
    </ScreenFrame>
  );
}

/** The one of the same lambda that ended before it. */
function previousOf(rows: readonly InvocationSummary[], id: string): string | undefined {
  const at = rows.findIndex(({ executionId }) => executionId === id);
  const lambdaId = rows[at]?.lambdaId;
  return at < 0 ? undefined : rows.find((one, index) => index > at && one.lambdaId === lambdaId)?.executionId;
}

function countText(shown: number, total: number, isFiltered: boolean, hasMore: boolean): string {
  const [some, all] = [shown.toLocaleString('en'), total.toLocaleString('en')];
  return isFiltered ? `${some}${hasMore ? '+' : ''} of ${all}` : all;
}

function columnsFor(longestMs: number): readonly GridColumn<Row>[] {
  return [
    {
      id: 'status',
      sortBy: (row) => statusOf(row),
      header: 'Status',
      width: 104,
      cell: (row) => <State is={conditionOf(row)}>{statusOf(row)}</State>,
    },
    timeColumn((row) => row.acceptedAt),
    {
      id: 'lambda',
      sortBy: (row) => row.lambdaName,
      header: 'Lambda',
      width: { share: 1, minWidth: 110 },
      cell: ({ lambdaName }) => lambdaName,
    },
    {
      id: 'trigger',
      sortBy: (row) => row.trigger,
      gives: 5,
      header: 'Trigger',
      width: 80,
      cell: ({ trigger }) => <span className="text-muted">{trigger}</span>,
    },
    {
      id: 'duration',
      sortBy: (row) => row.durationMs,
      gives: 2,
      header: 'Duration',
      width: 136,
      align: 'end',
      cell: (row) => (
        <span className="inline-flex items-center gap-2">
          <Bar share={Math.min(1, row.durationMs / longestMs)} isError={conditionOf(row) === 'error'} />
          <Duration ms={row.durationMs} />
        </span>
      ),
    },
    {
      id: 'http',
      sortBy: (row) => row.httpStatus,
      gives: 4,
      header: 'HTTP',
      width: 52,
      align: 'end',
      cell: ({ httpStatus }) => <span className="text-muted">{httpStatus}</span>,
    },
    {
      id: 'out',
      sortBy: (row) => row.outboundFailures || row.outboundCalls,
      gives: 3,
      header: 'Out',
      width: 64,
      align: 'end',
      cell: ({ outboundCalls, outboundFailures }) =>
        outboundFailures ? (
          <span
            className="text-error"
            title={`${outboundFailures} of ${counted(outboundCalls ?? outboundFailures, 'call')} came to nothing`}
          >
            {outboundFailures} of {outboundCalls}
          </span>
        ) : (
          outboundCalls
        ),
    },
    {
      id: 'result',
      sortBy: (row) => row.excerpt,
      gives: 1,
      header: 'Result',
      width: { share: 2, minWidth: 120 },
      isMono: true,
      cell: ({ excerpt, outcome }) => <span className={outcome?.ok === false ? 'text-error' : ''}>{excerpt}</span>,
    },
    {
      id: 'id',
      gives: 6,
      header: 'Execution',
      width: 84,
      isMono: true,
      cell: ({ executionId }) => <span className="text-faint">{executionId.slice(0, 8)}</span>,
    },
  ];
}

const BAR_PX = 48;

function Bar({ share, isError }: { share: number; isError: boolean }) {
  return (
    <svg aria-hidden width={BAR_PX} height={6}>
      <rect
        x={BAR_PX - Math.max(3, share * BAR_PX)}
        width={Math.max(3, share * BAR_PX)}
        height={6}
        rx={3}
        fill={isError ? 'var(--error)' : 'var(--span-handler)'}
      />
    </svg>
  );
}
