import { useMemo } from 'react';
import type { PipelineRun } from '../../../../server/model/pipeline-run.ts';
import type { ShownLine } from '../../parts/log-lines.tsx';
import { SearchedLog } from '../../parts/searched-log.tsx';
import { useSearch } from '../../url.ts';
import type { RunLine } from './pipeline-log.ts';

/** What a run printed, live; one job's part of it when `job` is in the address. */
export function RunLog({ run, lines }: { run: PipelineRun; lines: readonly RunLine[] }) {
  const [{ job }] = useSearch();
  const shown = useMemo(
    () => lines.filter((line) => job === undefined || line.job === job).map((line) => shownLine(line)),
    [lines, job],
  );
  return (
    <SearchedLog
      lines={shown}
      empty={
        run.state === 'running'
          ? 'Nothing printed yet. What is printed shows up here.'
          : job === undefined
            ? 'It printed nothing.'
            : `Job ${job} printed nothing.`
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
