import { z } from 'zod';

/** The variables of the specification's pipeline table, which a definition may ask for, and what each is. */
export const PIPELINE_VARIABLES = {
  PLATFORM_API_KEY: 'API key of the account that the pipeline acts as',
  PLATFORM_API_SECRET: 'secret of that key',
  PLATFORM_DEPLOY_URL: 'public address of the deployment endpoint',
  APP_SERVICE_PORT: 'port that the app listens on',
  PLATFORM_TARGET_API_UUID: 'API that publishes the app',
  PLATFORM_TARGET_ENV_UUID: 'environment that runs the app',
  PLATFORM_TARGET_ORG_NAME: 'organization of that environment',
  SCM_PROJECT_ID: 'id of the project',
  SCM_PROJECT_NAME: 'name of the project, from which that of the container is made',
} as const;

const jobState = z.enum(['waiting', 'running', 'success', 'failed', 'skipped', 'canceled']);

/** One job of a pipeline. */
const pipelineJob = z.strictObject({
  name: z.string().max(255),
  stage: z.string().max(255),
  state: jobState,
  exitCode: z.int().optional(),
  /** May it fail, and the pipeline go on? */
  mayFail: z.boolean().optional(),
  startedAtMs: z.number().optional(),
  durationMs: z.number().optional(),
});

/** What the runner of a pipeline tells when it begins. */
export const pipelineStart = z.strictObject({
  project: z.strictObject({ id: z.int(), path: z.string() }),
  branch: z.string(),
  sha: z.string(),
  /** The merge request that the run is for. */
  mergeRequest: z.strictObject({ iid: z.int(), url: z.string() }).optional(),
  /** Names of the variables that it was given, and of those that its definition asks for and that nobody gave. Never values. */
  variables: z.strictObject({ present: z.array(z.string()), missing: z.array(z.string()) }),
  /** Where it hands over what it has built; requests to there while it runs are its deployments. */
  deployUrl: z.string().max(2_000).optional(),
  /** The environment that it deploys to: by it a run has its place in the world. */
  targetEnvironmentId: z.guid().optional().catch(undefined),
  /** Of a run that the platform itself has begun, and that it can stop. */
  startedBy: z.string().max(64).optional(),
  /** What has set it off, as `CI_PIPELINE_SOURCE` says it. */
  source: z.string().max(64).optional(),
  /** Of a branch whose folder held what was not committed, and that took it along. */
  hasWorkingTree: z.boolean().optional(),
  /** The key that its jobs call the deployment endpoint with, unless the project sets another: by it requests are told apart. */
  apiKey: z.string().max(255).optional(),
  /** Names the token that its jobs open the source-control server with while it runs. */
  jobTokenId: z.string().max(64).optional(),
  /** The repository's folder on this machine; absent for the sample app's, which is made for each run. */
  folder: z.string().max(4_096).optional(),
  /** Of a job that is run again: the run that it is of. */
  retryOf: z.string().max(64).optional(),
  jobs: z.array(pipelineJob).max(1_000),
});

/** What it tells while it goes on. */
export const pipelineProgress = z.strictObject({
  state: z.enum(['running', 'success', 'failed', 'canceled']),
  jobs: z.array(pipelineJob).max(1_000),
  /** Lines since it last told. */
  log: z.array(z.string()).max(10_000).default([]),
  /** Of the runner, once it has ended. */
  exitCode: z.int().optional(),
  /** Where the app is, as the environment in the source-control server says. */
  appUrl: z.string().optional(),
});

export type PipelineJob = z.output<typeof pipelineJob>;
export type PipelineStart = z.output<typeof pipelineStart>;
export type PipelineProgress = z.output<typeof pipelineProgress>;

/** Is it over, one way or another, or will it never begin? */
export function hasEnded({ state }: Pick<PipelineJob, 'state'>): boolean {
  return state !== 'waiting' && state !== 'running';
}

const atMs = z.number().describe('Milliseconds since 1970');
const id = z.guid();

/** What a run asked of the deployment endpoint, and what became of it. */
const pipelineDeployment = z.object({
  atMs,
  durationMs: z.number(),
  status: z.int().optional().describe('Absent when the caller went away before an answer'),
  code: z.int().optional().describe('In the body of the answer'),
  target: z.string().describe('The request target, e.g. `/ci/deploy`'),
  action: z.enum(['deploy', 'stop']).optional(),
  image: z.string().optional(),
  // Both are absent when the gateway refused the request before.
  endpointId: id.optional(),
  executionId: id.optional().describe('Invocation of the deployment lambda'),
  container: z.object({ id: z.string(), name: z.string() }).optional(),
  published: z.object({ id: z.string(), url: z.string() }).optional(),
  noteId: z.int().optional().describe("The merge request's note that tells of it"),
  isEnvironmentTold: z.boolean().optional().describe('Was the review environment told the address?'),
  problem: z.string().optional(),
});
export type PipelineDeployment = z.output<typeof pipelineDeployment>;

/** The record of one run of a pipeline. */
export const pipelineRun = z.object({
  id: z.string(),
  ...pipelineStart.shape,
  targetEnvironmentId: id.optional(),
  state: pipelineProgress.shape.state,
  startedAtMs: atMs,
  finishedAtMs: z.number().optional(),
  exitCode: z.int().optional(),
  appUrl: z.string().optional().describe('Where the app is'),
  deployments: z.array(pipelineDeployment).readonly().optional().describe('What it asked of the deployment endpoint'),
  log: z.array(z.string()),
});
export type PipelineRun = z.output<typeof pipelineRun>;
