import { expect, it } from 'vitest';
import type { PipelineDeployment, PipelineRun } from '../../../../server/model/pipeline-run.ts';
import { failureOf } from './run-failure.ts';
import { runLines } from './run-lines.ts';

const run = (more: Partial<PipelineRun>): PipelineRun => ({
  id: 'r',
  project: { id: 101, path: 'fern-moss/shop' },
  branch: 'feature/ferns',
  sha: 'a'.repeat(40),
  variables: { present: [], missing: [] },
  state: 'failed',
  startedAtMs: 0,
  jobs: [
    { name: 'build', stage: 'build', state: 'success', exitCode: 0 },
    { name: 'deploy', stage: 'deploy', state: 'failed', exitCode: 1 },
  ],
  log: [],
  ...more,
});
const explain = (more: Partial<PipelineRun>) => {
  const pipelineRun = run(more);
  return failureOf(pipelineRun, runLines(pipelineRun.log, pipelineRun.jobs));
};
const refused = (more: Partial<PipelineDeployment>): PipelineDeployment => ({
  atMs: 1,
  durationMs: 1,
  target: '/ci/deploy',
  problem: 'no',
  ...more,
});

it('has nothing to explain for a run that is running or succeeded', () => {
  expect(explain({ state: 'running' })).toBeUndefined();
  expect(explain({ state: 'success' })).toBeUndefined();
});

it('names the job, its exit code and the refusal, and says what to do about it', () => {
  const invoked = refused({ status: 200, code: 400, problem: "TARGET_PROVIDER 'x' is none", executionId: 'e' });
  expect(explain({ deployments: [invoked] })).toMatchObject({
    job: { name: 'deploy' },
    summary: 'Job deploy failed with exit code 1: the deployment was rejected.',
    output: ["400: TARGET_PROVIDER 'x' is none"],
    next: expect.stringContaining('its invocation has the event'),
    deployment: invoked,
  });
  for (const [status, next] of [
    [401, 'PLATFORM_API_SECRET'],
    [403, 'security plugin'],
    [404, 'PLATFORM_DEPLOY_URL'],
    [429, 'raise the limit'],
    [503, 'check the request'],
  ] as const) {
    expect(explain({ deployments: [refused({ status })] })?.next, String(status)).toContain(next);
  }
});

it('reads the last output of a job', () => {
  const explainOutput = (text: string) => explain({ log: [`[08:13:08 1 ms] deploy > ${text}`] });
  expect(explainOutput('Cannot connect to the Docker daemon at unix:///x')?.next).toContain('container engine');
  expect(explainOutput('pull access denied for no-such/image')?.next).toContain('Dockerfile');
  expect(explainOutput('curl: (7) Failed to connect')?.next).toContain('PLATFORM_DEPLOY_URL');
  expect(explainOutput('sh: 1: kubectl: not found')?.next).toContain('install it');
  expect(explainOutput('3 tests failed')).toMatchObject({
    summary: 'Job deploy failed with exit code 1.',
    output: ['3 tests failed'],
    next: expect.stringContaining('Its log'),
  });
});

it('explains a run that was stopped, and one that failed without a job', () => {
  expect(explain({ state: 'canceled', log: ['a', 'b'] })).toEqual({
    summary: expect.stringContaining('stopped'),
    output: ['b'],
    next: 'Run it again.',
  });
  expect(explain({ jobs: [], exitCode: 2, log: ['x'] })).toMatchObject({
    summary: 'No job failed, but the app that they deployed does not respond.',
  });
  expect(
    explain({ jobs: [], log: ["the pipeline is blocked by 'gate': manual jobs do not start by themselves"] }),
  ).toMatchObject({
    summary: 'A manual job blocks the pipeline.',
    output: [expect.stringContaining("'gate'")],
  });
  expect(explain({ jobs: [], deployments: [refused({ status: 400, executionId: 'e' })] })).toMatchObject({
    summary: 'No job failed, but a deployment was rejected.',
    output: ['400: no'],
  });
});
