import { useQuery } from '@tanstack/react-query';
import { useCallback } from 'react';
import type { PipelineRun } from '../../../../server/model/pipeline-run.ts';
import { load } from '../../api/client.ts';
import { keys } from '../../api/query-client.ts';
import { Duration, Time } from '../../parts/amount.tsx';
import { DataGrid, type GridColumn } from '../../parts/data-grid.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { SplitPane } from '../../parts/split-pane.tsx';
import { State } from '../../parts/state.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { ScreenFrame } from '../../shell/screen-frame.tsx';
import { hrefOf, useSearch } from '../../url.ts';
import { conditionOf, RunDetail } from './run-detail.tsx';

const NONE: readonly PipelineRun[] = [];
const keyOf = ({ id }: PipelineRun) => id;
const COLUMNS: readonly GridColumn<PipelineRun>[] = [
  { id: 'state', header: 'State', width: 100, cell: ({ state }) => <State is={conditionOf(state)}>{state}</State> },
  {
    id: 'project',
    header: 'Project',
    width: { share: 2, minWidth: 120 },
    cell: ({ project }) => <span className="font-medium">{project.path}</span>,
  },
  { id: 'branch', header: 'Branch', width: { share: 1, minWidth: 90 }, isMono: true, cell: ({ branch }) => branch },
  {
    id: 'took',
    header: 'Took',
    width: 84,
    align: 'end',
    cell: ({ startedAtMs, finishedAtMs }) => (
      <Duration ms={finishedAtMs === undefined ? undefined : finishedAtMs - startedAtMs} />
    ),
  },
  {
    id: 'time',
    header: 'Began',
    width: 96,
    align: 'end',
    cell: ({ startedAtMs }) => (
      <span className="text-muted">
        <Time at={startedAtMs} />
      </span>
    ),
  },
];

/** Runs of pipelines: from the branch to the app behind an address. */
export default function PipelinesScreen() {
  const [{ sel, scope }, change] = useSearch();
  const runs = useQuery({
    queryKey: [keys.pipelines, 'all'],
    queryFn: ({ signal }) => load<PipelineRun[]>('/inspect/pipelines', {}, signal),
  });
  const rows = runs.data ?? NONE;
  const select = useCallback((id: string) => change({ sel: id }), [change]);
  return (
    <ScreenFrame title="Pipelines" bar={<span className="text-muted">{rows.length}</span>}>
      <SplitPane
        name="pipelines"
        width={620}
        detailLabel="Run"
        list={
          <DataGrid
            label="Runs"
            rows={rows}
            columns={COLUMNS}
            keyOf={keyOf}
            selectedKey={sel}
            onSelect={select}
            hrefOf={({ id }) => hrefOf({ screen: 'pipelines', search: { sel: id } }, scope)}
            isLoading={runs.isPending}
            error={runs.error}
            onRetry={() => void runs.refetch()}
            empty={
              <EmptyState
                title="No pipeline has run yet"
                text={
                  <>
                    <code>terrarium pipeline run</code> in a project runs its pipeline on this machine; the sample app
                    has one.
                  </>
                }
              >
                <PlaceLink to={{ screen: 'home' }}>First steps</PlaceLink>
              </EmptyState>
            }
          />
        }
        detail={
          sel === undefined ? undefined : <RunDetail key={sel} id={sel} onClose={() => change({ sel: undefined })} />
        }
      />
    </ScreenFrame>
  );
}
