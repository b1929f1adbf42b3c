import { z } from 'zod';
import { pipelineProgress, pipelineRun, pipelineStart } from '../../model/pipeline-run.ts';
import { named, object, strictObject } from '../schemas/parts.ts';
import { uuid } from './parameter.ts';
import { accepted, createdWithLocation, defineRoutes, json, noContent, ok, route, SEES_ALL } from './route.ts';

const wholeRun = named('WholePipelineRun', pipelineRun);
const run = named(
  'PipelineRun',
  pipelineRun.extend({ log: pipelineRun.shape.log.optional().describe('Only in the response for a single run') }),
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
export type ScmProjectView = z.output<typeof project>;

const pipelineVariable = z.object({
  name: z.string(),
  about: z.string(),
  from: z
    .enum(['project', 'group', 'run', 'platform'])
    .optional()
    .describe(
      'Set in the project or a group above it, created for each run, or found in the world; absent if the variable has no value',
    ),
  missing: z.string().optional().describe('Why the variable has no value'),
});
export type PipelineVariable = z.output<typeof pipelineVariable>;

const pipelineProject = object('PipelineProject', {
  id: z.int(),
  path: z.string(),
  url: z.url(),
  variables: z.array(pipelineVariable),
});

const MAX_VALUE_CHARACTERS = 10_000;

export const deliveryRoutes = defineRoutes('Delivery', {
  readScm: route('get /inspect/scm', SEES_ALL, {
    summary: 'Read the state of the mock GitLab',
    answer: ok(
      object('ScmState', {
        url: z.url(),
        apiUrl: z.url().describe('What `SCM_API_URL` means'),
        token: z.string().optional().describe('For the root user only'),
        projects: z.array(project),
      }),
    ),
  }),
  listPipelineProjects: route('get /inspect/scm/projects', SEES_ALL, {
    summary: 'List the pipeline variables of projects',
    description: 'Shows where each variable comes from, or why it is missing. Values are not included.',
    answer: ok(z.array(pipelineProject)),
  }),
  setPipelineVariable: route('put /inspect/scm/projects/{project_id}/variables/{variable_key}', 'root', {
    summary: 'Set a variable',
    body: json(strictObject('PipelineVariable', { value: z.string().min(1).max(MAX_VALUE_CHARACTERS) }), {
      value: 'north',
    }),
    answer: noContent,
  }),
  removePipelineVariable: route('delete /inspect/scm/projects/{project_id}/variables/{variable_key}', 'root', {
    summary: 'Remove a variable of a project',
    answer: noContent,
  }),
  listPipelineRuns: route('get /inspect/pipelines', 'caller', {
    summary: 'List pipeline runs, newest first',
    description:
      'Runs that deploy to an environment are listed if you can view the environment. Other runs require permission to view the ' +
      'entire platform.',
    query: { scope: uuid('Only runs that deploy below this organization, workspace or environment') },
    answer: ok(z.array(run)),
  }),
  beginPipelineRun: route('post /inspect/pipelines', 'root', {
    summary: 'Report the start of a run',
    body: json(named('PipelineStart', pipelineStart), {
      project: { id: 1, path: 'demo/shop' },
      branch: 'main',
      sha: 'a94a8fe5ccb19ba61c4c0873d391e987982fbbd3',
      variables: { present: [], missing: [] },
      jobs: [],
    }),
    answer: createdWithLocation(run),
  }),
  runDemoPipeline: route('post /inspect/pipelines/demo', 'root', {
    summary: "Run the sample app's pipeline",
    description: 'The response is sent when the run has started. Use its id to follow the run.',
    answer: accepted(run),
    errors: [409],
  }),
  retryPipelineJob: route('post /inspect/pipelines/{pipeline_id}/jobs/{job_name}/retry', 'root', {
    summary: 'Retry one job of a run',
    description:
      'Runs the job on the same commit with the artifacts of earlier jobs, as a separate run with the other id ' +
      'in `retryOf`. The response is sent when the run has started.',
    answer: accepted(run),
    errors: [409],
  }),
  stopPipelineRun: route('post /inspect/pipelines/{pipeline_id}/stop', 'root', {
    summary: 'Stop a run that the platform started',
    description: 'The response is immediate. The run becomes `canceled` when its runner has ended.',
    answer: accepted(object('PipelineRunId', { id: z.string() })),
    errors: [409],
  }),
  readPipelineRun: route('get /inspect/pipelines/{pipeline_id}', 'caller', {
    summary: 'Read a run with its log',
    answer: ok(wholeRun),
  }),
  tellPipelineRun: route('put /inspect/pipelines/{pipeline_id}', 'root', {
    summary: 'Report the progress of a run',
    body: json(named('PipelineProgress', pipelineProgress), { state: 'success', jobs: [] }),
    answer: ok(run),
    errors: [409],
  }),
});
