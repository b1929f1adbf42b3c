import { createHash, createHmac } from 'node:crypto';
import { jobLines, type PipelineJob, type PipelineRun } from '../../model/pipeline-run.ts';
import type { ScmProject } from './scm-state.ts';

/** A run without its log. */
export type ListedRun = Omit<PipelineRun, 'log'>;

export interface RequestedPipeline {
  project: ScmProject;
  dir: string;
  ref: string;
  isTag: boolean;
  sha: string;
  /** Before the push; absent for a pipeline that no push starts. */
  beforeSha?: string;
  /** Undefined: the pipeline of the merge request if it has jobs, or else the pipeline of the branch. */
  source: 'push' | 'web' | undefined;
  variables: Readonly<Record<string, string>>;
}

export interface ScmPipelines {
  /** Returns the runs of one project, newest first. */
  list(projectId: number): readonly ListedRun[];
  logOf(run: ListedRun): readonly string[];
  /** Resolves when the run has started; rejects with the reason that it cannot. */
  start(request: RequestedPipeline): Promise<{ id: string }>;
  /** Records a pipeline that failed before it had jobs. */
  fail(request: RequestedPipeline, reason: string): Promise<void>;
  retry(run: ListedRun, job: string): Promise<{ id: string }>;
  /** False for a run that has ended or that another process runs. */
  cancel(run: ListedRun): boolean;
  remove(run: ListedRun): Promise<unknown>;
  /** Folder with the files that a job left; undefined if there are none. */
  artifactsOf(run: ListedRun, job: string): Promise<string | undefined>;
  windowUrl(run: ListedRun): string;
}

/** Folder within the artifacts of a job, of the reports that later jobs read; it is not part of the archive. */
export const DOTENV_FOLDER = '.terrarium-dotenv';

/** The lines of a run's log that are about one job. */
export const traceOf = ({ name }: PipelineJob, log: readonly string[]): string =>
  jobLines(name, log)
    .map((line) => `${line.replace(/^> /, '')}\n`)
    .join('');

/** Number of a pipeline in the API of the mock GitLab, as in `CI_PIPELINE_ID`. */
export const pipelineNumber = ({ id, jobTokenId = id }: { id: string; jobTokenId?: string | undefined }) =>
  numberOf(jobTokenId);
/** Number of a job there, as in `CI_JOB_ID`. */
export const jobNumber = (runId: string, name: string) => numberOf(`${runId} ${name}`);
/** The token for the jobs of a pipeline, derived from the token of the server, so that it cannot be guessed. */
export const jobTokenOf = (tokenId: string, token: string) =>
  `glcbt-${tokenId}-${createHmac('sha256', token).update(tokenId).digest('hex').slice(0, 32)}`;
const numberOf = (text: string) => Number.parseInt(createHash('sha256').update(text).digest('hex').slice(0, 7), 16);
