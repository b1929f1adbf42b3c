import { z } from 'zod';
import { pipelineProgress, pipelineStart } from '../model/pipeline-run.ts';
import { accepted, created, listOf, type Operation, ok, ref, rowsOf } from './operation.ts';

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
    log: z.array(z.string()).optional().describe('Only of a single run'),
  }),
  ScmState: z.looseObject({
    url: z.url(),
    apiUrl: z.url().describe('What `SCM_API_URL` means'),
    token: z.string().optional().describe('For the root user only'),
    projects: z.array(z.looseObject({ id: z.int(), path_with_namespace: z.string() })),
  }),
};

/** The source-control stand-in, and what pipelines tell of their runs. */
export const deliveryOperations: readonly Operation[] = [
  delivery('get /inspect/scm', 'readScm', 'All that the source-control stand-in keeps', {
    success: ok(ref('ScmState')),
    errors: [403],
  }),
  delivery('get /inspect/pipelines', 'listPipelineRuns', 'Runs of pipelines, newest first', {
    success: ok(listOf(ref('PipelineRun'))),
    errors: [403],
  }),
  delivery('post /inspect/pipelines', 'beginPipelineRun', 'A runner begins a run', {
    description: 'For the root user.',
    body: { schema: ref('PipelineStart') },
    success: created(ref('PipelineRun')),
    errors: [403, 503],
  }),
  delivery('post /inspect/pipelines/demo', 'runDemoPipeline', "Run the sample app's pipeline", {
    description: 'For the root user. Answers as soon as the run has begun; follow it by its id.',
    success: accepted(ref('PipelineRun')),
    errors: [403, 409, 501],
  }),
  delivery('get /inspect/pipelines/{pipeline_id}', 'readPipelineRun', 'One run with its log', {
    success: ok(ref('PipelineRun')),
    errors: [403, 404],
  }),
  delivery('put /inspect/pipelines/{pipeline_id}', 'tellPipelineRun', 'A runner tells how its run goes on', {
    description: 'For the root user.',
    body: { schema: ref('PipelineProgress') },
    success: ok(ref('PipelineRun')),
    errors: [403, 404, 409, 503],
  }),
];
