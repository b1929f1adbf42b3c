import { describe, expect, it } from 'vitest';
import type { JobDefinition } from './definition-schema.ts';
import type { RunVariables } from './job-variables.ts';
import { PipelineError } from './pipeline-error.ts';
import { planOf } from './plan.ts';
import type { PipelineFacts } from './rules.ts';

const NO_VARIABLES: RunVariables = { predefined: {}, ofGroup: {}, ofProject: [], typed: {} };

/** The plan for a push, with jobs of stage `test` unless they say otherwise. */
function plan(jobs: Readonly<Record<string, Partial<JobDefinition>>>, variables = NO_VARIABLES) {
  const facts: PipelineFacts = {
    source: 'push',
    branch: 'a',
    files: [],
    compareCommits: async () => undefined,
    changed: () => [],
    changedSinceDefault: () => [],
  };
  const defined = Object.entries(jobs).map(([name, job]): [string, JobDefinition] => [
    name,
    { stage: 'test', variables: {}, ...job },
  ]);
  const definition = {
    stages: ['.pre', 'build', 'test', 'deploy', '.post'],
    variables: {},
    workflowRules: undefined,
    jobs: new Map(defined),
  };
  return planOf(definition, facts, variables).jobs;
}
const needs = (...names: string[]) => names.map((job) => ({ job }));

describe('circular needs', () => {
  it.each<[string, Parameters<typeof plan>[0], string]>([
    ['of a job that needs itself', { a: { needs: needs('a') } }, 'a -> a'],
    ['of two jobs', { a: { needs: needs('b') }, b: { needs: needs('a') } }, 'a -> b -> a'],
    [
      'of three jobs, and one that only waits for them',
      { z: { needs: needs('b') }, a: { needs: needs('b') }, b: { needs: needs('c') }, c: { needs: needs('z', 'a') } },
      'z -> b -> c -> z',
    ],
    [
      'of jobs that have no part in this pipeline',
      { ok: {}, a: { needs: needs('b'), rules: [] }, b: { needs: needs('a'), rules: [] } },
      'a -> b -> a',
    ],
    [
      'that an optional need closes',
      { a: { needs: [{ job: 'b', optional: true }] }, b: { needs: needs('a') } },
      'a -> b -> a',
    ],
    ['that a rule gives', { a: { rules: [{ needs: needs('b') }] }, b: { needs: needs('a') } }, 'a -> b -> a'],
    [
      'of a job that a rule has wait for a later stage, which waits for its own',
      { a: { stage: 'build', rules: [{ needs: needs('b') }] }, b: {} },
      'a -> b -> a',
    ],
    ['of parallel jobs', { a: { parallel: 2, needs: needs('a') } }, 'a -> a'],
  ])('%s are refused with the names of its jobs', (_title, jobs, names) => {
    const sentence = `.gitlab-ci.yml: circular needs: ${names}. Remove one of these needs.`;
    expect(() => plan(jobs)).toThrow(new PipelineError(sentence));
  });

  it('are not what needs of another project are', () => {
    expect(plan({ a: { needs: [{ job: 'a', project: 'group/other' }] } })).toMatchObject([{ name: 'a', needs: [] }]);
  });

  it('are not what several paths to one job are, nor jobs that take artifacts from each other', () => {
    const jobs = {
      a: { needs: needs('b', 'c') },
      b: { needs: needs('d') },
      c: { needs: needs('d') },
      d: { needs: [] },
    };
    expect(plan(jobs).map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd']);
    // `dependencies` only say whose artifacts a job gets: it does not wait for them.
    expect(plan({ a: { dependencies: ['b'] }, b: { dependencies: ['a'] } })).toHaveLength(2);
  });
});

describe('the rules of a job', () => {
  it.each<[string, Partial<JobDefinition>, string]>([
    ['its name', {}, '$CI_JOB_NAME == "deploy" && $CI_JOB_NAME_SLUG == "deploy"'],
    ['its stage', { stage: 'deploy' }, '$CI_JOB_STAGE == "deploy"'],
    ['its environment', { environment: { name: 'prod/$REGION' } }, '$CI_ENVIRONMENT_NAME == "prod/eu"'],
    ['variables of its environment only', { environment: { name: 'prod/$REGION' } }, '$TOKEN'],
  ])('see %s', (_title, job, condition) => {
    const variables: RunVariables = {
      predefined: { REGION: 'eu' },
      ofGroup: {},
      ofProject: [
        { key: 'TOKEN', value: 'x', environment_scope: 'prod/*', variable_type: 'env_var', raw: false, level: 0 },
      ],
      typed: {},
    };
    expect(plan({ deploy: { ...job, rules: [{ if: condition }] } }, variables)).toHaveLength(1);
    expect(plan({ other: { rules: [{ if: condition }] } }, variables)).toEqual([]);
  });
});

it('has no jobs if all of them are in `.pre` and `.post`, as on GitLab', () => {
  expect(plan({ first: { stage: '.pre' }, last: { stage: '.post' }, other: { rules: [] } })).toEqual([]);
  expect(plan({ first: { stage: '.pre' }, other: {} })).toHaveLength(2);
});

it('gives a job the delay of the rule that delays it, or else its own', () => {
  const jobs = {
    a: { rules: [{ when: 'delayed', start_in: '1 hour' }] },
    b: { when: 'delayed', start_in: '2 hours' },
    c: { start_in: '3 hours', rules: [{ when: 'delayed' }] },
  };
  expect(plan(jobs).map(({ startIn }) => startIn)).toEqual(['1 hour', '2 hours', '3 hours']);
});
