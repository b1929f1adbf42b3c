import { ExternalLink, Square, X } from 'lucide-react';
import { useMemo } from 'react';
import { PIPELINE_VARIABLES, type PipelineRun } from '../../../../server/model/pipeline-run.ts';
import { Duration, Time } from '../../components/amount.tsx';
import { Button, IconButton } from '../../components/button.tsx';
import { Copy } from '../../components/copy.tsx';
import type { ShownLine } from '../../components/log-lines.tsx';
import { Progress } from '../../components/meter.tsx';
import { PendingDetail } from '../../components/pending-detail.tsx';
import { SearchedLog } from '../../components/searched-log.tsx';
import { Badge, State } from '../../components/state.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { useSearch } from '../../url.ts';
import { failureOf, type RunFailure } from './run-failure.ts';
import { type RunLine, runLines } from './run-lines.ts';
import { RunStory } from './run-story.tsx';
import { conditionOf, endedShare, stateWord } from './run-words.ts';
import { StageStrip } from './stage-strip.tsx';
import { useRun, useStopRun } from './use-pipelines.ts';

/** One run: its stages, jobs and log, and its effects on the platform next to them. */
export function RunDetail({ id, onClose }: { id: string; onClose(): void }) {
  const run = useRun(id);
  return run.data ? <Detail run={run.data} onClose={onClose} /> : <PendingDetail query={run} onClose={onClose} />;
}

function Detail({ run, onClose }: { run: PipelineRun; onClose(): void }) {
  const [{ tab }, change] = useSearch();
  const lines = useMemo(() => runLines(run.log, run.jobs), [run.log, run.jobs]);
  const failure = useMemo(() => failureOf(run, lines), [run, lines]);
  const { missing, present } = run.variables;
  const tabs = [
    { id: 'log', title: 'Log', count: run.log.length, isFilling: true, content: <RunLog run={run} lines={lines} /> },
    {
      id: 'variables',
      title: 'Variables',
      count: present.length + missing.length,
      content: <RunVariables variables={run.variables} />,
    },
  ];
  return (
    <div className="@container flex shrink-0 grow flex-col">
      <RunHeader run={run} onClose={onClose} />
      {run.state === 'running' && <Progress label="Jobs that have ended" share={endedShare(run.jobs)} />}
      <StageStrip run={run} />
      {failure && <FailureExplanation failure={failure} />}
      <div className="flex shrink-0 grow flex-col @min-[700px]:flex-row">
        <div className="flex min-w-0 shrink-0 grow flex-col @min-[700px]:basis-0">
          <Tabs
            isInDetail
            label="Parts of the run"
            tabs={tabs}
            value={tab}
            onChange={(next) => change({ tab: next })}
          />
        </div>
        <aside
          aria-label="What it deployed"
          className="shrink-0 border-t border-line @min-[700px]:w-64 @min-[700px]:border-t-0 @min-[700px]:border-l"
        >
          <RunStory run={run} />
        </aside>
      </div>
    </div>
  );
}

function RunHeader({ run, onClose }: { run: PipelineRun; onClose(): void }) {
  const { id, project, branch, sha, state, startedAtMs, finishedAtMs, appUrl, startedBy, retryOf } = run;
  const stopping = useStopRun(id);
  return (
    <div className="border-b border-line px-4 py-2.5">
      <div className="flex flex-wrap items-center gap-2">
        <State is={conditionOf(state)}>{stateWord(state)}</State>
        <h2 className="truncate text-title">{project.path}</h2>
        <Badge>{branch}</Badge>
        <span className="ml-auto flex items-center gap-2">
          {appUrl && state === 'success' && (
            <a
              href={appUrl}
              target="_blank"
              rel="noreferrer"
              className="flex h-7 items-center gap-1.5 rounded-md border border-text bg-text px-2.5 font-semibold whitespace-nowrap text-on-accent hover:opacity-85"
            >
              <ExternalLink aria-hidden size={14} /> Open app
            </a>
          )}
          {state === 'running' && startedBy !== undefined && (
            <Button
              icon={Square}
              needs="root"
              isPending={stopping.isPending || stopping.isSuccess}
              onPress={() => stopping.mutate()}
            >
              {stopping.isPending || stopping.isSuccess ? 'Stopping ...' : 'Stop'}
            </Button>
          )}
          <IconButton icon={X} label="Close the detail" onPress={onClose} />
        </span>
      </div>
      <p className="flex flex-wrap items-center gap-x-3 text-muted">
        <span className="mono flex items-center">
          {sha.slice(0, 10)}
          <Copy text={sha} subject="commit" className="scale-90" />
        </span>
        <span>
          started <Time at={startedAtMs} />
        </span>
        {finishedAtMs !== undefined && (
          <span>
            took <Duration ms={finishedAtMs - startedAtMs} />
          </span>
        )}
        {retryOf !== undefined && (
          <PlaceLink to={{ screen: 'pipelines', search: { sel: retryOf } }}>retry of an earlier run</PlaceLink>
        )}
      </p>
    </div>
  );
}

