import type { PipelineDeployment, PipelineJob, PipelineRun } from '../../../../server/model/pipeline-run.ts';
import { lastWords, type RunLine } from './pipeline-log.ts';
import { answerOf } from './run-words.ts';

/** Why a run did not end well. */
export interface RunFailure {
  /** The job that failed; undefined: none did. */
  job?: PipelineJob;
  /** What happened, in a sentence. */
  what: string;
  /** The last that the job printed, or what the endpoint answered. */
  words: readonly string[];
  /** What to do next. */
  next: string;
  /** The request that was refused. */
  deployment?: PipelineDeployment;
}

const WORDS = 4;

/** Undefined for a run that goes on or has ended well. */
export function failureOf(run: PipelineRun, lines: readonly RunLine[]): RunFailure | undefined {
  if (run.state === 'running' || run.state === 'success') return undefined;
  if (run.state === 'canceled') {
    return { what: 'It was stopped before its end.', words: run.log.slice(-1), next: 'Run it again.' };
  }
  const job = run.jobs.find(({ state, mayFail }) => state === 'failed' && !mayFail);
  if (!job) {
    return {
      what: 'No job failed, but the app that they deployed does not answer.',
      words: run.log.slice(-WORDS),
      next: "Its container's log says what keeps it from running.",
    };
  }
  const deployment = run.deployments?.findLast(({ problem }) => problem !== undefined);
  const code = job.exitCode === undefined ? 'without an exit code' : `with exit code ${job.exitCode}`;
  const what = `Job ${job.name} failed ${code}${deployment ? ': the deployment was refused' : ''}.`;
  if (deployment) {
    const words = [`${answerOf(deployment)}: ${deployment.problem}`];
    return { job, what, words, next: afterRefusal(deployment), deployment };
  }
  const words = lastWords(lines, job.name, WORDS);
  return { job, what, words, next: afterWords(words.join('\n'), job) };
}

/** What helps depends on who refused: the gateway, or the lambda behind it. */
function afterRefusal({ status, executionId }: PipelineDeployment): string {
  if (executionId !== undefined) {
    return "The deployment lambda refused it: its invocation has the event and the log. Set right what it names - the lambda's variables, the target, or the rights of the pipeline's account - and run the pipeline again.";
  }
  switch (status) {
    case 401:
      return 'The credentials are not good: check PLATFORM_API_KEY and PLATFORM_API_SECRET of the project.';
    case 403:
      return "The pipeline's account may not call the endpoint: add it to the endpoint's security plugin.";
    case 404:
      return 'Nothing is published there: check PLATFORM_DEPLOY_URL, or publish the deployment lambda at that address.';
    case 429:
      return 'The endpoint has had as many requests in this minute as its limit allows: run it again later, or raise the limit.';
    default:
      return 'The gateway could not hand it to a lambda: look at the request, and at what the endpoint points to.';
  }
}

/** What well-known complaints of builds mean. */
const COMPLAINTS: readonly [RegExp, string][] = [
  [
    /cannot connect to the docker daemon|docker daemon is not running/i,
    'The build needs a container engine: start it, or set DOCKER_HOST to where it is.',
  ],
  [
    /pull access denied|manifest (for .+ )?(not found|unknown)|failed to resolve|no such host|repository does not exist/i,
    'An image could not be fetched: check its name in the Dockerfile; without a network it has to be on this machine.',
  ],
  [
    /no answer of a deployment endpoint|curl: \(\d+\)/i,
    'The deployment endpoint was not reached: check PLATFORM_DEPLOY_URL of the project.',
  ],
  [/command not found|: not found$/im, 'A program that the job calls is not on this machine: install it.'],
];

function afterWords(words: string, { exitCode }: PipelineJob): string {
  const known = COMPLAINTS.find(([complaint]) => complaint.test(words));
  if (known) return known[1];
  if (exitCode === 127) return 'A program that the job calls is not on this machine: install it.';
  if (exitCode === 126) return 'A script of the job may not be executed: give it that right and commit.';
  if (exitCode === 137) return 'The job was killed, mostly for want of memory.';
  return 'Its log has all that it printed. Commit what puts it right, and run the pipeline again.';
}
