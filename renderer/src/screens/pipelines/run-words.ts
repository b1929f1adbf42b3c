import {
  hasEnded,
  type PipelineDeployment,
  type PipelineJob,
  type PipelineRun,
} from '../../../../server/model/pipeline-run.ts';
import type { Condition } from '../../components/state.tsx';
import type { RunSummary } from './use-pipelines.ts';

/** Returns the condition of a run or a job. */
export function conditionOf(state: PipelineRun['state'] | PipelineJob['state']): Condition {
  if (state === 'success') return 'ok';
  if (state === 'failed') return 'error';
  if (state === 'running') return 'running';
  return state === 'canceled' ? 'warning' : 'idle';
}

/** The one word for it: as the filter above the list says it. */
export function stateWord(state: PipelineRun['state'] | PipelineJob['state']): string {
  return state === 'success' ? 'succeeded' : state;
}

/** In a few words what a run does, or what came of it. */
export function outcomeOf({ state, jobs, appUrl, exitCode }: RunSummary): string {
  const failed = jobs.find((job) => job.state === 'failed' && !job.mayFail);
  if (state === 'failed') {
    if (!failed) return `exit code ${exitCode ?? 'unknown'}`;
    return `${failed.name}: exit code ${failed.exitCode ?? 'unknown'}`;
  }
  if (state === 'running') return jobs.find((job) => job.state === 'running')?.name ?? 'starting';
  return state === 'success' && appUrl !== undefined ? appUrl : '';
}

/** Progress of a run, 0 to 1; undefined while unknown. Manual jobs are not part of it. */
export function endedShare(jobs: readonly PipelineJob[]): number | undefined {
  const expected = jobs.filter(({ state }) => state !== 'manual');
  return expected.length === 0 ? undefined : expected.filter(hasEnded).length / expected.length;
}

export function commandOf(path: string): string {
  return `npx terrarium-emulator pipeline run . --branch NAME --project ${path}`;
}

/** The status of a deployment response; a lambda without HTTP support has it in the result. */
export function answerOf({ status, code }: PipelineDeployment): string {
  return String(code ?? status ?? 'no response');
}
