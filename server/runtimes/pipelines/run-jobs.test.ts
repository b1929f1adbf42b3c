import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { JobDefinition } from './definition-schema.ts';
import { chosenJobs, planOf } from './plan.ts';
import { runJobs } from './run-jobs.ts';

/* Sections of GitLab's documentation are named in the titles. */

/**
 * Runs a push pipeline of these jobs, of which `bad` ones fail; what became of each, in this order, and how many ran at once.
 * @param jobNames the jobs that take part; all unless given
 */
async function ran(
  defined: Readonly<Record<string, Partial<JobDefinition>>>,
  chosen: readonly string[] = [],
  jobNames = Object.keys(defined),
) {
  const stages = ['build', 'test', 'deploy'];
  const plan = planOf(
    {
      stages,
      variables: {},
      workflowRules: undefined,
      jobs: new Map(
        Object.entries(defined).map(([name, definition]) => [name, { stage: 'test', variables: {}, ...definition }]),
      ),
    },
    {
      source: 'push',
      branch: 'a',
      files: [],
      compareCommits: async () => undefined,
      changed: () => [],
      changedSinceDefault: () => [],
    },
    { predefined: {}, ofGroup: {}, ofProject: [], typed: {} },
  );
  const log: string[] = [];
  let running = 0;
  let atOnce = 0;
  await runJobs({
    jobs: chosenJobs(plan.jobs, jobNames, stages),
    stages,
    isChosen: ({ name }) => chosen.includes(name),
    maxAtOnce: 4,
    delay: async () => undefined,
    async run({ name }) {
      running += 1;
      atOnce = Math.max(atOnce, running);
      await turn();
      running -= 1;
      log.push(`${name} ran`);
      return name.startsWith('bad') ? 'failed' : 'done';
    },
    onSkip: ({ name }, why) => log.push(`${name}: ${why}`),
    signal: new AbortController().signal,
  });
  return { log: log.sort(), atOnce };
}
const needs = (...names: string[]) => names.map((job) => ({ job }));

it('"Types of manual jobs": jobs of later stages go on without an optional one, but not a job that needs it', async () => {
  const jobs: Parameters<typeof ran>[0] = {
    approve: { when: 'manual' },
    after: { stage: 'deploy' },
    needing: { stage: 'deploy', needs: needs('approve') },
    last: { stage: 'deploy', needs: needs('needing') },
  };
  expect((await ran(jobs)).log).toEqual(['after ran', 'approve: manual', 'last: failure', 'needing: failure']);
  expect((await ran(jobs, ['approve'])).log).toEqual(['after ran', 'approve ran', 'last ran', 'needing ran']);
});

it('"needs": a job that needs one that did not run is skipped', async () => {
  const { log } = await ran({
    build: { stage: 'build' },
    undo: { when: 'on_failure' },
    report: { needs: needs('undo') },
    tidy: { needs: needs('undo'), when: 'always' },
  });
  expect(log).toEqual(['build ran', 'report: failure', 'tidy ran', 'undo: no failure']);
});

it('"Types of manual jobs": nothing runs behind one that blocks, also no job that always runs', async () => {
  const { log } = await ran({
    approve: { stage: 'build', when: 'manual', allow_failure: false },
    test: {},
    gate: { when: 'manual', allow_failure: false },
    clean: { stage: 'deploy', when: 'always' },
    beside: { stage: 'deploy', needs: [] },
  });
  expect(log).toEqual(['approve: manual', 'beside ran', 'clean: blocked', 'gate: blocked', 'test: blocked']);
});

it('"when:manual": one behind a failure is skipped, and blocks nothing', async () => {
  const { log } = await ran({
    'bad build': { stage: 'build' },
    test: {},
    gate: { when: 'manual', allow_failure: false, needs: needs('test') },
    clean: { stage: 'deploy', when: 'always' },
  });
  expect(log).toEqual(['bad build ran', 'clean ran', 'gate: failure', 'test: failure']);
});

