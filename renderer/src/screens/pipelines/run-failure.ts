import type { PipelineDeployment, PipelineJob, PipelineRun } from '../../../../server/model/pipeline-run.ts';
import { lastWords, type RunLine } from './run-lines.ts';
import { answerOf } from './run-words.ts';

export interface RunFailure {
  /** The job that failed; undefined: none did. */
  job?: PipelineJob;
  summary: string;
  /** The last output of the job, or the response of the endpoint. */
  output: readonly string[];
  next: string;
  deployment?: PipelineDeployment;
}

const MAX_OUTPUT_LINES = 4;

/** Undefined for a run that is running or succeeded. */
export function failureOf(run: PipelineRun, lines: readonly RunLine[]): RunFailure | undefined {
  if (run.state === 'running' || run.state === 'success') return undefined;
  if (run.state === 'canceled') {
    return { summary: 'The run was stopped.', output: run.log.slice(-1), next: 'Run it again.' };
  }
  const job = run.jobs.find(({ state, mayFail }) => state === 'failed' && !mayFail);
  const deployment = run.deployments?.findLast(({ problem }) => problem !== undefined);
  const rejected = deployment && {
    output: [`${answerOf(deployment)}: ${deployment.problem}`],
    next: afterRefusal(deployment),
    deployment,
  };
  if (!job && rejected) return { summary: 'No job failed, but a deployment was rejected.', ...rejected };
  const blocked = run.log.findLast((line) => line.includes('the pipeline is blocked by'));
  if (!job && blocked !== undefined) {
    const next = 'To run a manual job and the jobs after it, name them: terrarium pipeline run --job NAME.';
    return { summary: 'A manual job blocks the pipeline.', output: [blocked], next };
  }
  if (!job) {
    return {
      summary: 'No job failed, but the app that they deployed does not respond.',
      output: run.log.slice(-MAX_OUTPUT_LINES),
      next: 'See the log of its container for the reason.',
    };
  }
  const code = job.exitCode === undefined ? 'without an exit code' : `with exit code ${job.exitCode}`;
  const summary = `Job ${job.name} failed ${code}${deployment ? ': the deployment was rejected' : ''}.`;
  if (rejected) return { job, summary, ...rejected };
  const output = lastWords(lines, job.name, MAX_OUTPUT_LINES);
  return { job, summary, output, next: afterWords(output.join('\n'), job) };
}

/** Returns the next step, which depends on who rejected the deployment: the gateway, or the lambda behind it. */
function afterRefusal({ status, executionId }: PipelineDeployment): string {
  if (executionId !== undefined) {
    return "The deployment lambda rejected the request: its invocation has the event and the log. Fix what it names (the lambda's variables, the target, or the permissions of the pipeline's account), then run the pipeline again.";
  }
  switch (status) {
    case 401:
      return 'The credentials are not valid: check PLATFORM_API_KEY and PLATFORM_API_SECRET of the project.';
    case 403:
      return "The pipeline's account does not have permission to call the endpoint: add it to the endpoint's security plugin.";
    case 404:
      return 'Nothing is published there: check PLATFORM_DEPLOY_URL, or publish the deployment lambda at that address.';
    case 429:
      return 'The endpoint has had as many requests in this minute as its limit allows: run it again later, or raise the limit.';
    default:
      return 'The gateway could not call a lambda: check the request and the target of the endpoint.';
  }
}

/** The explanations of well-known error messages of builds. */
const COMPLAINTS: readonly [RegExp, string][] = [
  [
    /cannot connect to the docker daemon|docker daemon is not running/i,
    'The build needs a container engine: start one, or set DOCKER_HOST to its address.',
  ],
  [
    /pull access denied|manifest (for .+ )?(not found|unknown)|failed to resolve|no such host|repository does not exist/i,
    'An image could not be downloaded. Check its name in the Dockerfile. Without a network the image must be on this machine.',
  ],
  [
    /no answer of a deployment endpoint|curl: \(\d+\)/i,
    'The deployment endpoint was not reached: check PLATFORM_DEPLOY_URL of the project.',
  ],
  [/command not found|: not found$/im, 'The job needs a program that is not on this machine: install it.'],
];

function afterWords(output: string, { exitCode }: PipelineJob): string {
  const knownComplaint = COMPLAINTS.find(([complaint]) => complaint.test(output));
  if (knownComplaint) return knownComplaint[1];
  if (exitCode === 127) return 'The job needs a program that is not on this machine: install it.';
  if (exitCode === 126) return 'A script of the job is not executable: make it executable and commit.';
  if (exitCode === 137) return 'The job was killed, probably because it ran out of memory.';
  return 'Its log has all output. Commit a fix, then run the pipeline again.';
}
