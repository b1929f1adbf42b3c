import { Pause, Play } from 'lucide-react';
import { useCallback, useMemo } from 'react';
import { invocationQuery } from '../../../../server/model/recorded-queries.ts';
import { live } from '../../api/live.ts';
import { Duration, Time, useNowMs } from '../../parts/amount.tsx';
import { Button } from '../../parts/button.tsx';
import { DataGrid, type GridColumn } from '../../parts/data-grid.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { QueryBar } from '../../parts/query-bar.tsx';
import { SplitPane } from '../../parts/split-pane.tsx';
import { State } from '../../parts/state.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { ScreenFrame } from '../../shell/screen-frame.tsx';
import { hrefOf, useSearch } from '../../url.ts';
import { useValue } from '../../value-store.ts';
import { InvocationDetailPane } from './invocation-detail.tsx';
import { conditionOf, statusOf } from './invocation-words.ts';
import { type BegunInvocation, type InvocationSummary, useInvocations } from './use-invocations.ts';

const SUGGESTIONS = [
  'status:error',
  'outbound:error',
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

const NO_RUNNING: readonly BegunInvocation[] = [];
const keyOf = ({ executionId }: Row) => executionId;
const faultOf = (text: string) => {
  const query = invocationQuery(text);
  return query.ok ? undefined : query.fault;
};

/** What ran, newest first, and one of them in detail. */
export default function InvocationsScreen() {
  const [{ q = '', sel, scope, lambda }, change] = useSearch();
  const { page, ...list } = useInvocations({ q: q || undefined, scope, lambda });
  const isPaused = useValue(live.isPaused);
  const running = page?.running ?? NO_RUNNING;
  const nowMs = useNowMs();
  const { rows: ended } = list;
  const rows = useMemo<readonly Row[]>(() => {
    if (running.length === 0 || q !== '') return ended;
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
  const select = useCallback((id: string) => change({ sel: id }), [change]);
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
          <span className="text-muted" role="status">
            {countText(ended.length, list.total, isFiltered, list.hasMore)}
          </span>
          <Button icon={isPaused ? Play : Pause} shortcut="p" onPress={() => live.togglePause()}>
            {isPaused ? 'Go on' : 'Pause'}
          </Button>
        </>
      }
    >
      <SplitPane
        name="invocations"
        detailLabel="Invocation"
        list={
          <DataGrid
            label="Invocations"
            rows={rows}
            columns={columns}
            keyOf={keyOf}
            selectedKey={sel}
            onSelect={select}
            hrefOf={({ executionId }) =>
              hrefOf({ screen: 'invocations', search: { q, lambda, sel: executionId } }, scope)
            }
            onNearEnd={list.loadMore}
            isLoading={list.isPending || (list.hasMore && rows.length === 0)}
            error={list.error}
            onRetry={list.refetch}
            isFiltered={isFiltered && list.total > 0}
            onClearFilter={() => change({ q: undefined, scope: undefined, lambda: undefined })}
            empty={
              <EmptyState title="Nothing has run yet" text="Every call of a lambda shows up here as soon as it begins.">
                <PlaceLink to={{ screen: 'home' }}>Send the demo's form</PlaceLink>
                <PlaceLink to={{ screen: 'lambdas' }}>Run a lambda by hand</PlaceLink>
              </EmptyState>
            }
          />
        }
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
    { id: 'status', header: 'Status', width: 104, cell: (row) => <State is={conditionOf(row)}>{statusOf(row)}</State> },
    {
      id: 'time',
      header: 'Time',
      width: 104,
      isMono: true,
      cell: ({ acceptedAt }) => (
        <span className="text-muted">
          <Time at={acceptedAt} as="clock" />
        </span>
      ),
    },
    { id: 'lambda', header: 'Lambda', width: { share: 1, minWidth: 110 }, cell: ({ lambdaName }) => lambdaName },
    {
      id: 'trigger',
      header: 'Trigger',
      width: 80,
      cell: ({ trigger }) => <span className="text-muted">{trigger}</span>,
    },
    {
      id: 'duration',
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
      header: 'HTTP',
      width: 52,
      align: 'end',
      cell: ({ httpStatus }) => <span className="text-muted">{httpStatus}</span>,
    },
    {
      id: 'out',
      header: 'Out',
      width: 64,
      align: 'end',
      cell: ({ outboundCalls, outboundFailures }) =>
        outboundFailures ? (
          <span className="text-error" title={`${outboundFailures} of ${outboundCalls} calls came to nothing`}>
            {outboundFailures} of {outboundCalls}
          </span>
        ) : (
          outboundCalls
        ),
    },
    {
      id: 'result',
      header: 'Result',
      width: { share: 2, minWidth: 120 },
      isMono: true,
      cell: ({ excerpt, outcome }) => <span className={outcome?.ok === false ? 'text-error' : ''}>{excerpt}</span>,
    },
    {
      id: 'id',
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
