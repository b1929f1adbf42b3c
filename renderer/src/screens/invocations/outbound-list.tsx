import type { RecordedCall } from '../../../../server/api/routes/recorded.ts';
import { outboundQuery } from '../../../../server/api/routes/recorded-queries.ts';
import { isFailedCall } from '../../../../server/model/failed-call.ts';
import { MOCK_TITLES } from '../../../../server/model/invocation.ts';
import type { GridColumn } from '../../components/data-grid.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { methodColumn, tookColumn } from '../../components/list/call-columns.tsx';
import { timeColumn } from '../../components/list/time-column.tsx';
import { State } from '../../components/state.tsx';
import type { EventKind } from '../../shell/list-screen.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { lambdaColumn } from './invocation-columns.tsx';
import { resultOf } from './invocation-words.ts';
import { PartList } from './part-list.tsx';
import { useOutboundCalls } from './use-invocations.ts';

const OUTBOUND_CALLS: EventKind<RecordedCall> = {
  atMsOf: ({ startedAt }) => Date.parse(startedAt),
  states: [
    { is: 'ok', text: 'ok', term: 'is:ok', figure: 'ok' },
    { is: 'error', text: 'failed', term: 'is:failed', figure: 'failed' },
  ],
  views: [
    { name: 'Failed calls', search: { q: 'is:failed' } },
    { name: 'Slowest of the last minute', search: { q: 'since:1m', sort: '-took' } },
    { name: 'Caught by the mock CRM', search: { q: 'caught:crm' } },
    { name: 'Sent to hosts outside this machine', search: { q: 'is:left' } },
    { name: 'Blocked', search: { q: 'is:blocked' } },
  ],
  query: {
    read: outboundQuery,
    example: 'is:failed url:crm.example dur:>200',
    suggestions: [
      'is:failed',
      'is:left',
      'is:blocked',
      'since:10m',
      'dur:>200',
      'caught:crm',
      'method:post',
      'body:"some text"',
    ],
  },
};
const COLUMNS: readonly GridColumn<RecordedCall>[] = [
  {
    id: 'status',
    sortBy: ({ status }) => status,
    header: 'Status',
    width: 104,
    cell: (call) => <State is={isFailedCall(call) ? 'error' : 'ok'}>{resultOf(call)}</State>,
  },
  timeColumn(({ startedAt }) => startedAt),
  lambdaColumn({ hideOrder: 1 }),
  methodColumn({ hideOrder: 3 }),
  {
    id: 'url',
    header: 'Address',
    width: { share: 3, minWidth: 160 },
    isMono: true,
    text: ({ url }) => url,
  },
  tookColumn({ hideOrder: 4 }),
  {
    id: 'by',
    sortBy: ({ caughtBy }) => caughtBy,
    hideOrder: 5,
    header: 'Decided by',
    width: { share: 1, minWidth: 100 },
    cell: ({ caughtBy, rules, error }) => (
      <span className="text-muted">{rules?.at(-1)?.text ?? (caughtBy ? MOCK_TITLES[caughtBy] : error)}</span>
    ),
  },
];

export function OutboundList() {
  return (
    <PartList
      name="outbound"
      label="Outbound calls"
      list={useOutboundCalls()}
      columns={COLUMNS}
      events={OUTBOUND_CALLS}
      firstTab="outbound"
      empty={
        <EmptyState
          title="No outbound calls yet"
          text="Calls and connections of lambdas appear here when the invocation has finished."
        >
          <PlaceLink to={{ screen: 'home' }}>Send the demo's form</PlaceLink>
        </EmptyState>
      }
    />
  );
}