it('"when:on_failure": one runs if a job of an earlier stage failed, or one of those that it needs', async () => {
  const { log } = await ran({
    'bad build': { stage: 'build' },
    lint: { stage: 'build' },
    test: {},
    tell: { stage: 'deploy', when: 'on_failure' },
    undo: { needs: needs('bad build', 'lint'), when: 'on_failure' },
    ignore: { needs: needs('lint'), when: 'on_failure' },
    'after a skipped job': { stage: 'deploy', needs: needs('test'), when: 'on_failure' },
    'after both': { stage: 'deploy', needs: needs('bad build', 'test'), when: 'on_failure' },
  });
  expect(log).toEqual([
    'after a skipped job: no failure',
    'after both: no failure',
    'bad build ran',
    'ignore: no failure',
    'lint ran',
    'tell ran',
    'test: failure',
    'undo ran',
  ]);
});

it('"when": skipped jobs of earlier stages count as successful for a job that needs none of them', async () => {
  const { log } = await ran({
    approve: { stage: 'build', when: 'manual', allow_failure: true },
    'bad tool': { stage: 'build', allow_failure: true, when: 'on_failure' },
    publish: { needs: needs('approve') },
    fix: { needs: needs('bad tool') },
    deploy: { stage: 'deploy' },
    undo: { stage: 'deploy', when: 'on_failure' },
  });
  expect(log).toEqual([
    'approve: manual',
    'bad tool: no failure',
    'deploy ran',
    'fix: failure',
    'publish: failure',
    'undo: no failure',
  ]);
});

it('chosen jobs run without the others, in the order of the pipeline, whatever their `when` says', async () => {
  const jobs: Parameters<typeof ran>[0] = {
    build: { stage: 'build' },
    'bad build': { stage: 'build' },
    approve: { when: 'manual', allow_failure: false },
    deploy: { stage: 'deploy', needs: needs('build', 'approve') },
    tell: { stage: 'deploy', when: 'on_failure' },
  };
  const ranOnly = async (...names: string[]) => (await ran(jobs, names, names)).log;
  expect(await ranOnly('deploy')).toEqual(['deploy ran']);
  expect(await ranOnly('tell')).toEqual(['tell ran']);
  expect(await ranOnly('tell', 'build')).toEqual(['build ran', 'tell ran']);
  expect((await ran(jobs, ['approve', 'deploy'], ['approve', 'deploy'])).atOnce).toBe(1);
  expect(await ranOnly('bad build', 'approve', 'tell')).toEqual(['approve: failure', 'bad build ran', 'tell ran']);
});

it('chosen jobs keep their order if the jobs between them are not chosen', async () => {
  const jobs: Parameters<typeof ran>[0] = {
    a: { stage: 'build' },
    b: { needs: needs('a') },
    c: { stage: 'deploy', needs: needs('b') },
    d: {},
    e: { stage: 'deploy', needs: needs('d') },
  };
  expect((await ran(jobs, [], ['a', 'c'])).atOnce).toBe(1);
  // A job without needs waits for the earlier stages.
  expect((await ran(jobs, [], ['a', 'e'])).atOnce).toBe(1);
  expect((await ran(jobs, [], ['b', 'd'])).atOnce).toBe(2);
});

it('a chosen job that is always run hides the failure of a job before it from the chosen jobs after it', async () => {
  const jobs: Parameters<typeof ran>[0] = {
    'bad a': { stage: 'build' },
    b: { needs: needs('bad a'), when: 'always' },
    c: { stage: 'deploy', needs: needs('b') },
  };
  expect((await ran(jobs, [], ['bad a', 'b', 'c'])).log).toEqual(['b ran', 'bad a ran', 'c ran']);
});

it('"resource_group": jobs of one group run one after the other', async () => {
  const jobs = { a: { resource_group: 'prod' }, b: { resource_group: '$WHERE', variables: { WHERE: 'prod' } }, c: {} };
  expect(await ran(jobs)).toEqual({ log: ['a ran', 'b ran', 'c ran'], atOnce: 2 });
  expect(await ran({ ...jobs, b: {} })).toMatchObject({ atOnce: 3 });
});
