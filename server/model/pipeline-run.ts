import { z } from 'zod';

export const PIPELINE_VARIABLES = {
  PLATFORM_API_KEY: 'API key of the account that the pipeline acts as',
  PLATFORM_API_SECRET: 'secret of that key',
  PLATFORM_DEPLOY_URL: 'public address of the deployment endpoint',
  APP_SERVICE_PORT: 'port that the app listens on',
  PLATFORM_TARGET_API_UUID: 'API that publishes the app',
  PLATFORM_TARGET_ENV_UUID: 'environment that runs the app',
  PLATFORM_TARGET_ORG_NAME: 'organization to deploy to',
  SCM_PROJECT_ID: 'id of the project',
  SCM_PROJECT_NAME: 'name of the project, from which the name of the container is derived',
} as const;

/** `manual`: it runs when a user starts it. */
const jobState = z.enum(['waiting', 'running', 'success', 'failed', 'skipped', 'canceled', 'manual']);

const pipelineJob = z.strictObject({
  name: z.string().max(255),
  stage: z.string().max(255),
  state: jobState,
  exitCode: z.int().optional(),
  mayFail: z.boolean().optional(),
  startedAtMs: z.number().optional(),
  durationMs: z.number().optional(),
  coverage: z.number().optional().describe('Percentage that the output (`coverage`) or else the Cobertura report has'),
  tests: z
    .strictObject({
      total: z.int(),
      failed: z.int(),
      skipped: z.int(),
      failing: z.array(z.string()).describe('Names of the first failed tests'),
    })
    .optional()
    .describe('Sum of the JUnit reports'),
});

export const pipelineStart = z.strictObject({
  project: z.strictObject({ id: z.int(), path: z.string() }),
  branch: z.string(),
  sha: z.string(),
  isTag: z.literal(true).optional(),
  mergeRequest: z.strictObject({ iid: z.int(), url: z.string() }).optional(),
  /** Names of the variables that are set, and of those that the definition uses and that are missing. Never values. */
  variables: z.strictObject({ present: z.array(z.string()), missing: z.array(z.string()) }),
  /** The deployment address; requests to it during the run are its deployments. */
  deployUrl: z
    .url({ protocol: /^https?$/ })
    .max(2_000)
    .optional(),
  /** The target environment, which determines the position of the run in the world. */
  targetEnvironmentId: z.guid().optional().catch(undefined),
  startedBy: z.string().max(64).optional(),
  /** The trigger, as in `CI_PIPELINE_SOURCE`. */
  source: z.string().max(64).optional(),
  /** True if uncommitted changes of the branch's folder were included. */
  hasWorkingTree: z.boolean().optional(),
  /** The API key for the deployment endpoint, unless the project sets another one; it identifies the requests of the run. */
  apiKey: z.string().max(255).optional(),
  /** Hash of the token for the mock GitLab during the run. */
  jobTokenId: z.string().max(64).optional(),
  /** Folder of the repository on this machine; absent for the sample app, whose repository is created for each run. */
  folder: z.string().max(4_096).optional(),
  /** For a retried job: the original run. */
  retryOf: z.string().max(64).optional(),
  /** The commit that the branch had before the push that started the run, or zeros. */
  beforeSha: z.string().max(64).optional(),
  jobs: z.array(pipelineJob).max(1_000),
});

const pipelineApp = z.strictObject({
  containerId: z.string().optional().describe('Absent if only the address of an environment is known'),
  name: z.string(),
  image: z.string().optional(),
  instances: z.int().optional().describe('Running instances of the current definition'),
  url: z.string().optional(),
  status: z.int().optional().describe('Status of the first response of the address'),
  problem: z.string().optional(),
});
export type PipelineApp = z.output<typeof pipelineApp>;

export const pipelineProgress = z.strictObject({
  state: z.enum(['running', 'success', 'failed', 'canceled']),
  // A runner sends those of a run of an earlier version back to end it.
  jobs: z.array(pipelineJob.strip()).max(1_000),
  log: z.array(z.string()).max(10_000).default([]),
  exitCode: z.int().optional(),
  /** Address of the app, from the environment in the mock GitLab. */
  appUrl: z.string().optional(),
  apps: z.array(pipelineApp).optional(),
});

export type PipelineJob = z.output<typeof pipelineJob>;
export type PipelineStart = z.output<typeof pipelineStart>;
export type PipelineProgress = z.output<typeof pipelineProgress>;

export function hasEnded({ state }: Pick<PipelineJob, 'state'>): boolean {
  return state !== 'waiting' && state !== 'running';
}

const atMs = z.number().describe('Milliseconds since 1970');
const id = z.guid();

const pipelineDeployment = z.object({
  atMs,
  durationMs: z.number(),
  status: z.int().optional().describe('Absent if the caller disconnected before the response'),
  code: z.int().optional().describe('Code in the body of the response'),
  target: z.string().describe('The request target, e.g. `/ci/deploy`'),
  action: z.enum(['deploy', 'stop']).optional(),
  image: z.string().optional(),
  // Both are absent if the gateway refused the request earlier.
  endpointId: id.optional(),
  executionId: id.optional().describe('Invocation of the deployment lambda'),
  container: z.object({ id: z.string(), name: z.string() }).optional(),
  published: z.object({ id: z.string(), url: z.string() }).optional(),
  noteId: z.int().optional().describe('The note on the merge request with the result'),
  isEnvironmentTold: z.boolean().optional().describe('Whether the review environment got the address'),
  problem: z.string().optional(),
});
export type PipelineDeployment = z.output<typeof pipelineDeployment>;

export const pipelineRun = z.object({
  id: z.string(),
  iid: z.int().optional().describe('Number of the run within its project; absent for runs of earlier versions'),
  ...pipelineStart.shape,
  // Jobs of earlier versions have more members.
  jobs: z.array(pipelineJob.strip()),
  targetEnvironmentId: id.optional(),
  state: pipelineProgress.shape.state,
  startedAtMs: atMs,
  finishedAtMs: z.number().optional(),
  exitCode: z.int().optional(),
  appUrl: z.string().optional().describe('Address of the app'),
  deployments: z
    .array(pipelineDeployment)
    .readonly()
    .optional()
    .describe('Requests of the run to the deployment endpoint'),
  changed: z
    .array(z.object({ id, name: z.string(), endpointIds: z.array(id) }))
    .optional()
    .describe('Containers that the run created or changed, by its key or by a lambda that it called'),
  apps: z.array(pipelineApp).optional().describe('What the run deployed, as found at its end'),
  log: z.array(z.string()),
});
export type PipelineRun = z.output<typeof pipelineRun>;

/** Returns the log lines of one job in a run, without the stamps that name the job. */
export function jobLines(name: string, log: readonly string[]): string[] {
  return log.flatMap((line) => {
    const [stamp = ''] = /^\[\d\d:\d\d:\d\d [^\]]*\] /.exec(line) ?? [];
    const rest = line.slice(stamp.length);
    return stamp !== '' && rest.startsWith(`${name}  `) ? [rest.slice(name.length).trimStart()] : [];
  });
}
