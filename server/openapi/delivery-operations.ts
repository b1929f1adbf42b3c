import { z } from 'zod';
import { SEES_ALL } from '../contract/right.ts';
import { pipelineProgress, pipelineStart } from '../model/pipeline-run.ts';
import { accepted, created, gone, listOf, type Operation, ok, ref, rowsOf } from './operation.ts';

const delivery = rowsOf('Delivery');

/** What pipelines are sent and answer. */
export const deliverySchemas = {
  PipelineStart: pipelineStart,
  PipelineProgress: pipelineProgress,
  PipelineRun: z.looseObject({
    id: z.string(),
    ...pipelineStart.shape,
    state: pipelineProgress.shape.state,
    startedAtMs: z.number().describe('Milliseconds since 1970'),
    finishedAtMs: z.number().optional(),
    exitCode: z.int().optional(),
    appUrl: z.string().optional().describe('Where the app is'),
    deployments: z
      .array(
        z.looseObject({
          atMs: z.number().describe('Milliseconds since 1970'),
          durationMs: z.number(),
          status: z.int().optional(),
          code: z.int().optional().describe('In the body of the answer'),
          target: z.string(),
          action: z.enum(['deploy', 'stop']).optional(),
          executionId: z.uuid().optional().describe('Invocation of the deployment lambda'),
          container: z.object({ id: z.string(), name: z.string() }).optional(),
          published: z.object({ id: z.string(), url: z.string() }).optional(),
          noteId: z.int().optional().describe("The merge request's note that tells of it"),
          problem: z.string().optional(),
        }),
      )
      .optional()
      .describe('What it asked of the deployment endpoint'),
    log: z.array(z.string()).optional().describe('Only of a single run'),
  }),
  ScmState: z.looseObject({
    url: z.url(),
    apiUrl: z.url().describe('What `SCM_API_URL` means'),
    token: z.string().optional().describe('For the root user only'),
    projects: z.array(z.looseObject({ id: z.int(), path_with_namespace: z.string() })),
  }),
  PipelineProject: z.object({
    id: z.int(),
    path: z.string(),
    url: z.url(),
    variables: z.array(
      z.object({
        name: z.string(),
        about: z.string(),
        from: z
          .enum(['project', 'run', 'platform'])
          .optional()
          .describe('Set in the project, made for each run, or found in the world; absent: nothing gives it'),
        missing: z.string().optional().describe('Why nothing gives it'),
      }),
    ),
  }),
  PipelineRunId: z.object({ id: z.string() }),
  PipelineVariable: z.strictObject({ value: z.string() }),
};

/** The source-control stand-in, and what pipelines tell of their runs. */
export const deliveryOperations: readonly Operation[] = [
  delivery('get /inspect/scm', 'readScm', 'All that the source-control stand-in keeps', {
    right: SEES_ALL,
    success: ok(ref('ScmState')),
    errors: [403],
  }),
  delivery('get /inspect/scm/projects', 'listPipelineProjects', 'Projects and the variables of their pipelines', {
    right: SEES_ALL,
    description: 'Which are present, and from where, or missing, and why. Without their values.',
    success: ok(listOf(ref('PipelineProject'))),
    errors: [403],
  }),
  delivery('put /inspect/scm/projects/{project_id}/variables/{variable_key}', 'setPipelineVariable', 'Set a variable', {
    right: 'root',
    description: 'For the root user.',
    body: { schema: ref('PipelineVariable') },
    success: gone,
    errors: [403, 404, 503],
  }),
  delivery(
    'delete /inspect/scm/projects/{project_id}/variables/{variable_key}',
    'removePipelineVariable',
    'Remove a variable of a project',
    { right: 'root', description: 'For the root user.', success: gone, errors: [403, 404, 503] },
  ),
  delivery('get /inspect/pipelines', 'listPipelineRuns', 'Runs of pipelines, newest first', {
    right: SEES_ALL,
    query: ['recent_scope'],
    success: ok(listOf(ref('PipelineRun'))),
    errors: [403],
  }),
  delivery('post /inspect/pipelines', 'beginPipelineRun', 'A runner begins a run', {
    right: 'root',
    description: 'For the root user.',
    body: { schema: ref('PipelineStart') },
    success: created(ref('PipelineRun')),
    errors: [403, 503],
  }),
  delivery('post /inspect/pipelines/demo', 'runDemoPipeline', "Run the sample app's pipeline", {
    right: 'root',
    description: 'For the root user. Answers as soon as the run has begun; follow it by its id.',
    success: accepted(ref('PipelineRun')),
    errors: [403, 409],
  }),
  delivery(
    'post /inspect/pipelines/{pipeline_id}/jobs/{job_name}/retry',
    'retryPipelineJob',
    'Run one job of a run again',
    {
      right: 'root',
      description:
        'For the root user. In the same commit, with the artifacts of its jobs; a run of its own, which names the other as `retryOf`. Answers as soon as it has begun.',
      success: accepted(ref('PipelineRun')),
      errors: [403, 404, 409],
    },
  ),
  delivery('post /inspect/pipelines/{pipeline_id}/stop', 'stopPipelineRun', 'Stop a run that the platform has begun', {
    right: 'root',
    description: 'For the root user. Answers at once; the run is `canceled` when its runner has ended.',
    success: accepted(ref('PipelineRunId')),
    errors: [403, 404, 409],
  }),
  delivery('get /inspect/pipelines/{pipeline_id}', 'readPipelineRun', 'One run with its log', {
    right: SEES_ALL,
    success: ok(ref('PipelineRun')),
    errors: [403, 404],
  }),
  delivery('put /inspect/pipelines/{pipeline_id}', 'tellPipelineRun', 'A runner tells how its run goes on', {
    right: 'root',
    description: 'For the root user.',
    body: { schema: ref('PipelineProgress') },
    success: ok(ref('PipelineRun')),
    errors: [403, 404, 409, 503],
  }),
];
