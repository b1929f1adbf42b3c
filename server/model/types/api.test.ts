import { expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { typeOfWord } from '../registry.ts';
import { refusalOf, WorldForTests } from './world-for-tests.ts';

const NOBODY = '11111111-2222-4333-8444-555555555555';

function setting() {
  const world = new WorldForTests();
  const { environment, docker } = world.withEnvironment('production');
  const create = (properties: JsonObject, name = 'forms') =>
    world.create('apis', { under: environment, name, properties });
  return { world, docker, create };
}

test('an API needs no provider, and one that names a gateway only is stored as sent (D-058)', () => {
  const { create } = setting();
  expect(create({}).properties).toEqual({});
  const provider = { locations: ['somewhere'] };
  expect(create({ provider }).properties).toEqual({ provider });
});

test('the provider it names is a gateway manager and fits the environment (D-054, D-058)', () => {
  const { world, create, docker } = setting();
  const forTests = world.create('providers', {
    type: 'Configuration::Provider::GatewayManager',
    properties: { environment_types: ['test'] },
  });
  expect(refusalOf(() => create({ provider: { id: NOBODY } }))).toMatchObject({ status: 404 });
  expect(refusalOf(() => create({ provider: { id: docker.id } }))).toMatchObject({ status: 404 });
  expect(refusalOf(() => create({ provider: { id: forTests.id } }))).toMatchObject({ status: 409 });
});

test.each([
  ['forms', true],
  ['A.b_c-1', true],
  ['api', true],
  ['.hidden', false],
  ['a/b', false],
  ['a b', false],
])('an API may be called %s: %s (D-059)', (name, allowed) => {
  expect(typeOfWord('apis').nameRule?.pattern.test(name)).toBe(allowed);
});

test('results is the name of a path of the gateway (D-059)', () => {
  const { create } = setting();
  expect(refusalOf(() => create({}, 'results'))).toMatchObject({ status: 400, pointer: '/name' });
});

test('an API is found from its manager and its gateway (D-129)', () => {
  const { world, create } = setting();
  const manager = world.create('providers', { type: 'Configuration::Provider::GatewayManager' });
  const gateway = world.create('providers', { type: 'Configuration::Provider::Kong' });
  const api = create({ provider: { id: manager.id, locations: [gateway.id, 'somewhere'] } });
  expect(world.view.referrers(manager.id)).toEqual([api]);
  expect(world.view.referrers(gateway.id)).toEqual([api]);
});
