import { Pause, Play } from 'lucide-react';
import { useCallback, useMemo } from 'react';
import { live } from '../../api/live.ts';
import { Duration, Time } from '../../parts/amount.tsx';
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
import { conditionOf, excerptOf, invocationQuery, statusOf } from './invocation-words.ts';
import { type InvocationSummary, useInvocations } from './use-invocations.ts';
import { useLambdasInScope } from './use-lambdas-in-scope.ts';

const NONE: readonly InvocationSummary[] = [];
const SUGGESTIONS = ['status:error', 'dur:>200', 'trigger:gateway', 'start:cold', 'out:>0'];
const keyOf = ({ executionId }: InvocationSummary) => executionId;
const faultOf = (text: string) => {
  const query = invocationQuery(text);
  return query.ok ? undefined : query.fault;
};

/** What ran, newest first, and one of them in detail. */
export default function InvocationsScreen() {
  const [{ q = '', sel, scope }, change] = useSearch();
  const invocations = useInvocations();
  const lambdas = useLambdasInScope();
  const isPaused = useValue(live.isPaused);
  const all = invocations.data ?? NONE;
  const rows = useMemo(() => {
    const query = invocationQuery(q);
    const inScope = lambdas === undefined ? all : all.filter(({ lambdaId }) => lambdas.has(lambdaId));
    return query.ok && q !== '' ? inScope.filter(query.matches) : inScope;
  }, [all, q, lambdas]);
  const longest = useMemo(
    () => rows.slice(0, 500).reduce((most, { durationMs }) => Math.max(most, durationMs), 1),
    [rows],
  );
  const columns = useMemo(() => columnsFor(longest), [longest]);
  const select = useCallback((id: string) => change({ sel: id }), [change]);

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
            {rows.length === all.length
              ? all.length.toLocaleString('en')
              : `${rows.length.toLocaleString('en')} of ${all.length.toLocaleString('en')}`}
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
            hrefOf={({ executionId }) => hrefOf({ screen: 'invocations', search: { q, sel: executionId } }, scope)}
            isLoading={invocations.isPending}
            error={invocations.error}
            onRetry={() => void invocations.refetch()}
            isFiltered={q !== '' || (lambdas !== undefined && all.length > 0)}
            onClearFilter={() => change({ q: undefined, scope: undefined })}
            empty={
              <EmptyState title="Nothing has run yet" text="Every call of a lambda shows up here as soon as it ends.">
                <PlaceLink to={{ screen: 'home' }}>Send the demo's form</PlaceLink>
                <PlaceLink to={{ screen: 'lambdas' }}>Run a lambda by hand</PlaceLink>
              </EmptyState>
            }
          />
        }
        detail={sel === undefined ? undefined : <InvocationDetailPane key={sel} id={sel} />}
      />
    </ScreenFrame>
  );
}

function columnsFor(longestMs: number): readonly GridColumn<InvocationSummary>[] {
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
          <Bar share={row.durationMs / longestMs} isError={!row.outcome.ok} />
          <Duration ms={row.durationMs} />
        </span>
      ),
    },
    { id: 'out', header: 'Out', width: 44, align: 'end', cell: ({ outboundCalls }) => outboundCalls },
    {
      id: 'result',
      header: 'Result',
      width: { share: 2, minWidth: 120 },
      isMono: true,
      cell: (row) => <span className={row.outcome.ok ? '' : 'text-error'}>{excerptOf(row).slice(0, 200)}</span>,
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
