import { Plus } from 'lucide-react';
import { useCallback, useMemo } from 'react';
import { usePlatformStatus } from '../../api/platform-status.ts';
import { DataGrid } from '../../parts/data-grid.tsx';
import { FilterField } from '../../parts/fields.tsx';
import { parseSorting, sortedRows } from '../../parts/grid-layout.ts';
import { Segments } from '../../parts/segments.tsx';
import { SplitPane } from '../../parts/split-pane.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { ScreenFrame } from '../../shell/screen-frame.tsx';
import { hrefOf, useGo, usePlaceId, useSearch } from '../../url.ts';
import { CONTAINER_COLUMNS } from './container-columns.tsx';
import { ContainerDetail } from './container-detail.tsx';
import { referenceName } from './container-place.ts';
import { isUp } from './container-status.ts';
import { NoContainers, NoEngine, NoEngineBanner } from './empty-screens.tsx';
import { type ContainerRow, useContainers } from './use-containers.ts';

const keyOf = ({ record }: ContainerRow) => record.id;

/** Every container and job, how it is, and one of them in detail. */
export default function ContainersScreen() {
  const placeId = usePlaceId();
  const [{ show = 'all', sel, q = '', sort, scope: scopeId }, change] = useSearch();
  const go = useGo();
  const engines = usePlatformStatus().data?.engines;
  const { rows: all, ...list } = useContainers();
  const chosenId = placeId ?? sel;
  const chosen = all.find(({ record }) => record.id === chosenId);

  const running = all.filter(({ record }) => isUp(record)).length;
  const shown = [
    { id: 'all', text: `All ${all.length}` },
    { id: 'running', text: `Running ${running}` },
    { id: 'stopped', text: `Stopped ${all.length - running}` },
  ];
  const rows = useMemo(() => {
    const text = q.trim().toLowerCase();
    const some = all.filter(
      ({ record }) => (show === 'all' || (show === 'running') === isUp(record)) && textOf(record).includes(text),
    );
    return sortedRows(some, CONTAINER_COLUMNS, parseSorting(sort));
  }, [all, show, q, sort]);
  const filters = useMemo(
    () => ({ show: show === 'all' ? undefined : show, q: q || undefined, sort }),
    [show, q, sort],
  );
  const select = useCallback((id: string) => go({ screen: 'containers', id, search: filters }), [go, filters]);

  const isReady = engines?.some(({ state }) => state === 'ready');
  const isAway = engines !== undefined && !isReady && !engines.some(({ state }) => state === 'connecting');
  return (
    <ScreenFrame
      title="Containers"
      bar={
        <>
          <Segments
            label="Which containers"
            segments={shown}
            value={show}
            onChange={(next) => change({ show: next === 'all' ? undefined : next })}
          />
          <FilterField
            label="Find containers"
            placeholder="Name, image or environment"
            value={q}
            onChange={(next) => change({ q: next || undefined })}
            className="max-w-64 min-w-28 flex-1"
          />
        </>
      }
      actions={
        <PlaceLink
          to={{ screen: 'resources', id: scopeId, search: { new: 'containers' } }}
          className="flex h-7 items-center gap-1.5 rounded-md border border-line-strong px-2.5 hover:bg-raised"
        >
          <Plus aria-hidden size={14} />
          New container
        </PlaceLink>
      }
    >
      {isAway && all.length > 0 && <NoEngineBanner engines={engines} />}
      <SplitPane
        name="containers"
        detailLabel="Container"
        onClose={() => go({ screen: 'containers', search: filters })}
        list={
          <DataGrid
            label="Containers"
            rows={rows}
            columns={CONTAINER_COLUMNS}
            sort={sort}
            onSort={(next) => change({ sort: next })}
            keyOf={keyOf}
            selectedKey={chosenId}
            onSelect={select}
            hrefOf={({ record }) => hrefOf({ screen: 'containers', id: record.id, search: filters }, scopeId)}
            rowHeight={32}
            isLoading={list.isPending}
            error={list.error}
            onRetry={list.refetch}
            isFiltered={all.length > 0}
            onClearFilter={() => change({ show: undefined, q: undefined })}
            empty={isAway ? <NoEngine engines={engines} /> : <NoContainers />}
          />
        }
        detail={
          chosen && (
            <ContainerDetail
              key={chosen.record.id}
              row={chosen}
              onClose={() => go({ screen: 'containers', search: filters })}
            />
          )
        }
      />
    </ScreenFrame>
  );
}

const textOf = ({ name, properties }: ContainerRow['record']) =>
  `${name} ${String(properties.image)} ${referenceName(properties.parent)}`.toLowerCase();
