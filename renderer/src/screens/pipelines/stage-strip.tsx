import { Play, RotateCw } from 'lucide-react';
import { ToggleButton } from 'react-aria-components';
import type { PipelineJob, PipelineRun } from '../../../../server/model/pipeline-run.ts';
import { Duration, useNowMs } from '../../components/amount.tsx';
import { IconButton } from '../../components/button.tsx';
import { State } from '../../components/state.tsx';
import { useSearch } from '../../url.ts';
import { conditionOf } from './run-words.ts';
import { useRetryJob } from './use-pipelines.ts';

/** The stages of a run with their jobs; a job that is pressed narrows the log to its own lines, and may be run again. */
export function StageStrip({ run: { id, state, jobs } }: { run: PipelineRun }) {
  const [{ job: chosen }, change] = useSearch();
  const retrying = useRetryJob(id, (run, job) => change({ sel: run.id, job, show: undefined, q: undefined }));
  const stages = Map.groupBy(jobs, ({ stage }) => stage);
  if (jobs.length === 0) return <p className="border-b border-line px-4 py-3 text-muted">It has no jobs.</p>;
  return (
    <ol
      aria-label="Stages"
      className="flex max-h-44 shrink-0 flex-wrap gap-2 overflow-y-auto border-b border-line px-4 py-2.5"
    >
      {[...stages].map(([stage, inside]) => (
        <li key={stage} className="card min-w-44 px-1.5 pt-1.5 pb-1 max-sm:flex-1">
          <p className="eyebrow px-1.5">{stage}</p>
          {inside.map((job) => (
            <span key={job.name} className="flex items-center">
              <ToggleButton
                isSelected={chosen === job.name}
                onChange={(on) => change({ job: on ? job.name : undefined })}
                className="flex min-h-6 w-full items-center justify-between gap-4 rounded px-1.5 text-left data-[hovered]:bg-raised data-[selected]:bg-accent-soft"
              >
                <State is={conditionOf(job.state)}>{job.name}</State>
                <JobEnd job={job} />
              </ToggleButton>
              {state !== 'running' && (
                <IconButton
                  icon={job.state === 'manual' ? Play : RotateCw}
                  needs="root"
                  label={`${job.state === 'manual' ? 'Run' : 'Retry'} ${job.name}`}
                  isPending={retrying.isPending && retrying.variables === job.name}
                  isDisabled={retrying.isPending}
                  onPress={() => retrying.mutate(job.name)}
                />
              )}
            </span>
          ))}
        </li>
      ))}
    </ol>
  );
}

function JobEnd({ job: { state, exitCode, durationMs, startedAtMs, tests, coverage } }: { job: PipelineJob }) {
  const nowMs = useNowMs();
  const isRunning = state === 'running' && startedAtMs !== undefined;
  return (
    <span className="flex shrink-0 items-center gap-2 text-small text-muted">
      {state === 'waiting' || state === 'skipped' || state === 'manual' ? (
        state
      ) : (
        <>
          {tests && (
            <span className={tests.failed === 0 ? 'text-faint' : 'text-error'} title={tests.failing.join('\n')}>
              {tests.failed === 0 ? `${tests.total} tests` : `${tests.failed} of ${tests.total} tests failed`}
            </span>
          )}
          {coverage !== undefined && <span title="Coverage">{coverage}%</span>}
          {exitCode !== undefined && (
            <span className={exitCode === 0 ? 'text-faint' : 'text-error'} title="Exit code">
              exit {exitCode}
            </span>
          )}
          <Duration ms={isRunning ? Math.max(0, nowMs - startedAtMs) : durationMs} />
        </>
      )}
    </span>
  );
}
