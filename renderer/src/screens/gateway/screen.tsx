import { useCallback, useMemo } from 'react';
import { useAllOfType } from '../../api/all-of-type.ts';
import { type GatewayRequest, useTraffic } from '../../api/traffic.ts';
import { referenceId } from '../../api/world.ts';
import { Duration, Time, useNowMs } from '../../parts/amount.tsx';
import { Copy } from '../../parts/copy.tsx';
import { DataGrid, type GridColumn } from '../../parts/data-grid.tsx';
import { EmptyState, ErrorState } from '../../parts/empty-state.tsx';
import { Meter } from '../../parts/meter.tsx';
import { QueryBar } from '../../parts/query-bar.tsx';
import { Badge, State } from '../../parts/state.tsx';
import { parseQuery, type QueryField } from '../../query/query-language.ts';
import { PlaceLink } from '../../shell/place-link.tsx';
import { ScreenFrame } from '../../shell/screen-frame.tsx';
import { hrefOf, useGo, useSearch } from '../../url.ts';
import { limitOf, recentCounts } from './endpoint-limits.ts';

const NONE: readonly GatewayRequest[] = [];
const keyOf = ({ at, target, peer, executionId }: GatewayRequest) => `${at} ${executionId ?? `${peer} ${target}`}`;

const FIELDS: readonly QueryField<GatewayRequest>[] = [
  { name: 'status', valueOf: ({ status }) => status },
  { name: 'method', valueOf: ({ method }) => method },
  { name: 'path', valueOf: ({ target }) => target },
  { name: 'dur', valueOf: ({ durationMs }) => durationMs },
  { name: 'peer', valueOf: ({ peer }) => peer },
];
const readQuery = (text: string) =>
  parseQuery(text, FIELDS, ({ method, target, status, peer }) => `${method} ${target} ${status ?? ''} ${peer}`);
const faultOf = (text: string) => {
  const query = readQuery(text);
  return query.ok ? undefined : query.fault;
};

const COLUMNS: readonly GridColumn<GatewayRequest>[] = [
  {
    id: 'status',
    header: 'Status',
    width: 92,
    cell: ({ status }) => (
      <State is={status === undefined || status >= 500 ? 'error' : status >= 400 ? 'warning' : 'ok'}>
        {status ?? 'no answer'}
      </State>
    ),
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
    id: 'invocation',
    header: 'Invocation',
    width: 104,
    isMono: true,
    cell: ({ executionId }) => <span className="text-accent">{executionId?.slice(0, 8)}</span>,
  },
];

/** The public endpoints above what comes in. */
export default function GatewayScreen() {
  const [{ q = '', sel, scope }, change] = useSearch();
  const go = useGo();
  const traffic = useTraffic();
  const endpoints = useAllOfType('apiendpoints');
  const nowMs = useNowMs();
  const all = traffic.data?.requests ?? NONE;
  const counts = useMemo(() => recentCounts(all, nowMs), [all, nowMs]);
  const rows = useMemo(() => {
    const ids = new Set(endpoints.records.map(({ id }) => id));
    const inScope =
      scope === undefined ? all : all.filter(({ endpointId }) => endpointId !== undefined && ids.has(endpointId));
    const query = readQuery(q);
    return query.ok && q !== '' ? inScope.filter(query.matches) : inScope;
  }, [all, q, scope, endpoints.records]);
  const select = useCallback((key: string) => change({ sel: key }), [change]);
  const invocationOf = ({ executionId }: GatewayRequest) => ({
    screen: 'invocations' as const,
    search: { sel: executionId },
  });
  return (
    <ScreenFrame
      title="Gateway"
      bar={
        <QueryBar
          what="traffic"
          faultOf={faultOf}
          example="status:500 method:post dur:>200"
          suggestions={['status:500', 'method:post', 'dur:>200']}
        />
      }
      actions={<span className="text-muted">{rows.length.toLocaleString('en')} kept</span>}
    >
      <section aria-label="Endpoints" className="max-h-[42%] shrink-0 overflow-auto border-b border-line bg-panel">
        {endpoints.error ? (
          <ErrorState error={endpoints.error} onRetry={endpoints.refetch} />
        ) : endpoints.records.length === 0 && !endpoints.isPending ? (
          <p className="px-4 py-3 text-muted">
            Nothing is published yet: an endpoint of an API gives a lambda or a container a public address.
          </p>
        ) : (
          <table className="w-full">
            <thead>
              <tr className="h-7 text-left text-[11.5px] text-faint">
                <th className="px-3.5 font-normal">Methods</th>
                <th className="px-2 font-normal">Public address</th>
                <th className="px-2 font-normal">Target</th>
                <th className="px-2 font-normal">Limit</th>
              </tr>
            </thead>
            <tbody>
              {endpoints.records.map((endpoint) => {
                const {
                  methods,
                  public_url: url,
                  implementation_type: kind,
                  implementation_id: target,
                } = endpoint.properties;
                const limit = limitOf(endpoint);
                const targetId = referenceId(target);
                return (
                  <tr key={endpoint.id} className="h-[30px] border-t border-line/55">
                    <td className="px-3.5 whitespace-nowrap">{Array.isArray(methods) ? methods.join(' ') : 'any'}</td>
                    <td className="px-2">
                      <span className="mono flex items-center">
                        {typeof url === 'string' ? url : '-'}
                        {typeof url === 'string' && <Copy text={url} what="public address" className="scale-90" />}
                      </span>
                    </td>
                    <td className="px-2">
                      {targetId && (
                        <PlaceLink to={{ screen: kind === 'lambda' ? 'lambdas' : 'containers', id: targetId }}>
                          {String(kind)}
                        </PlaceLink>
                      )}{' '}
                      <PlaceLink to={{ screen: 'resources', id: endpoint.id }} className="text-muted hover:text-text">
                        {endpoint.name}
                      </PlaceLink>
                    </td>
                    <td className="px-2 whitespace-nowrap">
                      {limit === undefined ? (
                        <span className="text-faint">none</span>
                      ) : (
                        <Meter
                          label={`Requests of ${endpoint.name} in the last minute`}
                          value={counts.get(endpoint.id) ?? 0}
                          max={limit}
                          text={`${counts.get(endpoint.id) ?? 0}/${limit} a minute`}
                        />
                      )}
                    </td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        )}
      </section>
      <DataGrid
        label="Requests"
        rows={rows}
        columns={COLUMNS}
        keyOf={keyOf}
        selectedKey={sel}
        onSelect={select}
        onOpen={(request) => request.executionId && go(invocationOf(request))}
        hrefOf={(request) =>
          hrefOf(
            request.executionId ? invocationOf(request) : { screen: 'gateway', search: { q, sel: keyOf(request) } },
            scope,
          )
        }
        isLoading={traffic.isPending}
        error={traffic.error}
        onRetry={() => void traffic.refetch()}
        isFiltered={q !== '' || (scope !== undefined && all.length > 0)}
        onClearFilter={() => change({ q: undefined, scope: undefined })}
        empty={
          <EmptyState
            title="No request yet"
            text="Whatever comes in at a public address shows up here. Enter opens the invocation behind it."
          />
        }
      />
    </ScreenFrame>
  );
}
