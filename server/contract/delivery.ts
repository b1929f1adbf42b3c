import { z } from 'zod';
import { pipelineProgress, pipelineRun, pipelineStart } from '../model/pipeline-run.ts';
import { named } from './named.ts';
import { uuid } from './parameter.ts';
import { SEES_ALL } from './right.ts';
import { begun, created, gone, json, ok, rowsOf } from './row.ts';

const wholeRun = named('WholePipelineRun', pipelineRun);
const run = named(
  'PipelineRun',
  pipelineRun.extend({ log: pipelineRun.shape.log.optional().describe('Only of a single run') }),
);

const project = z.looseObject({
  id: z.int(),
  path_with_namespace: z.string(),
  merge_requests: z.array(
    z.looseObject({
      iid: z.int(),
      title: z.string(),
      state: z.string(),
      source_branch: z.string(),
      target_branch: z.string(),
      web_url: z.string(),
      notes: z.array(
        z.looseObject({
          id: z.int(),
          body: z.string(),
          created_at: z.string(),
          author: z.looseObject({ name: z.string() }),
        }),
      ),
    }),
  ),
  environments: z.array(z.looseObject({ name: z.string(), state: z.string(), external_url: z.string().nullable() })),
});
export type ShownScmProject = z.output<typeof project>;

const pipelineVariable = z.object({
  name: z.string(),
  about: z.string(),
  from: z
    .enum(['project', 'run', 'platform'])
    .optional()
    .describe('Set in the project, made for each run, or found in the world; absent: nothing gives it'),
  missing: z.string().optional().describe('Why nothing gives it'),
});
export type PipelineVariable = z.output<typeof pipelineVariable>;

const pipelineProject = named(
  'PipelineProject',
  z.object({ id: z.int(), path: z.string(), url: z.url(), variables: z.array(pipelineVariable) }),
);

const MAX_VALUE_CHARACTERS = 10_000;
const root = { right: 'root', description: 'For the root user.' } as const;

/** The source-control stand-in, and what pipelines leave behind. */
export const deliveryRows = rowsOf('Delivery', {
  readScm: {
    route: 'get /inspect/scm',
    summary: 'All that the source-control stand-in keeps',
    right: SEES_ALL,
    answer: ok(
      named(
        'ScmState',
        z.object({
          url: z.url(),
          apiUrl: z.url().describe('What `SCM_API_URL` means'),
          token: z.string().optional().describe('For the root user only'),
          projects: z.array(project),
        }),
      ),
    ),
  },
  listPipelineProjects: {
    route: 'get /inspect/scm/projects',
    summary: 'Projects and the variables of their pipelines',
    description: 'Which are present, and from where, or missing, and why. Without their values.',
    right: SEES_ALL,
    answer: ok(z.array(pipelineProject)),
  },
  setPipelineVariable: {
    route: 'put /inspect/scm/projects/{project_id}/variables/{variable_key}',
    summary: 'Set a variable',
    ...root,
    body: json(named('PipelineVariable', z.strictObject({ value: z.string().min(1).max(MAX_VALUE_CHARACTERS) }))),
    answer: gone,
    errors: [404, 503],
  },
  removePipelineVariable: {
    route: 'delete /inspect/scm/projects/{project_id}/variables/{variable_key}',
    summary: 'Remove a variable of a project',
    ...root,
    answer: gone,
    errors: [400, 404, 503],
  },
  listPipelineRuns: {
    route: 'get /inspect/pipelines',
    summary: 'Runs of pipelines, newest first',
    description:
      'Those that deploy to an environment which one may view; the others for whoever may look at the whole platform.',
    right: 'caller',
    query: { scope: uuid('Those below an organization, workspace or environment') },
    answer: ok(z.array(run)),
  },
  beginPipelineRun: {
    route: 'post /inspect/pipelines',
    summary: 'A runner begins a run',
    ...root,
    body: json(named('PipelineStart', pipelineStart)),
    answer: created(run),
    errors: [503],
  },
  runDemoPipeline: {
    route: 'post /inspect/pipelines/demo',
    summary: "Run the sample app's pipeline",
    right: 'root',
    description: 'For the root user. Answers as soon as the run has begun; follow it by its id.',
    answer: begun(run),
    errors: [409],
  },
  retryPipelineJob: {
    route: 'post /inspect/pipelines/{pipeline_id}/jobs/{job_name}/retry',
    summary: 'Run one job of a run again',
    right: 'root',
    description:
      'For the root user. In the same commit, with the artifacts of its jobs; a run of its own, which names the other as `retryOf`. Answers as soon as it has begun.',
    answer: begun(run),
    errors: [404, 409],
  },
  stopPipelineRun: {
    route: 'post /inspect/pipelines/{pipeline_id}/stop',
    summary: 'Stop a run that the platform has begun',
    right: 'root',
    description: 'For the root user. Answers at once; the run is `canceled` when its runner has ended.',
    answer: begun(named('PipelineRunId', z.object({ id: z.string() }))),
    errors: [404, 409],
  },
  readPipelineRun: {
    route: 'get /inspect/pipelines/{pipeline_id}',
    summary: 'One run with its log',
    right: 'caller',
    answer: ok(wholeRun),
    errors: [404],
  },
  tellPipelineRun: {
    route: 'put /inspect/pipelines/{pipeline_id}',
    summary: 'A runner tells how its run goes on',
    ...root,
    body: json(named('PipelineProgress', pipelineProgress)),
    answer: ok(run),
    errors: [404, 409, 503],
  },
});
