import { Send, X } from 'lucide-react';
import { useState } from 'react';
import { exchangeQuery } from '../../../../server/api/routes/recorded-queries.ts';
import { amountOf, useFigures } from '../../api/use-figures.ts';
import { type RecordedRequest, useTraffic } from '../../api/use-traffic.ts';
import { Button } from '../../components/button.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Segments } from '../../components/segments.tsx';
import { type EventKind, RecordedScreen } from '../../shell/list-screen.tsx';
import { useGo, useSearch } from '../../url.ts';
import { EndpointsTable } from './endpoints-table.tsx';
import { ExchangeDetail } from './exchange-detail.tsx';
import { keyOfRequest, REQUEST_COLUMNS } from './request-columns.tsx';
import { NEW_REQUEST, SendDialog } from './send-dialog.tsx';
import type { FirstRequest } from './use-saved-requests.ts';

const PLANES = [
  { id: 'gateway', text: 'Public endpoints' },
  { id: 'control', text: 'Management API' },
  { id: 'all', text: 'All' },
];

const REQUESTS: EventKind<RecordedRequest> = {
  atMsOf: ({ at }) => Date.parse(at),
  states: [
    { is: 'ok', text: 'ok', term: 'is:ok', figure: 'ok' },
    { is: 'warning', text: 'rejected', term: 'is:rejected', figure: 'refused' },
    { is: 'error', text: 'failed', term: 'is:failed', figure: 'failed' },
  ],
  views: [
    { name: 'Rejected or failed', search: { q: 'status:>=400' } },
    { name: 'Slowest of the last minute', search: { q: 'since:1m', sort: '-took' } },
    { name: '200, but an outbound call failed', search: { q: 'outbound:error' } },
    { name: 'Rate limited', search: { q: 'status:429' } },
  ],
  query: {
    subject: 'traffic',
    read: exchangeQuery,
    example: 'status:>=500 method:post dur:>200',
    suggestions: ['status:>=500', 'outbound:error', 'status:401', 'method:post', 'dur:>200', 'body:"some text"'],
  },
};

/** The public endpoints above the list of requests. */
export default function GatewayScreen() {
  const [{ q, sel, scope, plane = 'gateway', endpoint, dialog }, change] = useSearch();
  const go = useGo();
  const [written, setWritten] = useState<FirstRequest>();
  const traffic = useTraffic({ q: q || undefined, scope, endpoint, plane: plane === 'all' ? undefined : plane });
  const { data: figures } = useFigures(traffic.source);
  return (
    <RecordedScreen
      title="Gateway"
      isOpenToAll={plane === 'control'}
      withheld={<Button onPress={() => change({ plane: 'control' })}>Show your requests to the management API</Button>}
      actions={
        <>
          {endpoint !== undefined && (
            <Button icon={X} onPress={() => change({ endpoint: undefined })}>
              One endpoint only
            </Button>
          )}
          <Button icon={Send} needs="all" onPress={() => setWritten(NEW_REQUEST)}>
            Send a request
          </Button>
          <Segments
            label="Which requests"
            segments={PLANES}
            value={plane}
            onChange={(id) => change({ plane: id === 'gateway' ? undefined : id, endpoint: undefined, sel: undefined })}
          />
          <span className="text-muted" role="status">
            {figures && `${amountOf(figures)} of `}
            {traffic.total.toLocaleString('en')}
          </span>
        </>
      }
      above={<EndpointsTable onSend={setWritten} />}
      name="traffic"
      label="Requests"
      list={traffic}
      columns={REQUEST_COLUMNS}
      keyOf={keyOfRequest}
      events={REQUESTS}
      onOpen={({ executionId }) => executionId && go({ screen: 'invocations', search: { sel: executionId } })}
      narrowedBy={['q', 'scope', 'endpoint']}
      empty={
        <EmptyState
          title="No requests yet"
          text={
            plane === 'control'
              ? 'Requests of clients to the management API appear here. Requests of this window are not recorded.'
              : 'Requests to public endpoints appear here. Press Enter to open the invocation of a request.'
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
      {(written || dialog === 'send') && (
        <SendDialog
          first={written ?? NEW_REQUEST}
          onClose={() => {
            setWritten(undefined);
            change({ dialog: undefined });
          }}
        />
      )}
    </RecordedScreen>
  );
}
