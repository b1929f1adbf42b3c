import { type ReactNode, useCallback, useMemo } from 'react';
import { type RecordedRequest, useTraffic } from '../../api/traffic.ts';
import type { TreeNode } from '../../api/tree.ts';
import { Duration, Time } from '../../parts/amount.tsx';
import { DataGrid, type GridColumn } from '../../parts/data-grid.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { State } from '../../parts/state.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { hrefOf, type Place, useGo, useSearch } from '../../url.ts';
import { conditionOf, statusOf } from '../invocations/invocation-words.ts';
import { type InvocationSummary, useInvocations } from '../invocations/use-invocations.ts';

/** What was asked of this resource: requests to an endpoint, invocations of a lambda. Live; Enter opens one in full. */
export function CallsTab({ resource }: { resource: TreeNode }) {
  return resource.word === 'lambdas' ? <Invocations lambda={resource.id} /> : <Requests endpoint={resource.id} />;
}

function Invocations({ lambda }: { lambda: string }) {
  const [{ scope }] = useSearch();
  const list = useInvocations({ lambda });
  const placeOf = useCallback(
    ({ executionId }: InvocationSummary): Place => ({ screen: 'invocations', search: { lambda, sel: executionId } }),
    [lambda],
  );
  return (
    <Calls
      label="Invocations"
      list={list}
      columns={INVOCATION_COLUMNS}
      keyOf={executionIdOf}
      placeOf={placeOf}
      scope={scope}
      empty={
        <EmptyState title="Never invoked" text="Each call of this lambda shows up here as soon as it has ended.">
          <PlaceLink to={{ screen: 'lambdas', id: lambda }}>Run it by hand</PlaceLink>
        </EmptyState>
      }
    />
  );
}

function Requests({ endpoint }: { endpoint: string }) {
  const [{ scope }] = useSearch();
  const list = useTraffic({ endpoint });
  const placeOf = useCallback(
    ({ seq }: RecordedRequest): Place => ({ screen: 'gateway', search: { sel: String(seq) } }),
    [],
  );
  return (
    <Calls
      label="Requests"
      list={list}
      columns={REQUEST_COLUMNS}
      keyOf={seqOf}
      placeOf={placeOf}
      scope={scope}
      empty={<EmptyState title="Never called" text="Each request to its public address shows up here." />}
    />
  );
}

interface CallsProps<Row> {
  label: string;
  list: {
    rows: readonly Row[];
    total: number;
    isPending: boolean;
    hasMore: boolean;
    error: unknown;
    refetch(): void;
    loadMore(): void;
  };
  columns: readonly GridColumn<Row>[];
  keyOf(row: Row): string;
  placeOf(row: Row): Place;
  scope: string | undefined;
  empty: ReactNode;
}

function Calls<Row>({ label, list, columns, keyOf, placeOf, scope, empty }: CallsProps<Row>) {
  const [{ sel }, change] = useSearch();
  const go = useGo();
  const select = useCallback((key: string) => change({ sel: key }), [change]);
  const open = useMemo(() => (row: Row) => go(placeOf(row)), [go, placeOf]);
  return (
    <div className="flex h-full min-h-0 flex-col">
      <DataGrid
        label={label}
        rows={list.rows}
        columns={columns}
        keyOf={keyOf}
        selectedKey={sel}
        onSelect={select}
        onOpen={open}
        hrefOf={(row) => hrefOf(placeOf(row), scope)}
        onNearEnd={list.loadMore}
        isLoading={list.isPending || (list.hasMore && list.rows.length === 0)}
        error={list.error}
        onRetry={list.refetch}
        empty={empty}
      />
    </div>
  );
}

const executionIdOf = ({ executionId }: InvocationSummary) => executionId;
const seqOf = ({ seq }: RecordedRequest) => String(seq);

const INVOCATION_COLUMNS: readonly GridColumn<InvocationSummary>[] = [
  {
    id: 'status',
    header: 'Status',
    width: 110,
    cell: (row) => <State is={conditionOf(row)}>{statusOf(row)}</State>,
  },
  { id: 'time', header: 'Time', width: 104, cell: ({ acceptedAt }) => <Time at={acceptedAt} as="clock" /> },
  { id: 'trigger', header: 'Trigger', width: 96, cell: ({ trigger }) => <span className="text-muted">{trigger}</span> },
  {
    id: 'duration',
    header: 'Duration',
    width: 88,
    align: 'end',
    cell: ({ durationMs }) => <Duration ms={durationMs} />,
  },
  {
    id: 'excerpt',
    header: 'Result',
    width: { share: 1, minWidth: 120 },
    isMono: true,
    cell: ({ excerpt }) => <span className="text-muted">{excerpt}</span>,
  },
];

const REQUEST_COLUMNS: readonly GridColumn<RecordedRequest>[] = [
  {
    id: 'status',
    header: 'Status',
    width: 110,
    cell: ({ status }) => (
      <State is={status === undefined || status >= 500 ? 'error' : status >= 400 ? 'warning' : 'ok'}>
        {status ?? 'no answer'}
      </State>
    ),
  },
  { id: 'time', header: 'Time', width: 104, cell: ({ at }) => <Time at={at} as="clock" /> },
  { id: 'method', header: 'Method', width: 76, isMono: true, cell: ({ method }) => method },
  { id: 'target', header: 'Target', width: { share: 1, minWidth: 140 }, isMono: true, cell: ({ target }) => target },
  {
    id: 'duration',
    header: 'Duration',
    width: 88,
    align: 'end',
    cell: ({ durationMs }) => <Duration ms={durationMs} />,
  },
];
