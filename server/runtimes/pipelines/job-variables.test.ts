import { expect, it } from 'vitest';
import type { JobDefinition } from './definition-schema.ts';
import { inScope, projectVariables } from './job-variables.ts';
import { planOf } from './plan.ts';
import { jobVariables } from './run-job.ts';

const variable = (key: string, value: string, more = {}) => ({
  key,
  value,
  variable_type: 'env_var',
  protected: false,
  masked: false,
  raw: false,
  environment_scope: '*',
  level: 0,
  ...more,
});
const BRANCHES = { branch: 'feature/a', defaultBranch: 'main' };

it('a branch gets unprotected variables, the default branch gets all', () => {
  const all = [variable('A', '1'), variable('B', '2', { protected: true, masked: true })];
  const ofBranch = projectVariables(all, BRANCHES);
  expect(ofBranch).toMatchObject({ variables: [{ key: 'A' }], withheld: ['B'], secrets: ['2'] });
  expect(projectVariables(all, { ...BRANCHES, branch: 'main' })).toMatchObject({
    variables: [{ key: 'A' }, { key: 'B' }],
    withheld: [],
  });
});

it('a variable that acts before any job, as earlier versions took it, is refused before anything runs', () => {
  expect(() => projectVariables([variable('BASH_ENV', '/tmp/x')], BRANCHES)).toThrow(
    "the project's variable BASH_ENV is read by shells before a job's script begins, so no job was run",
  );
});

it('of several of one key a job gets the one whose scope says most of its environment', () => {
  const all = ['review/*', '*', 'review/a.b', 'production'].map((scope) =>
    variable('TIER', scope, { environment_scope: scope }),
  );
  const last = (environment?: string) => inScope(all, environment).at(-1)?.value;
  expect([last(), last('review/x'), last('review/a.b'), last('review/aXb'), last('staging')]).toEqual([
    '*',
    'review/*',
    'review/a.b',
    'review/*',
    '*',
  ]);
});

it('a variable of the project wins over those of its groups, and the nearest group over those above it', () => {
  const all = [
    variable('A', 'of the group', { environment_scope: 'review/x' }),
    variable('B', 'of the group'),
    variable('A', 'of the subgroup', { level: 1 }),
    variable('B', 'of the project', { level: 2 }),
  ];
  const { variables } = projectVariables(all, BRANCHES);
  const values = Object.fromEntries(inScope(variables, 'review/x').map(({ key, value }) => [key, value]));
  expect(values).toEqual({ A: 'of the subgroup', B: 'of the project' });
});

/** The variables of a job named `a`, in the project `group/web/shop`. */
function valuesOf(job: JobDefinition, typed: Record<string, string> = {}): Record<string, string>[] {
  const predefined = { CI_PROJECT_PATH: 'group/web/shop' };
  const run = { predefined, ofGroup: {}, ofProject: [], typed };
  const definition = { stages: ['test'], variables: {}, workflowRules: undefined, jobs: new Map([['a', job]]) };
  const facts = {
    source: 'push' as const,
    branch: 'a',
    files: [],
    compareCommits: async () => undefined,
    changed: () => true as const,
    changedSinceDefault: () => true as const,
  };
  const location = { projectDir: '/builds/group/web/shop', dotenv: {}, jobId: 1 };
  return planOf(definition, facts, run).jobs.map((planned) => jobVariables(planned, run, location).values);
}

it('CI_JOB_IMAGE is the image of the job, with its variables replaced', () => {
  const image = { name: 'node:$VERSION' };
  const values = valuesOf({ stage: 'test', variables: {}, image }, { VERSION: '20' });
  expect(values).toMatchObject([{ CI_JOB_NAME: 'a', CI_JOB_IMAGE: 'node:20' }]);
});

it.each([
  ['90s', '90'],
  [undefined, '3600'],
])(
  '"Predefined variables": a job with the timeout %s has its seconds, and the folder above all projects',
  (timeout, seconds) => {
    const values = valuesOf({ stage: 'test', variables: {}, timeout });
    expect(values).toMatchObject([{ CI_JOB_TIMEOUT: seconds, CI_BUILDS_DIR: '/builds', CI_CONCURRENT_ID: '0' }]);
  },
);
