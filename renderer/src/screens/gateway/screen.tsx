import { X } from 'lucide-react';
import { useCallback } from 'react';
import { exchangeQuery } from '../../../../server/model/recorded-queries.ts';
import { type RecordedRequest, useTraffic } from '../../api/traffic.ts';
import { Duration, Time } from '../../parts/amount.tsx';
import { Button } from '../../parts/button.tsx';
import { DataGrid, type GridColumn } from '../../parts/data-grid.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { QueryBar } from '../../parts/query-bar.tsx';
import { Segments } from '../../parts/segments.tsx';
import { SplitPane } from '../../parts/split-pane.tsx';
import { Badge } from '../../parts/state.tsx';
import { ScreenFrame } from '../../shell/screen-frame.tsx';
import { hrefOf, useGo, useSearch } from '../../url.ts';
import { EndpointsTable } from './endpoints-table.tsx';
import { ExchangeDetail } from './exchange-detail.tsx';
import { StatusState } from './status-state.tsx';

const keyOf = ({ seq }: RecordedRequest) => String(seq);
const faultOf = (text: string) => {
  const query = exchangeQuery(text);
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
    header: 'Status',
    width: 128,
    cell: ({ status, outboundFailures }) => <StatusState status={status} outboundFailures={outboundFailures} />,
  },
  {
    id: 'time',
    header: 'Time',
    width: 116,
    isMono: true,
    cell: ({ at }) => (
      <span className="text-muted">
        <Time at={at} as="clock" />
      </span>
    ),
  },
  { id: 'method', header: 'Method', width: 76, cell: ({ method }) => <Badge>{method}</Badge> },
  { id: 'target', header: 'Target', width: { share: 3, minWidth: 160 }, isMono: true, cell: ({ target }) => target },
  { id: 'took', header: 'Took', width: 84, align: 'end', cell: ({ durationMs }) => <Duration ms={durationMs} /> },
  {
    id: 'behind',
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
    header: 'Answered by',
    width: 112,
    cell: (request) => <AnsweredBy request={request} />,
  },
];

/** Beside a detail: what one needs to tell the rows apart. */
const NARROW_COLUMNS = COLUMNS.filter(({ id }) => id !== 'behind');

/** The public endpoints above what comes in. */
export default function GatewayScreen() {
  const [{ q = '', sel, scope, plane = 'gateway', endpoint }, change] = useSearch();
  const go = useGo();
  const traffic = useTraffic({ q: q || undefined, scope, endpoint, plane: plane === 'all' ? undefined : plane });
  const { rows } = traffic;
  const select = useCallback((key: string) => change({ sel: key }), [change]);
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
      <EndpointsTable />
      <SplitPane
        name="traffic"
        detailLabel="Request"
        list={
          <DataGrid
            label="Requests"
            rows={rows}
            columns={sel === undefined ? COLUMNS : NARROW_COLUMNS}
            keyOf={keyOf}
            selectedKey={sel}
            onSelect={select}
            onOpen={({ executionId }) => executionId && go({ screen: 'invocations', search: { sel: executionId } })}
            hrefOf={(request) =>
              hrefOf({ screen: 'gateway', search: { q, plane, endpoint, sel: keyOf(request) } }, scope)
            }
            onNearEnd={traffic.loadMore}
            isLoading={traffic.isPending || (traffic.hasMore && rows.length === 0)}
            error={traffic.error}
            onRetry={traffic.refetch}
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
          />
        }
        detail={sel !== undefined && /^\d+$/.test(sel) ? <ExchangeDetail key={sel} seq={Number(sel)} /> : undefined}
      />
    </ScreenFrame>
  );
}

/** The invocation, a container, or the gateway itself, which refused it. */
function AnsweredBy({ request: { plane, executionId, endpointId, upstreamMs } }: { request: RecordedRequest }) {
  if (executionId !== undefined) return <span className="mono text-accent">{executionId.slice(0, 8)}</span>;
  if (plane === 'control') return <span className="text-muted">platform</span>;
  return <span className="text-muted">{endpointId !== undefined && upstreamMs > 0 ? 'container' : 'gateway'}</span>;
}
