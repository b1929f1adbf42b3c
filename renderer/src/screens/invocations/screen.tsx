import { Pause, Play } from 'lucide-react';
import { useMemo } from 'react';
import { invocationQuery } from '../../../../server/model/recorded-queries.ts';
import { live } from '../../api/live.ts';
import { useNowMs } from '../../parts/amount.tsx';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { termsOf, withTerms } from '../../parts/list/query-terms.ts';
import { type Happening, ListScreen } from '../../shell/list-screen.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { useSearch } from '../../url.ts';
import { useValue } from '../../value-store.ts';
import { type InvocationRow, invocationColumns, keyOfInvocation } from './invocation-columns.tsx';
import { InvocationDetailPane } from './invocation-detail.tsx';
import { conditionOf } from './invocation-words.ts';
import { LineList } from './line-list.tsx';
import { ListChoice } from './list-choice.tsx';
import { OutboundList } from './outbound-list.tsx';
import { type InvocationSummary, type ShownBegun, useFilter, useInvocations } from './use-invocations.ts';

const HAPPENED: Happening<InvocationRow> = {
  pointOf: (row) => ({
    atMs: Date.parse(row.acceptedAt),
    tookMs: row.durationMs,
    hasFailed: conditionOf(row) === 'error',
  }),
  states: [
    { is: 'ok', text: 'ok', term: 'status:ok', has: (row) => conditionOf(row) === 'ok' },
    {
      is: 'error',
      text: 'failed',
      term: 'status:error',
      has: (row) => ['error', 'warning'].includes(conditionOf(row)),
    },
  ],
  views: [
    { name: 'Failed', search: { q: 'status:error' } },
    { name: 'Slowest of the last minute', search: { q: 'time:>1m', sort: '-duration' } },
    { name: 'Calls that came to nothing', search: { q: 'outbound:error' } },
    { name: 'Cold starts', search: { q: 'start:cold' } },
  ],
  query: {
    read: invocationQuery,
    example: 'status:error lambda:webform dur:>200',
    suggestions: [
      'status:error',
      'outbound:error',
      'time:>10m',
      'dur:>200',
      'trigger:gateway',
      'http:>=500',
      'start:cold',
      'log:"some text"',
    ],
  },
};
const NO_RUNNING: readonly ShownBegun[] = [];

/** What ran, or what it called, or what it printed. */
export default function InvocationsScreen() {
  const [{ list }] = useSearch();
  if (list === 'outbound') return <OutboundList />;
  return list === 'lines' ? <LineList /> : <InvocationList />;
}

/** What ran, newest first, and one of them in detail. */
function InvocationList() {
  const [{ q = '', sel, scope, lambda }] = useSearch();
  const { page, ...list } = useInvocations(useFilter());
  const isPaused = useValue(live.isPaused);
  const running = page?.running ?? NO_RUNNING;
  const nowMs = useNowMs();
  const { rows: ended } = list;
  const rows = useMemo<readonly InvocationRow[]>(() => {
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
  const columns = useMemo(() => invocationColumns(longest), [longest]);
  const isFiltered = q !== '' || scope !== undefined || lambda !== undefined;

  return (
    <ListScreen
      title="Invocations"
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
      name="invocations"
      label="Invocations"
      list={{ ...list, rows }}
      columns={columns}
      keyOf={keyOfInvocation}
      happened={HAPPENED}
      narrowedBy={['q', 'scope', 'lambda']}
      hasAny={list.total > 0}
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
