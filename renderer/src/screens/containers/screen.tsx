import { useCallback } from 'react';
import { useAllOfType } from '../../api/all-of-type.ts';
import { usePlatformStatus } from '../../api/platform-status.ts';
import { parentIdOf } from '../../api/resource-kinds.ts';
import { type PlatformRecord, useScope } from '../../api/world.ts';
import { Time } from '../../parts/amount.tsx';
import { DataGrid, type GridColumn } from '../../parts/data-grid.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Select } from '../../parts/fields.tsx';
import { SplitPane } from '../../parts/split-pane.tsx';
import { State } from '../../parts/state.tsx';
import { ScreenFrame } from '../../shell/screen-frame.tsx';
import { hrefOf, useGo, usePlaceId, useSearch } from '../../url.ts';
import { ContainerDetail } from './container-detail.tsx';
import { conditionOf, statusOf } from './container-status.ts';

const keyOf = ({ id }: PlatformRecord) => id;
const SHOWN = [
  { id: 'all', text: 'All' },
  { id: 'running', text: 'Running' },
  { id: 'stopped', text: 'Stopped' },
];
const COLUMNS: readonly GridColumn<PlatformRecord>[] = [
  {
    id: 'status',
    header: 'Status',
    width: 124,
    cell: (record) => <State is={conditionOf(record)}>{statusOf(record).toLowerCase()}</State>,
  },
  {
    id: 'name',
    header: 'Name',
    width: { share: 2, minWidth: 120 },
    cell: ({ name }) => <span className="font-medium">{name}</span>,
  },
  {
    id: 'image',
    header: 'Image',
    width: { share: 3, minWidth: 130 },
    isMono: true,
    cell: ({ properties }) => String(properties.image ?? ''),
  },
  {
    id: 'instances',
    header: 'Instances',
    width: 84,
    align: 'end',
    cell: ({ properties }) => `${String(properties.tasks_running ?? 0)}/${String(properties.num_instances ?? 1)}`,
  },
  { id: 'cpu', header: 'CPU', width: 56, align: 'end', cell: ({ properties }) => String(properties.cpus ?? '') },
  {
    id: 'memory',
    header: 'Memory',
    width: 84,
    align: 'end',
    cell: ({ properties }) => `${String(properties.memory ?? '')} MB`,
  },
  {
    id: 'age',
    header: 'Created',
    width: 96,
    align: 'end',
    cell: ({ created }) => <span className="text-muted">{created && <Time at={created.timestamp} />}</span>,
  },
];

/** Every container, how it is, and one of them in detail. */
export default function ContainersScreen() {
  const id = usePlaceId();
  const [{ show = 'all', sel, scope: scopeId }, change] = useSearch();
  const go = useGo();
  const { scope } = useScope();
  const engines = usePlatformStatus().data?.engines;
  const containers = useAllOfType('containers');
  const chosenId = id ?? sel;
  const rows = containers.records.filter((record) => {
    if (scope.environment && parentIdOf(record) !== scope.environment.id) return false;
    const isStopped = statusOf(record) === 'SUSPENDED' || record.properties.num_instances === 0;
    return show === 'all' || (show === 'stopped') === isStopped;
  });
  const select = useCallback(
    (next: string) => go({ screen: 'containers', id: next, search: { show: show === 'all' ? undefined : show } }),
    [go, show],
  );
  const ready = engines?.some(({ state }) => state === 'ready');
  const chosen = containers.records.find((record) => record.id === chosenId);
  return (
    <ScreenFrame
      title="Containers"
      bar={
        <>
          <Select
            label="Show"
            isLabelHidden
            options={SHOWN}
            value={show}
            onChange={(next) => change({ show: next === 'all' ? undefined : next })}
            className="w-32"
          />
          <span className="text-muted">{rows.length}</span>
        </>
      }
      actions={
        engines && (
          <State is={ready ? 'ok' : 'warning'}>
            {ready ? engines.find(({ state }) => state === 'ready')?.version : 'no engine is ready'}
          </State>
        )
      }
    >
      {engines && !ready && rows.length > 0 && (
        <p role="status" className="border-b border-warn/40 bg-warn-soft px-3.5 py-1.5">
          No container engine is ready{engines[0]?.reason && `: ${engines[0].reason}`}. Records stay as they are and run
          as soon as one is; lambdas and the gateway go on.
        </p>
      )}
      <SplitPane
        name="containers"
        detailLabel="Container"
        list={
          <DataGrid
            label="Containers"
            rows={rows}
            columns={COLUMNS}
            keyOf={keyOf}
            selectedKey={chosenId}
            onSelect={select}
            hrefOf={(record) => hrefOf({ screen: 'containers', id: record.id }, scopeId)}
            isLoading={containers.isPending}
            error={containers.error}
            onRetry={containers.refetch}
            isFiltered={containers.records.length > 0}
            onClearFilter={() => change({ show: undefined, scope: undefined })}
            empty={
              engines && !ready ? (
                <EmptyState
                  title="No container engine"
                  text={`${engines[0]?.reason ?? 'None is attached'}. Start Docker, or name an engine with --containers-engine; it is tried again by itself. Lambdas and the gateway work without.`}
                />
              ) : (
                <EmptyState
                  title="No containers"
                  text="A container is created below an environment: by the API, a seed, or a pipeline that deploys."
                />
              )
            }
          />
        }
        detail={
          chosen && <ContainerDetail key={chosen.id} record={chosen} onClose={() => go({ screen: 'containers' })} />
        }
      />
    </ScreenFrame>
  );
}
