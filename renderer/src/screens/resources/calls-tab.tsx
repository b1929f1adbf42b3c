import { useCallback } from 'react';
import type { TreeNode } from '../../api/tree.ts';
import { type RecordedRequest, useTraffic } from '../../api/use-traffic.ts';
import { DataGrid } from '../../components/data-grid.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import type { WindowLocation } from '../../url.ts';
import { keyOfRequest, REQUEST_COLUMNS } from '../gateway/request-columns.tsx';
import { type InvocationRow, invocationColumns, keyOfInvocation } from '../invocations/invocation-columns.tsx';
import { useInvocations } from '../invocations/use-invocations.ts';

/** The requests to an endpoint, or the invocations of a lambda. Live; Enter opens one in full. */
export function CallsTab({ resource }: { resource: TreeNode }) {
  return (
    <div className="flex h-full min-h-0 flex-col">
      {resource.word === 'lambdas' ? <Invocations lambda={resource.id} /> : <Requests endpoint={resource.id} />}
    </div>
  );
}

const LONG_MS = 1_000;
/** The columns for the invocations of one lambda. */
const INVOCATION_COLUMNS = invocationColumns(LONG_MS).filter(({ id }) => id !== 'lambda');
const placeOfRequest = (row: RecordedRequest): WindowLocation => ({
  screen: 'gateway',
  search: { sel: keyOfRequest(row) },
});

function Invocations({ lambda }: { lambda: string }) {
  const placeOf = useCallback(
    (row: InvocationRow): WindowLocation => ({ screen: 'invocations', search: { lambda, sel: keyOfInvocation(row) } }),
    [lambda],
  );
  return (
    <DataGrid
      label="Invocations"
      list={useInvocations({ lambda })}
      columns={INVOCATION_COLUMNS}
      keyOf={keyOfInvocation}
      placeOf={placeOf}
      empty={
        <EmptyState title="Never invoked" text="Invocations of this lambda appear here when they have finished.">
          <PlaceLink to={{ screen: 'lambdas', id: lambda }}>Run the lambda</PlaceLink>
        </EmptyState>
      }
    />
  );
}

function Requests({ endpoint }: { endpoint: string }) {
  return (
    <DataGrid
      label="Requests"
      list={useTraffic({ endpoint })}
      columns={REQUEST_COLUMNS}
      keyOf={keyOfRequest}
      placeOf={placeOfRequest}
      empty={<EmptyState title="Never called" text="Requests to its public address appear here." />}
    />
  );
}