/** The failed job with its exit code, its last output, and the next step. */
function FailureExplanation({ failure: { summary, output, next, deployment } }: { failure: RunFailure }) {
  return (
    <section
      aria-label="Why it failed"
      className="mx-4 mt-3 mb-1 shrink-0 rounded-md border border-error/40 bg-error-soft px-3 py-2"
    >
      <p>
        <strong>Why it failed.</strong> {summary}
      </p>
      {output.length > 0 && (
        <pre className="my-1 max-h-24 overflow-auto break-words whitespace-pre-wrap">{output.join('\n')}</pre>
      )}
      <p>
        {next}{' '}
        {deployment?.executionId !== undefined && (
          <PlaceLink to={{ screen: 'invocations', search: { sel: deployment.executionId } }}>
            Open the invocation
          </PlaceLink>
        )}
      </p>
    </section>
  );
}

const VARIABLE_DESCRIPTIONS: Readonly<Record<string, string>> = PIPELINE_VARIABLES;

/** Names of the variables that a run got, and of missing ones that it read; values are not stored. */
function RunVariables({ variables: { present, missing } }: Pick<PipelineRun, 'variables'>) {
  return (
    <table className="w-full">
      <caption className="sr-only">Variables of the run</caption>
      <tbody>
        {[
          ...missing.map((name) => ({ name, isMissing: true })),
          ...present.map((name) => ({ name, isMissing: false })),
        ].map(({ name, isMissing }) => (
          <tr key={name} className="h-[30px] border-b border-line/55">
            <th scope="row" className="mono px-4 text-left font-normal whitespace-nowrap">
              {name}
            </th>
            <td className="px-2">
              <State is={isMissing ? 'error' : 'ok'}>{isMissing ? 'missing' : 'present'}</State>
            </td>
            <td className="px-2 text-muted">{VARIABLE_DESCRIPTIONS[name]}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The output of a run, live. Shows only one job's part when `job` is in the address. */
function RunLog({ run, lines }: { run: PipelineRun; lines: readonly RunLine[] }) {
  const [{ job }] = useSearch();
  const visibleLines = useMemo(
    () => lines.filter((line) => job === undefined || line.job === job).map((line) => shownLine(line)),
    [lines, job],
  );
  return (
    <SearchedLog
      lines={visibleLines}
      empty={
        run.state === 'running'
          ? 'No output yet. Output appears here.'
          : job === undefined
            ? 'No output.'
            : `Job ${job} has no output.`
      }
    />
  );
}

function shownLine({ key, clock, job, kind, text, isFailure }: RunLine): ShownLine {
  return {
    key,
    text,
    stream: isFailure ? 'stderr' : 'stdout',
    margin: (
      <>
        <span className="w-[8ch] shrink-0 text-faint select-none">{clock}</span>
        <span
          className={`w-[9ch] shrink-0 truncate select-none ${kind === 'mark' || kind === 'command' ? 'text-accent' : 'text-faint'}`}
          title={job}
        >
          {text === '' ? '' : (job ?? 'runner')}
        </span>
      </>
    ),
  };
}
