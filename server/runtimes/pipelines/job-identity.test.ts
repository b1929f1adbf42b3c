import { expect, it } from 'vitest';
import { environmentVariables } from './job-identity.ts';

it.each([
  ['review/a', 'development'],
  ['qa', 'testing'],
  ['staging', 'staging'],
  ['non-prod', 'staging'],
  ['eu/production', 'production'],
  ['live', 'production'],
  ['main', 'other'],
])('"Deployment tier of environments" (Environments): %s is %s', (name, tier) => {
  expect(environmentVariables({ name }, name).CI_ENVIRONMENT_TIER).toBe(tier);
});
