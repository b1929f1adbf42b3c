import { Play } from 'lucide-react';
import { useCallback, useMemo } from 'react';
import { useSeesAll } from '../../api/permissions.tsx';
import { Duration, Time } from '../../components/amount.tsx';
import { Button } from '../../components/button.tsx';
import { Copy } from '../../components/copy.tsx';
import type { GridColumn } from '../../components/data-grid.tsx';
import { EmptyState, FailureNote } from '../../components/empty-state.tsx';
import { FindField } from '../../components/find-field.tsx';
import { Segments } from '../../components/segments.tsx';
import { State } from '../../components/state.tsx';
import { ListScreen } from '../../shell/list-screen.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { useSearch } from '../../url.ts';
import { ProjectsTable } from './projects-table.tsx';
import { RunDetail } from './run-detail.tsx';
import { conditionOf, outcomeOf, stateWord } from './run-words.ts';
import { type RunSummary, SAMPLE_PROJECT, useRuns, useSampleRun } from './use-pipelines.ts';

const NONE: readonly RunSummary[] = [];
const SAMPLE_COMMAND = 'npx terrarium-emulator pipeline demo';
const keyOf = ({ id }: RunSummary) => id;
const STATE_FILTERS = [
  { id: 'all', text: 'All' },
  { id: 'running', text: 'Running' },
  { id: 'failed', text: 'Failed' },
  { id: 'success', text: 'Succeeded' },
];

const COLUMNS: readonly GridColumn<RunSummary>[] = [
  {
    id: 'state',
    header: 'State',
    width: 112,
    cell: ({ state }) => <State is={conditionOf(state)}>{stateWord(state)}</State>,
  },
  {
    id: 'project',
    header: 'Project',
    width: { share: 1, minWidth: 110 },
    cell: ({ project }) => <span className="font-medium">{project.path}</span>,
  },
  {
    id: 'branch',
    header: 'Branch',
    width: { share: 1, minWidth: 100 },
    hideOrder: 3,
    isMono: true,
    text: ({ branch }) => branch,
  },
  {
    id: 'outcome',
    header: 'Outcome',
    width: { share: 2, minWidth: 120 },
    hideOrder: 1,
    cell: (run) => <span className={run.state === 'failed' ? 'text-error' : 'text-muted'}>{outcomeOf(run)}</span>,
  },
  {
    id: 'took',
    header: 'Duration',
    width: 76,
    hideOrder: 4,
    align: 'end',
    cell: ({ startedAtMs, finishedAtMs }) => (
      <Duration ms={finishedAtMs === undefined ? undefined : finishedAtMs - startedAtMs} />
    ),
  },
  {
    id: 'time',
    header: 'Started',
    width: 96,
    hideOrder: 2,
    align: 'end',
    isMuted: true,
    cell: ({ startedAtMs }) => <Time at={startedAtMs} />,
  },
];
/** Beside a run, which says the others. */
const COLUMNS_BESIDE = COLUMNS.filter(({ id }) => id !== 'project' && id !== 'outcome');

/**
 * The runs of pipelines that deploy to an environment that the user may view; for those who view the whole platform also other runs, and
 * the projects above them.
 */
export default function PipelinesScreen() {
  const [{ sel, scope, q = '', show = 'all', project }, change] = useSearch();
  const runs = useRuns(scope);
  const seesProjects = useSeesAll();
  const everywhere = useRuns().data ?? NONE;
  const all = runs.data ?? NONE;
  const rows = useMemo(() => all.filter((run) => isWanted(run, { q, show, project })), [all, q, show, project]);
  const starting = useSampleRun(({ id }) => change({ sel: id, show: undefined, q: undefined }));
  const sample = {
    isStarting: starting.isPending,
    isRunning: everywhere.some((run) => run.project.path === SAMPLE_PROJECT && run.state === 'running'),
    run: () => starting.mutate(),
  };
  const select = useCallback((id: string) => change({ sel: id, job: undefined }), [change]);
  const close = () => change({ sel: undefined, job: undefined, find: undefined });
  return (
    <ListScreen
      title="Pipelines"
      bar={
        <FindField label="Find runs" placeholder="Find runs by project, branch or commit" className="w-full max-w-md" />
      }
      actions={
        <>
          <Segments
            label="Which runs"
            segments={STATE_FILTERS}
            value={show}
            onChange={(id) => change({ show: id === 'all' ? undefined : id })}
          />
          <span className="text-muted" role="status">
            {runs.data && `${rows.length} of ${all.length}`}
          </span>
        </>
      }
      above={
        <>
          <FailureNote error={starting.error} className="mx-4 my-2" />
          {seesProjects && <ProjectsTable runs={everywhere} sample={sample} />}
        </>
      }
      name="pipeline-runs"
      fixed="list"
      width={400}
      onClose={close}
      label="Runs"
      list={{ ...runs, rows }}
      columns={sel === undefined ? COLUMNS : COLUMNS_BESIDE}
      keyOf={keyOf}
      onSelect={select}
      narrowedBy={['q', 'show', 'project', 'scope']}
      hasAny={everywhere.length > 0}
      empty={
        <EmptyState
          title="No pipeline runs yet"
          text={
            <>
              The pipeline of the sample app builds an image and passes it to the deployment lambda. It runs on this
              machine, as <code className="whitespace-nowrap">{SAMPLE_COMMAND}</code>
              <Copy text={SAMPLE_COMMAND} subject="command" className="scale-90" /> does.
            </>
          }
        >
          <Button
            look="primary"
            needs="root"
            icon={Play}
            isPending={sample.isStarting}
            isDisabled={sample.isRunning}
            onPress={sample.run}
          >
            Run the sample app's pipeline
          </Button>
          <PlaceLink to={{ screen: 'home' }} className="link self-center">
            First steps
          </PlaceLink>
        </EmptyState>
      }
      detailLabel="Run"
      detail={sel === undefined ? undefined : <RunDetail key={sel} id={sel} onClose={close} />}
    />
  );
}

function isWanted(run: RunSummary, { q, show, project }: { q: string; show: string; project: string | undefined }) {
  const text = `${run.project.path} ${run.branch} ${run.sha}`.toLowerCase();
  return (
    (show === 'all' || run.state === show) &&
    (project === undefined || String(run.project.id) === project) &&
    text.includes(q.trim().toLowerCase())
  );
}
