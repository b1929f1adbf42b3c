import { Pause, Play } from 'lucide-react';
import { useMemo } from 'react';
import { invocationQuery } from '../../../../server/api/routes/recorded-queries.ts';
import { live } from '../../api/live.ts';
import { amountOf, useFigures } from '../../api/use-figures.ts';
import { useNowMs } from '../../components/amount.tsx';
import { Button } from '../../components/button.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { TIME_FIELDS, termsOf, withTerms } from '../../components/list/query-terms.ts';
import { type EventKind, RecordedScreen } from '../../shell/list-screen.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { useSearch } from '../../url.ts';
import { useValue } from '../../value-store.ts';
import { type InvocationRow, invocationColumns, keyOfInvocation } from './invocation-columns.tsx';
import { InvocationDetailPane } from './invocation-detail-pane.tsx';
import { LineList } from './line-list.tsx';
import { ListChoice } from './list-choice.tsx';
import { OutboundList } from './outbound-list.tsx';
import { type InvocationSummary, type ShownStarted, useFilter, useInvocations } from './use-invocations.ts';

const INVOCATIONS: EventKind<InvocationRow> = {
  atMsOf: ({ acceptedAt }) => Date.parse(acceptedAt),
  states: [
    { is: 'ok', text: 'ok', term: 'status:ok', figure: 'ok' },
    { is: 'error', text: 'failed', term: 'status:failed', figure: 'failed' },
  ],
  views: [
    { name: 'Failed', search: { q: 'status:failed' } },
    { name: 'Slowest of the last minute', search: { q: 'since:1m', sort: '-duration' } },
    { name: 'Failed outbound calls', search: { q: 'outbound:error' } },
    { name: 'Cold starts', search: { q: 'start:cold' } },
  ],
  query: {
    read: invocationQuery,
    example: 'status:failed lambda:webform dur:>200',
    suggestions: [
      'status:failed',
      'outbound:error',
      'since:10m',
      'dur:>200',
      'trigger:gateway',
      'http:>=500',
      'start:cold',
      'log:"some text"',
    ],
  },
};
const NO_RUNNING: readonly ShownStarted[] = [];

export default function InvocationsScreen() {
  const [{ list }] = useSearch();
  if (list === 'outbound') return <OutboundList />;
  return list === 'lines' ? <LineList /> : <InvocationList />;
}

function InvocationList() {
  const [{ q = '', sel, scope, lambda }] = useSearch();
  const { page, ...list } = useInvocations(useFilter());
  const { data: figures } = useFigures(list.source);
  const isPaused = useValue(live.isPaused);
  const running = page?.running ?? NO_RUNNING;
  const nowMs = useNowMs();
  const { rows: ended } = list;
  const rows = useMemo<readonly InvocationRow[]>(() => {
    // A time has to be now to have what runs; nothing else of a query can be said of it yet.
    if (
      running.length === 0 ||
      withTerms(q, TIME_FIELDS, []) !== '' ||
      termsOf(q, TIME_FIELDS).some((term) => /<|^until/.test(term))
    )
      return ended;
    const runningRows = running.map((invocation) => ({
      ...invocation,
      excerpt: '',
      durationMs: Math.max(0, nowMs - Date.parse(invocation.acceptedAt)),
    }));
    return [...runningRows.reverse(), ...ended];
  }, [running, ended, q, nowMs]);
  const longest = useMemo(
    () => ended.slice(0, 500).reduce((most, { durationMs }) => Math.max(most, durationMs), 1),
    [ended],
  );
  const columns = useMemo(() => invocationColumns(longest), [longest]);
  const isFiltered = q !== '' || scope !== undefined || lambda !== undefined;

  return (
    <RecordedScreen
      title="Invocations"
      actions={
        <>
          <ListChoice />
          <span className="text-muted" role="status">
            {isFiltered && figures && `${amountOf(figures)} of `}
            {list.total.toLocaleString('en')}
          </span>
          <Button icon={isPaused ? Play : Pause} shortcut="p" onPress={() => live.togglePause()}>
            {isPaused ? 'Resume' : 'Pause'}
          </Button>
        </>
      }
      name="invocations"
      label="Invocations"
      list={{ ...list, rows }}
      columns={columns}
      keyOf={keyOfInvocation}
      events={INVOCATIONS}
      narrowedBy={['q', 'scope', 'lambda']}
      hasAny={list.total > 0}
      empty={
        <EmptyState title="No invocations yet" text="Invocations appear here as soon as they start.">
          <PlaceLink to={{ screen: 'home' }}>Send the demo's form</PlaceLink>
          <PlaceLink to={{ screen: 'lambdas' }}>Run a lambda</PlaceLink>
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
  );
}

/** The one of the same lambda that ended before it. */
function previousOf(rows: readonly InvocationSummary[], id: string): string | undefined {
  const at = rows.findIndex(({ executionId }) => executionId === id);
  const lambdaId = rows[at]?.lambdaId;
  return at < 0 ? undefined : rows.find((row, index) => index > at && row.lambdaId === lambdaId)?.executionId;
}
