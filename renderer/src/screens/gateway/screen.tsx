import { Send, X } from 'lucide-react';
import { useState } from 'react';
import { exchangeQuery, howItWent } from '../../../../server/model/recorded-queries.ts';
import { useMarks } from '../../api/marks.ts';
import { type RecordedRequest, useTraffic } from '../../api/traffic.ts';
import { Duration } from '../../parts/amount.tsx';
import { Button } from '../../parts/button.tsx';
import type { GridColumn } from '../../parts/data-grid.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ListPane, type RowState } from '../../parts/list/list-pane.tsx';
import { timeColumn } from '../../parts/list/time-column.tsx';
import { QueryBar } from '../../parts/query-bar.tsx';
import { Segments } from '../../parts/segments.tsx';
import { Badge } from '../../parts/state.tsx';
import type { SavedRequest, SavedView } from '../../preferences/preferences.ts';
import { ScreenFrame } from '../../shell/screen-frame.tsx';
import { hrefOf, useGo, useSearch } from '../../url.ts';
import { EndpointsTable } from './endpoints-table.tsx';
import { ExchangeDetail } from './exchange-detail.tsx';
import { NEW_REQUEST, SendDialog } from './send-dialog.tsx';
import { StatusState } from './status-state.tsx';

const keyOf = ({ seq }: RecordedRequest) => String(seq);
const faultOf = (text: string) => {
  const query = exchangeQuery(text, Date.now());
  return query.ok ? undefined : query.fault;
};
const PLANES = [
  { id: 'gateway', text: 'Public endpoints' },
  { id: 'control', text: 'Management API' },
  { id: 'all', text: 'All' },
];

const COLUMNS: readonly GridColumn<RecordedRequest>[] = [
  {
    id: 'status',
    sortBy: (row) => row.status,
    header: 'Status',
    width: 128,
    cell: ({ status, outboundFailures }) => <StatusState status={status} outboundFailures={outboundFailures} />,
  },
  timeColumn((row) => row.at, { gives: 3 }),
  {
    id: 'method',
    gives: 2,
    sortBy: (row) => row.method,
    header: 'Method',
    width: 76,
    cell: ({ method }) => <Badge>{method}</Badge>,
  },
  {
    id: 'target',
    sortBy: (row) => row.target,
    header: 'Target',
    width: { share: 3, minWidth: 160 },
    isMono: true,
    cell: ({ target }) => target,
  },
  {
    id: 'took',
    sortBy: (row) => row.durationMs,
    gives: 4,
    header: 'Took',
    width: 84,
    align: 'end',
    cell: ({ durationMs }) => <Duration ms={durationMs} />,
  },
  {
    id: 'behind',
    sortBy: (row) => row.upstreamMs,
    gives: 6,
    header: 'Behind it',
    width: 92,
    align: 'end',
    cell: ({ upstreamMs }) => (
      <span className="text-muted">
        <Duration ms={upstreamMs} />
      </span>
    ),
  },
  {
    id: 'by',
    gives: 5,
    header: 'Answered by',
    width: 112,
    cell: (request) => <AnsweredBy request={request} />,
  },
];

const pointOf = (row: RecordedRequest) => ({
  atMs: Date.parse(row.at),
  tookMs: row.durationMs,
  hasFailed: howItWent(row) === 'failed',
});
const STATES: readonly RowState<RecordedRequest>[] = [
  { is: 'ok', text: 'answered', term: 'is:ok', has: (row) => howItWent(row) === 'ok' },
  { is: 'warning', text: 'refused', term: 'is:refused', has: (row) => howItWent(row) === 'refused' },
  { is: 'error', text: 'failed', term: 'is:failed', has: (row) => howItWent(row) === 'failed' },
];
const VIEWS: readonly SavedView[] = [
  { name: 'Refused or failed', search: { q: 'status:>=400' } },
  { name: 'Slowest of the last minute', search: { q: 'time:>1m', sort: '-took' } },
  { name: 'Answered 200, yet a call failed', search: { q: 'outbound:error' } },
  { name: 'Rate limited', search: { q: 'status:429' } },
];

/** The public endpoints above what comes in. */
export default function GatewayScreen() {
  const marks = useMarks();
  const [{ q = '', sel, sort, scope, plane = 'gateway', endpoint }, change] = useSearch();
  const go = useGo();
  const [written, setWritten] = useState<SavedRequest>();
  const traffic = useTraffic({ q: q || undefined, scope, endpoint, plane: plane === 'all' ? undefined : plane });
  const { rows } = traffic;
  return (
    <ScreenFrame
      title="Gateway"
      bar={
        <QueryBar
          what="traffic"
          faultOf={faultOf}
          example="status:>=500 method:post dur:>200"
          suggestions={['status:>=500', 'outbound:error', 'status:401', 'method:post', 'dur:>200', 'body:"some text"']}
        />
      }
      actions={
        <>
          {endpoint !== undefined && (
            <Button icon={X} onPress={() => change({ endpoint: undefined })}>
              One endpoint only
            </Button>
          )}
          <Button icon={Send} onPress={() => setWritten(NEW_REQUEST)}>
            Send a request
          </Button>
          <Segments
            label="Which requests"
            segments={PLANES}
            value={plane}
            onChange={(id) => change({ plane: id === 'gateway' ? undefined : id, endpoint: undefined, sel: undefined })}
          />
          <span className="text-muted" role="status">
            {rows.length.toLocaleString('en')}
            {traffic.hasMore && '+'} of {traffic.total.toLocaleString('en')}
          </span>
        </>
      }
    >
      <EndpointsTable onSend={setWritten} />
      <ListPane
        name="traffic"
        label="Requests"
        list={traffic}
        columns={COLUMNS}
        keyOf={keyOf}
        pointOf={pointOf}
        states={STATES}
        marks={marks}
        views={VIEWS}
        onOpen={({ executionId }) => executionId && go({ screen: 'invocations', search: { sel: executionId } })}
        hrefOf={(request) =>
          hrefOf({ screen: 'gateway', search: { q, plane, endpoint, sort, sel: keyOf(request) } }, scope)
        }
        isFiltered={q !== '' || scope !== undefined || endpoint !== undefined}
        onClearFilter={() => change({ q: undefined, scope: undefined, endpoint: undefined })}
        empty={
          <EmptyState
            title="No request yet"
            text={
              plane === 'control'
                ? 'Whatever a client asks of the management API shows up here; what this window asks does not.'
                : 'Whatever comes in at a public address shows up here. Enter opens the invocation behind it.'
            }
          />
        }
        detailLabel="Request"
        detail={
          sel !== undefined && /^\d+$/.test(sel) ? (
            <ExchangeDetail key={sel} seq={Number(sel)} onSend={setWritten} />
          ) : undefined
        }
      />
      {written && <SendDialog first={written} onClose={() => setWritten(undefined)} />}
    </ScreenFrame>
  );
}

/** The invocation, a container, or the gateway itself, which refused it. */
function AnsweredBy({ request: { plane, executionId, endpointId, upstreamMs } }: { request: RecordedRequest }) {
  if (executionId !== undefined) return <span className="mono text-accent">{executionId.slice(0, 8)}</span>;
  if (plane === 'control') return <span className="text-muted">platform</span>;
  return <span className="text-muted">{endpointId !== undefined && upstreamMs > 0 ? 'container' : 'gateway'}</span>;
}
