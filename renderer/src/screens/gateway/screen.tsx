import { Send, X } from 'lucide-react';
import { useState } from 'react';
import { exchangeQuery, howItWent } from '../../../../server/model/recorded-queries.ts';
import { type RecordedRequest, useTraffic } from '../../api/traffic.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Segments } from '../../parts/segments.tsx';
import type { SavedRequest } from '../../preferences/preferences.ts';
import { type Happening, ListScreen } from '../../shell/list-screen.tsx';
import { useGo, useSearch } from '../../url.ts';
import { EndpointsTable } from './endpoints-table.tsx';
import { ExchangeDetail } from './exchange-detail.tsx';
import { keyOfRequest, REQUEST_COLUMNS } from './request-columns.tsx';
import { NEW_REQUEST, SendDialog } from './send-dialog.tsx';

const PLANES = [
  { id: 'gateway', text: 'Public endpoints' },
  { id: 'control', text: 'Management API' },
  { id: 'all', text: 'All' },
];

const HAPPENED: Happening<RecordedRequest> = {
  pointOf: (row) => ({ atMs: Date.parse(row.at), tookMs: row.durationMs, hasFailed: howItWent(row) === 'failed' }),
  states: [
    { is: 'ok', text: 'answered', term: 'is:ok', has: (row) => howItWent(row) === 'ok' },
    { is: 'warning', text: 'refused', term: 'is:refused', has: (row) => howItWent(row) === 'refused' },
    { is: 'error', text: 'failed', term: 'is:failed', has: (row) => howItWent(row) === 'failed' },
  ],
  views: [
    { name: 'Refused or failed', search: { q: 'status:>=400' } },
    { name: 'Slowest of the last minute', search: { q: 'time:>1m', sort: '-took' } },
    { name: 'Answered 200, yet a call failed', search: { q: 'outbound:error' } },
    { name: 'Rate limited', search: { q: 'status:429' } },
  ],
  query: {
    what: 'traffic',
    read: exchangeQuery,
    example: 'status:>=500 method:post dur:>200',
    suggestions: ['status:>=500', 'outbound:error', 'status:401', 'method:post', 'dur:>200', 'body:"some text"'],
  },
};

/** The public endpoints above what comes in. */
export default function GatewayScreen() {
  const [{ q, sel, scope, plane = 'gateway', endpoint }, change] = useSearch();
  const go = useGo();
  const [written, setWritten] = useState<SavedRequest>();
  const traffic = useTraffic({ q: q || undefined, scope, endpoint, plane: plane === 'all' ? undefined : plane });
  const { rows } = traffic;
  return (
    <ListScreen
      title="Gateway"
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
      above={<EndpointsTable onSend={setWritten} />}
      name="traffic"
      label="Requests"
      list={traffic}
      columns={REQUEST_COLUMNS}
      keyOf={keyOfRequest}
      happened={HAPPENED}
      onOpen={({ executionId }) => executionId && go({ screen: 'invocations', search: { sel: executionId } })}
      narrowedBy={['q', 'scope', 'endpoint']}
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
    >
      {written && <SendDialog first={written} onClose={() => setWritten(undefined)} />}
    </ListScreen>
  );
}
