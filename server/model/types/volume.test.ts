import { expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { refusalOf, WorldForTests } from './world-for-tests.ts';

function setting() {
  const world = new WorldForTests();
  const { environment, docker } = world.withEnvironment();
  const create = (properties: JsonObject) =>
    world.create('volumes', { under: environment, properties: { provider: { id: docker.id }, ...properties } });
  return { world, docker, create };
}

test.each([
  [{}, '/properties/type'],
  [{ type: 'tape' }, '/properties/type'],
  [{ type: 'persistent', size: 1.5 }, '/properties/size'],
  [{ type: 'persistent', access_mode: 'Everybody' }, '/properties/access_mode'],
  [{ type: 'persistent', colour: 'red' }, '/properties/colour'],
])('%j is refused at its place (D-079)', (properties: JsonObject, pointer) => {
  const { create } = setting();
  expect(refusalOf(() => create(properties))).toMatchObject({ status: 400, pointer });
});

test.each([
  ['/srv/data', true],
  ['/srv/data/', true],
  ['/srv/data/a//b', true],
  ['/srv/database', false],
  ['/srv', false],
  ['/', false],
  ['srv/data/a', false],
  ['/srv/data/../../etc', false],
  ['', false],
  [undefined, false],
])('a volume of the host folder %s is allowed: %s (D-079)', (path, allowed) => {
  const { create } = setting();
  const make = () => create({ type: 'host_path', ...(path !== undefined && { config: { host_path: path } }) });
  if (allowed) expect(make()).toBeDefined();
  else expect(refusalOf(make)).toMatchObject({ status: 400, pointer: '/properties/config/host_path' });
});

test('a volume shows no container while none has it mounted (D-079)', () => {
  const { world, create, docker } = setting();
  const properties = { type: 'external', external_id: 'x', provider: { id: docker.id } };
  expect(world.shown(create(properties))).toEqual(properties);
});
