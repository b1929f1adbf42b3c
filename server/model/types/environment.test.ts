import { expect, test } from 'vitest';
import { environmentTypes } from './reference-lists.ts';
import { refusalOf, WorldForTests } from './world-for-tests.ts';

test.each<[string, string]>([
  ['production', 'production'],
  ['Development', 'development'],
  ['TEST', 'test'],
  ...environmentTypes.map(({ id, name }): [string, string] => [id.toUpperCase(), name]),
])('environment type %s is stored as %s (D-043)', (sent, stored) => {
  const world = new WorldForTests();
  const workspace = world.create('workspaces');
  const environment = world.create('environments', { under: workspace, properties: { environment_type: sent } });
  expect(environment.properties).toEqual({ environment_type: stored });
  expect(world.shown(environment)).toMatchObject({ workspace: { id: workspace.id, name: workspace.name } });
});

test.each([
  [{}, 'is required'],
  [{ environment_type: 'staging' }, 'must be one of development, test, production, system'],
  [{ environment_type: 7 }, 'must be a string'],
])('an environment of %j is refused (D-043)', (properties, message) => {
  const world = new WorldForTests();
  const refusal = refusalOf(() => world.create('environments', { under: world.create('workspaces'), properties }));
  expect(refusal).toMatchObject({ status: 400, pointer: '/properties/environment_type' });
  expect(refusal.message).toContain(message);
});

test('an environment keeps its type while a workload would lose its provider (D-044)', () => {
  const world = new WorldForTests();
  const { environment } = world.withEnvironment('development');
  const provider = world.create('providers', {
    type: 'Configuration::Provider::Lambda',
    properties: { environment_types: ['development', 'test'] },
  });
  world.create('lambdas', {
    under: environment,
    properties: { provider: { id: provider.id }, runtime: 'nodejs', code_type: 'inline', code: 'x', handler: 'run' },
  });

  expect(world.update(environment, { environment_type: 'test' }).properties.environment_type).toBe('test');
  expect(world.update(environment, { environment_type: 'system' }).properties.environment_type).toBe('system');
  expect(refusalOf(() => world.update(environment, { environment_type: 'production' }))).toEqual({
    status: 409,
    message: 'Incompatible Environment type',
    pointer: '/properties/environment_type',
  });
});
