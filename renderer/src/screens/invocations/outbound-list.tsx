import type { RecordedCall } from '../../../../server/contract/recorded-parts.ts';
import { isFailedCall } from '../../../../server/model/failed-call.ts';
import { outboundQuery } from '../../../../server/model/recorded-part-queries.ts';
import type { GridColumn } from '../../parts/data-grid.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { methodColumn, tookColumn } from '../../parts/list/call-columns.tsx';
import { timeColumn } from '../../parts/list/time-column.tsx';
import { State } from '../../parts/state.tsx';
import type { Happening } from '../../shell/list-screen.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { lambdaColumn } from './invocation-columns.tsx';
import { PartList } from './part-list.tsx';
import { useOutboundCalls } from './use-invocations.ts';

const HAPPENED: Happening<RecordedCall> = {
  pointOf: (call) => ({ atMs: Date.parse(call.startedAt), tookMs: call.durationMs, hasFailed: isFailedCall(call) }),
  states: [
    { is: 'ok', text: 'answered', term: 'is:ok', has: (call) => !isFailedCall(call) },
    { is: 'error', text: 'came to nothing', term: 'is:failed', has: isFailedCall },
  ],
  views: [
    { name: 'Came to nothing', search: { q: 'is:failed' } },
    { name: 'Slowest of the last minute', search: { q: 'time:>1m', sort: '-took' } },
    { name: 'Caught by the CRM stand-in', search: { q: 'caught:crm' } },
  ],
  query: {
    read: outboundQuery,
    example: 'is:failed url:crm.example dur:>200',
    suggestions: ['is:failed', 'time:>10m', 'dur:>200', 'caught:crm', 'method:post', 'body:"some text"'],
  },
};
const COLUMNS: readonly GridColumn<RecordedCall>[] = [
  {
    id: 'status',
    sortBy: ({ status }) => status,
    header: 'Status',
    width: 104,
    cell: (call) => <State is={isFailedCall(call) ? 'error' : 'ok'}>{call.status ?? 'no answer'}</State>,
  },
  timeColumn(({ startedAt }) => startedAt),
  lambdaColumn({ gives: 1 }),
  methodColumn({ gives: 3 }),
  {
    id: 'url',
    header: 'Address',
    width: { share: 3, minWidth: 160 },
    isMono: true,
    text: ({ url }) => url,
  },
  tookColumn({ gives: 4 }),
  {
    id: 'by',
    sortBy: ({ caughtBy }) => caughtBy,
    gives: 5,
    header: 'Decided by',
    width: { share: 1, minWidth: 100 },
    cell: ({ caughtBy, rules, error }) => (
      <span className="text-muted">{rules?.at(-1)?.text ?? (caughtBy ? 'CRM stand-in' : error)}</span>
    ),
  },
];

/** Whom lambdas called, newest first, and the invocation behind one of the calls. */
export function OutboundList() {
  return (
    <PartList
      name="outbound"
      label="Outbound calls"
      list={useOutboundCalls()}
      columns={COLUMNS}
      happened={HAPPENED}
      firstTab="outbound"
      empty={
        <EmptyState
          title="No lambda has called anybody yet"
          text="Every HTTP call that a lambda makes stands here once the invocation is over."
        >
          <PlaceLink to={{ screen: 'home' }}>Send the demo's form</PlaceLink>
        </EmptyState>
      }
    />
  );
}
