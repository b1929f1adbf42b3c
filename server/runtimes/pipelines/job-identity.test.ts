import { expect, it } from 'vitest';
import { identityOf, valuesInEnvironment } from './job-identity.ts';

it.each([
  ['review/a', 'development'],
  ['qa', 'testing'],
  ['staging', 'staging'],
  ['non-prod', 'staging'],
  ['eu/production', 'production'],
  ['live', 'production'],
  ['main', 'other'],
])('"Deployment tier of environments" (Environments): %s is %s', (name, tier) => {
  const run = { predefined: {}, ofGroup: {}, ofProject: [], typed: {} };
  expect(valuesInEnvironment(run, {}, {}, { name }).values.CI_ENVIRONMENT_TIER).toBe(tier);
});

it.each([
  ['build', 'build'],
  ['build: [linux, amd64]', 'build'],
  ['test ruby 1/3', 'test ruby'],
  ['test ruby 2:3', 'test ruby'],
  ['test: [a] 1/2', 'test'],
  ['deploy 2', 'deploy 2'],
])('"Group similar jobs together": %s is of the group %s', (name, group) => {
  expect(identityOf({ name, stage: 'test', node: { total: 1 } }).CI_JOB_GROUP_NAME).toBe(group);
});
