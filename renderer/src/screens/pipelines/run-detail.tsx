import { useQuery } from '@tanstack/react-query';
import { ExternalLink, X } from 'lucide-react';
import type { PipelineJob, PipelineRun } from '../../../../server/model/pipeline-run.ts';
import { load } from '../../api/client.ts';
import { keys } from '../../api/query-client.ts';
import { Duration } from '../../parts/amount.tsx';
import { IconButton } from '../../parts/button.tsx';
import { ErrorState } from '../../parts/empty-state.tsx';
import { Progress } from '../../parts/meter.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { Badge, type Condition, State } from '../../parts/state.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';

/** How a run or a job is. */
export function conditionOf(state: PipelineRun['state'] | PipelineJob['state']): Condition {
  if (state === 'success') return 'ok';
  if (state === 'failed') return 'error';
  if (state === 'running') return 'running';
  return state === 'canceled' ? 'warning' : 'idle';
}

/** One run: its stages and jobs, its variables, its log, and the app that it made. */
export function RunDetail({ id, onClose }: { id: string; onClose(): void }) {
  const run = useQuery({
    queryKey: [keys.pipelines, 'run', id],
    queryFn: ({ signal }) => load<PipelineRun>(`/inspect/pipelines/${encodeURIComponent(id)}`, {}, signal),
  });
  if (!run.data) return run.error ? <ErrorState error={run.error} onRetry={() => void run.refetch()} /> : <Skeleton />;
  const { project, branch, sha, state, jobs, variables, log, appUrl, mergeRequest } = run.data;
  const stages = Map.groupBy(jobs, ({ stage }) => stage);
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="border-b border-line px-4 py-2.5">
        <div className="flex items-center gap-2">
          <State is={conditionOf(state)}>{state}</State>
          <h2 className="truncate text-[14px]">{project.path}</h2>
          <Badge>{branch}</Badge>
          <span className="ml-auto flex items-center gap-2">
            {appUrl && (
              <a
                href={appUrl}
                target="_blank"
                rel="noreferrer"
                className="flex h-7 items-center gap-1.5 rounded-md border border-accent bg-accent px-2.5 font-semibold text-on-accent hover:bg-accent-strong"
              >
                <ExternalLink aria-hidden size={14} /> Open app
              </a>
            )}
            <IconButton icon={X} label="Close the detail" onPress={onClose} />
          </span>
        </div>
        <p className="flex items-center gap-3 text-muted">
          <span className="mono">{sha.slice(0, 10)}</span>
          {mergeRequest && (
            <a className="link" href={mergeRequest.url} target="_blank" rel="noreferrer">
              merge request !{mergeRequest.iid}
            </a>
          )}
          <PlaceLink to={{ screen: 'invocations', search: { q: 'lambda:deploy' } }}>deploy requests</PlaceLink>
          <PlaceLink to={{ screen: 'containers' }}>containers</PlaceLink>
        </p>
      </div>
      {state === 'running' && (
        <div className="px-4 pt-3">
          <Progress label="Jobs that have ended" share={endedShare(jobs)} />
        </div>
      )}
      <ol aria-label="Stages" className="flex shrink-0 gap-3 overflow-x-auto border-b border-line px-4 py-3">
        {[...stages].map(([stage, inside]) => (
          <li key={stage} className="card min-w-40 px-3 py-2">
            <p className="eyebrow mb-1">{stage}</p>
            {inside.map((job) => (
              <p key={job.name} className="flex items-center justify-between gap-4">
                <State is={conditionOf(job.state)}>{job.name}</State>
                <span className="text-muted">
                  <Duration ms={job.durationMs} />
                </span>
              </p>
            ))}
          </li>
        ))}
      </ol>
      <details className="shrink-0 border-b border-line px-4 py-2">
        <summary className="cursor-default">
          Variables: {variables.present.length} present
          {variables.missing.length > 0 && <span className="text-error">, {variables.missing.length} missing</span>}
        </summary>
        <ul className="mt-1 columns-2">
          {[
            ...variables.missing.map((name) => [name, false] as const),
            ...variables.present.map((name) => [name, true] as const),
          ].map(([name, isPresent]) => (
            <li key={name} className="mono">
              <State is={isPresent ? 'ok' : 'error'}>
                {name} {isPresent ? '' : '(missing)'}
              </State>
            </li>
          ))}
        </ul>
      </details>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable with the keyboard */}
      <pre tabIndex={0} className="min-h-0 flex-1 overflow-auto p-4 break-words whitespace-pre-wrap">
        {log.join('\n') || 'Nothing printed yet.'}
      </pre>
    </div>
  );
}

function endedShare(jobs: readonly PipelineJob[]): number | undefined {
  if (jobs.length === 0) return undefined;
  return jobs.filter(({ state }) => state !== 'waiting' && state !== 'running').length / jobs.length;
}
