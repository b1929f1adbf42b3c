import { expect, it } from 'vitest';
import { type ChildOptions, childPipelines } from './child-pipeline.ts';
import { planOf } from './plan.ts';
import { RunLog } from './run-log.ts';

it('a canceled job with `strategy: depend` is canceled, although its child pipeline has a manual job', async () => {
  const variables = { predefined: {}, ofGroup: {}, ofProject: [], typed: {} };
  const stages = ['test'];
  const ofJob = { stage: 'test', variables: {}, script: ['echo hi'] };
  const facts = {
    source: 'push' as const,
    branch: 'main',
    files: [],
    compareCommits: async () => undefined,
    changed: () => [],
    changedSinceDefault: () => [],
  };
  const planned = (jobs: object) =>
    planOf({ stages, variables: {}, workflowRules: undefined, jobs: new Map(Object.entries(jobs)) }, facts, variables);
  const [trigger] = planned({ child: { ...ofJob, script: undefined, trigger: { include: 'ci.yml' } } }).jobs;
  if (!trigger) throw new Error('the job does not take part');
  const plan = planned({ later: { ...ofJob, when: 'delayed', start_in: '1 day' }, ship: { ...ofJob, when: 'manual' } });
  const log = new RunLog({
    jobs: [{ name: 'child', stage: 'test', state: 'waiting' }],
    secrets: [],
    reportLine: () => undefined,
    report: async () => undefined,
  });
  const controller = new AbortController();
  const options: Pick<ChildOptions, 'log' | 'children' | 'schedule'> = {
    log,
    children: new Map([['child', { ...plan, stages, variables, isDepended: true }]]),
    schedule: {
      isChosen: () => false,
      maxAtOnce: 1,
      delay: async () => controller.abort(),
      onSkip: () => undefined,
      signal: controller.signal,
    },
  };
  const children = childPipelines({ ...options, context: { env: {}, signal: controller.signal } } as ChildOptions);
  expect(await children.run(trigger, variables)).toBe('failed');
  expect(log.jobs.map(({ name, state }) => [name, state])).toEqual([
    ['child', 'canceled'],
    ['later', 'waiting'],
    ['ship', 'manual'],
  ]);
});
