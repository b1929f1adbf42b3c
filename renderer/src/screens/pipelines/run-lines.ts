import type { PipelineJob } from '../../../../server/model/pipeline-run.ts';

/** A line of a run's log, taken apart. */
export interface RunLine {
  /** Its place in the log. */
  key: number;
  /** The job that printed the line; undefined for lines of the runner itself. */
  job?: string | undefined;
  /** `22:41:07` */
  clock?: string | undefined;
  /** A command, its output, or the start or end of a job; all other lines are the runner's. */
  kind: 'command' | 'output' | 'mark' | 'runner';
  text: string;
  isFailure: boolean;
}

/** Prefix of each line: the time, and the duration of the job so far. */
const STAMP = /^\[(\d\d:\d\d:\d\d)\s[^\]]*\] /;
const FAILED_JOB_LINE = /^finished in .+\sFAIL\s+\d+\s*$/;
const VERDICT = /^ FAIL\s/;

/** Parses the lines of a log; `jobs` are those of the run. */
export function runLines(log: readonly string[], jobs: readonly PipelineJob[]): RunLine[] {
  // A name may be the beginning of another one: the longest that fits is meant.
  const names = jobs.map(({ name }) => name).sort((a, b) => b.length - a.length);
  return log.map((line, key) => {
    const [stamp = '', clock] = STAMP.exec(line) ?? [];
    const rest = line.slice(stamp.length);
    const job = clock === undefined ? undefined : names.find((name) => rest.startsWith(`${name} `));
    if (job === undefined) return { key, clock, kind: 'runner', text: rest, isFailure: VERDICT.test(line) };
    const content = rest.slice(job.length).trimStart();
    if (content.startsWith('$ ')) return { key, job, clock, kind: 'command', text: content, isFailure: false };
    if (/^>( |$)/.test(content)) return { key, job, clock, kind: 'output', text: content.slice(2), isFailure: false };
    return { key, job, clock, kind: 'mark', text: content, isFailure: FAILED_JOB_LINE.test(content) };
  });
}

/** The last lines that a job printed, oldest first; what it is about is mostly there. */
export function lastWords(lines: readonly RunLine[], job: string, count: number): string[] {
  const printed = lines.filter((line) => line.job === job && line.kind === 'output' && line.text.trim() !== '');
  return printed.slice(-count).map(({ text }) => text);
}
