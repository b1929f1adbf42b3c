import { useCallback } from 'react';
import { useAllOfType } from '../../api/all-of-type.ts';
import { parentIdOf } from '../../api/resource-kinds.ts';
import { type PlatformRecord, useScope } from '../../api/world.ts';
import { Time } from '../../parts/amount.tsx';
import { DataGrid, type GridColumn } from '../../parts/data-grid.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { SplitPane } from '../../parts/split-pane.tsx';
import { Badge } from '../../parts/state.tsx';
import { ScreenFrame } from '../../shell/screen-frame.tsx';
import { hrefOf, useGo, usePlaceId, useSearch } from '../../url.ts';
import { Workbench } from './workbench.tsx';

const keyOf = ({ id }: PlatformRecord) => id;
const COLUMNS: readonly GridColumn<PlatformRecord>[] = [
  {
    id: 'name',
    header: 'Name',
    width: { share: 2, minWidth: 120 },
    cell: ({ name }) => <span className="font-medium">{name}</span>,
  },
  {
    id: 'runtime',
    header: 'Runtime',
    width: 84,
    cell: ({ properties }) => <Badge>{String(properties.runtime)}</Badge>,
  },
  {
    id: 'changed',
    header: 'Changed',
    width: 100,
    align: 'end',
    cell: ({ modified }) => <span className="text-muted">{modified && <Time at={modified.timestamp} />}</span>,
  },
];

/** Every lambda, and a workbench for one of them. */
export default function LambdasScreen() {
  const id = usePlaceId();
  const [{ scope: scopeId }] = useSearch();
  const go = useGo();
  const { scope } = useScope();
  const lambdas = useAllOfType('lambdas');
  const rows = scope.environment
    ? lambdas.records.filter((lambda) => parentIdOf(lambda) === scope.environment?.id)
    : lambdas.records;
  const select = useCallback((next: string) => go({ screen: 'lambdas', id: next }), [go]);
  const chosen = lambdas.records.find((lambda) => lambda.id === id);
  const list = (
    <DataGrid
      label="Lambdas"
      rows={rows}
      columns={COLUMNS}
      keyOf={keyOf}
      selectedKey={id}
      onSelect={select}
      hrefOf={(lambda) => hrefOf({ screen: 'lambdas', id: lambda.id }, scopeId)}
      isLoading={lambdas.isPending}
      error={lambdas.error}
      onRetry={lambdas.refetch}
      empty={
        <EmptyState
          title="No lambdas"
          text="A lambda is created below an environment, by the API or `terrarium apply`."
        />
      }
    />
  );
  return (
    <ScreenFrame title="Lambdas" bar={<span className="text-muted">{rows.length}</span>}>
      <SplitPane
        name="lambdas"
        fixed="list"
        width={360}
        list={list}
        detailLabel="Workbench"
        detail={
          chosen ? (
            <Workbench key={chosen.id} lambda={chosen} />
          ) : lambdas.isPending ? (
            <Skeleton />
          ) : id === undefined ? (
            <EmptyState
              title="Choose a lambda"
              text="Its code, an event to try it with, its log and its endpoints show up here."
            />
          ) : (
            <EmptyState title="This lambda is not there" text="It was deleted, or it is outside of the scope." />
          )
        }
      />
    </ScreenFrame>
  );
}
