import { ChevronRight, ExternalLink, Play } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Copy } from '../../components/copy.tsx';
import { ErrorState } from '../../components/empty-state.tsx';
import { State } from '../../components/state.tsx';
import { TableHead } from '../../components/table-head.tsx';
import { useSearch } from '../../url.ts';
import { commandOf, conditionOf, stateWord } from './run-words.ts';
import {
  type PipelineProject,
  type PipelineVariable,
  type RunSummary,
  SAMPLE_PROJECT,
  useProjects,
} from './use-pipelines.ts';
import { VariablesDialog } from './variables-dialog.tsx';

export interface ProjectsTableProps {
  runs: readonly RunSummary[];
  /** The state of the sample app's pipeline, and the function that starts it. */
  sample: { isStarting: boolean; isRunning: boolean; run(): void };
}

/** The projects of the mock GitLab: missing variables, last run, and how to run them. */
export function ProjectsTable({ runs, sample }: ProjectsTableProps) {
  const projects = useProjects();
  const [openId, setOpenId] = useState<number>();
  const open = projects.data?.find(({ id }) => id === openId);
  return (
    <section
      aria-label="Projects"
      className="relative max-h-[34%] shrink-0 overflow-auto border-b border-line bg-panel"
    >
      {projects.error ? (
        <ErrorState error={projects.error} onRetry={() => void projects.refetch()} />
      ) : projects.data?.length === 0 ? (
        <p className="flex flex-wrap items-center gap-1 px-4 py-2.5 text-muted">
          No projects yet. Running a pipeline creates its project. <code>{commandOf('GROUP/NAME')}</code>
          <Copy text={commandOf('GROUP/NAME')} subject="command" />
        </p>
      ) : (
        <table className="w-full">
          <TableHead
            heads={[
              { text: 'Project', className: 'pl-3.5' },
              'Variables',
              { text: 'Last run', className: 'max-sm:hidden' },
              { text: 'Run', isHidden: true },
            ]}
          />
          <tbody>
            {projects.data?.map((project) => (
              <ProjectRow
                key={project.id}
                project={project}
                last={runs.find((run) => run.project.id === project.id)}
                sample={sample}
                onVariables={() => setOpenId(project.id)}
              />
            ))}
          </tbody>
        </table>
      )}
      {open && <VariablesDialog project={open} onClose={() => setOpenId(undefined)} />}
    </section>
  );
}

function ProjectRow({
  project,
  last,
  sample,
  onVariables,
}: {
  project: PipelineProject;
  last: RunSummary | undefined;
  sample: ProjectsTableProps['sample'];
  onVariables(): void;
}) {
  const [{ project: chosen }, change] = useSearch();
  const { id, path, url, variables } = project;
  const missing = variables.filter(({ from }) => from === undefined);
  const summary = wordsOn(missing, variables.length);
  const isChosen = chosen === String(id);
  return (
    <tr className={`h-9 border-t border-line/55 ${isChosen ? 'bg-accent-soft' : ''}`}>
      <td className="px-3.5 max-sm:pr-0">
        <span className="flex items-center gap-2">
          <button
            type="button"
            aria-pressed={isChosen}
            title="Only its runs"
            className="min-h-6 text-left font-medium hover:text-accent"
            onClick={() => change({ project: isChosen ? undefined : String(id) })}
          >
            {path}
          </button>
          <a
            href={url}
            target="_blank"
            rel="noreferrer"
            aria-label={`Page of ${path}`}
            className="flex size-6 items-center justify-center text-muted hover:text-text max-sm:hidden"
          >
            <ExternalLink aria-hidden size={13} />
          </a>
        </span>
      </td>
      <td className="px-2">
        <Button look="quiet" className="-ml-2.5" aria-label={`${summary}: variables of ${path}`} onPress={onVariables}>
          <State is={missing.length === 0 ? 'ok' : 'error'}>{summary}</State>
          <ChevronRight aria-hidden size={13} className="max-sm:hidden" />
        </Button>
      </td>
      <td className="px-2 max-sm:hidden">
        {last ? (
          <State is={conditionOf(last.state)}>{stateWord(last.state)}</State>
        ) : (
          <span className="text-faint">never</span>
        )}
      </td>
      <td className="pr-3.5 text-right">
        {path === SAMPLE_PROJECT ? (
          <Button
            icon={Play}
            needs="root"
            isPending={sample.isStarting}
            isDisabled={sample.isRunning}
            onPress={sample.run}
          >
            {sample.isStarting ? 'Starting ...' : sample.isRunning ? 'Running ...' : 'Run'}
          </Button>
        ) : (
          <Copy text={commandOf(path)} subject={`command that runs ${path}`} />
        )}
      </td>
    </tr>
  );
}

function wordsOn(missing: readonly PipelineVariable[], count: number): string {
  const [firstMissing, secondMissing] = missing;
  if (!firstMissing) return `all ${count} present`;
  return secondMissing ? `${missing.length} of ${count} missing` : `${firstMissing.name} missing`;
}
