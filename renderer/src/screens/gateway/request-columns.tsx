import type { RecordedRequest } from '../../api/use-traffic.ts';
import { Duration } from '../../components/amount.tsx';
import type { GridColumn } from '../../components/data-grid.tsx';
import { methodColumn, tookColumn } from '../../components/list/call-columns.tsx';
import { timeColumn } from '../../components/list/time-column.tsx';
import { StatusState } from './status-state.tsx';

export const keyOfRequest = ({ seq }: RecordedRequest) => String(seq);

export const REQUEST_COLUMNS: readonly GridColumn<RecordedRequest>[] = [
  {
    id: 'status',
    sortBy: (row) => row.status,
    header: 'Status',
    width: 160,
    cell: ({ status, outboundFailures }) => <StatusState status={status} outboundFailures={outboundFailures} />,
  },
  timeColumn((row) => row.at, { hideOrder: 3 }),
  methodColumn({ hideOrder: 2 }),
  {
    id: 'target',
    header: 'Target',
    width: { share: 3, minWidth: 160 },
    isMono: true,
    text: ({ target }) => target,
  },
  tookColumn({ hideOrder: 4 }),
  {
    id: 'behind',
    sortBy: (row) => row.upstreamMs,
    hideOrder: 6,
    header: 'Upstream',
    width: 92,
    align: 'end',
    isMuted: true,
    cell: ({ upstreamMs }) => <Duration ms={upstreamMs} />,
  },
  {
    id: 'by',
    hideOrder: 5,
    header: 'Handled by',
    width: 112,
    cell: (request) => <AnsweredBy request={request} />,
  },
];

/** The invocation, a container, or the gateway itself, which refused it. */
function AnsweredBy({ request: { plane, executionId, endpointId, upstreamMs } }: { request: RecordedRequest }) {
  if (executionId !== undefined) return <span className="mono text-accent">{executionId.slice(0, 8)}</span>;
  if (plane === 'control') return <span className="text-muted">platform</span>;
  return <span className="text-muted">{endpointId !== undefined && upstreamMs > 0 ? 'container' : 'gateway'}</span>;
}
