import { Plus } from 'lucide-react';
import { useCallback, useMemo } from 'react';
import { OnResource } from '../../api/permissions.tsx';
import { usePlatformStatus } from '../../api/use-platform-status.ts';
import { FindField } from '../../components/find-field.tsx';
import { Segments } from '../../components/segments.tsx';
import { ListScreen } from '../../shell/list-screen.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { useGo, usePlaceId, useSearch } from '../../url.ts';
import { CONTAINER_COLUMNS } from './container-columns.tsx';
import { ContainerDetail } from './container-detail.tsx';
import { referenceName } from './container-place.ts';
import { isUp } from './container-status.ts';
import { NoContainers, NoEngine, NoEngineBanner } from './empty-screens.tsx';
import { type ContainerRow, useContainers } from './use-containers.ts';

const keyOf = ({ record }: ContainerRow) => record.id;

export default function ContainersScreen() {
  const placeId = usePlaceId();
  const [{ show = 'all', sel, q = '', sort, scope: scopeId }, change] = useSearch();
  const go = useGo();
  const engines = usePlatformStatus().data?.engines;
  const { rows: all, ...list } = useContainers();
  const chosenId = placeId ?? sel;
  const chosen = all.find(({ record }) => record.id === chosenId);

  const running = all.filter(({ record }) => isUp(record)).length;
  const segments = [
    { id: 'all', text: `All ${all.length}` },
    { id: 'running', text: `Running ${running}` },
    { id: 'stopped', text: `Stopped ${all.length - running}` },
  ];
  const rows = useMemo(() => {
    const text = q.trim().toLowerCase();
    return all.filter(
      ({ record }) => (show === 'all' || (show === 'running') === isUp(record)) && textOf(record).includes(text),
    );
  }, [all, show, q]);
  const filters = useMemo(
    () => ({ show: show === 'all' ? undefined : show, q: q || undefined, sort }),
    [show, q, sort],
  );
  const placeOf = useCallback(
    ({ record }: ContainerRow) => ({ screen: 'containers' as const, id: record.id, search: filters }),
    [filters],
  );
  const close = () => go({ screen: 'containers', search: filters });

  const isReady = engines?.some(({ state }) => state === 'ready');
  const isAway = engines !== undefined && !isReady && !engines.some(({ state }) => state === 'connecting');
  return (
    <ListScreen
      title="Containers"
      bar={
        <>
          <Segments
            label="Which containers"
            segments={segments}
            value={show}
            onChange={(next) => change({ show: next === 'all' ? undefined : next })}
          />
          <FindField
            label="Find containers"
            placeholder="Name, image or environment"
            className="max-w-64 min-w-28 flex-1"
          />
        </>
      }
      actions={
        <PlaceLink
          to={{ screen: 'resources', id: scopeId, search: { new: 'containers' } }}
          needs="container.create"
          className="flex h-7 items-center gap-1.5 rounded-md border border-line-strong px-2.5 hover:bg-raised"
        >
          <Plus aria-hidden size={14} />
          New container
        </PlaceLink>
      }
      above={isAway && all.length > 0 && <NoEngineBanner engines={engines} />}
      name="containers"
      label="Containers"
      list={{ ...list, rows }}
      columns={CONTAINER_COLUMNS}
      order=""
      keyOf={keyOf}
      selectedKey={chosenId}
      onSelect={(_id, row) => go(placeOf(row))}
      placeOf={placeOf}
      rowHeight={32}
      narrowedBy={['show', 'q']}
      hasAny={all.length > 0}
      empty={isAway ? <NoEngine engines={engines} /> : <NoContainers />}
      onClose={close}
      detailLabel="Container"
      detail={
        chosen && (
          <OnResource target={chosen.record}>
            <ContainerDetail key={chosen.record.id} row={chosen} onClose={close} />
          </OnResource>
        )
      }
    />
  );
}

const textOf = ({ name, properties }: ContainerRow['record']) =>
  `${name} ${String(properties.image)} ${referenceName(properties.parent)}`.toLowerCase();
