import { expect, test } from 'vitest';
import { isJsonObject, type JsonObject, memberOf } from '../json.ts';
import { refusalOf, WorldForTests } from './world-for-tests.ts';

const KONG = 'Configuration::Provider::Kong';
const LOGGING = 'Configuration::Provider::Logging';
const LOGGING_ID = 'e1782fef-4b7c-4f75-b8b8-6e6e2ecd82b2';
const NOBODY = '11111111-2222-4333-8444-555555555555';

function credentials(properties: JsonObject) {
  return memberOf(memberOf(properties.config, 'auth'), 'credentials');
}

test('a provider keeps whatever it is sent, open objects with their nulls included (D-033)', () => {
  const world = new WorldForTests();
  const sent = { config: { url: 'x', nothing: null, env: { public: { A: '1' } } }, colour: ['red'], schema: 5 };
  expect(world.create('providers', { type: KONG, properties: sent }).properties).toEqual(sent);
});

test.each([
  [{ environment_types: ['staging'] }, '/properties/environment_types/0'],
  [{ environment_types: 'test' }, '/properties/environment_types'],
  [{ config: { env: { public: { A: 1 } } } }, '/properties/config/env/public/A'],
  [{ linked_providers: [{}] }, '/properties/linked_providers/0/id'],
])('%j is refused at its place (D-063)', (properties, pointer) => {
  const world = new WorldForTests();
  expect(refusalOf(() => world.create('providers', { type: KONG, properties }))).toMatchObject({
    status: 400,
    pointer,
  });
});

test('linked providers are stored as sent and shown with name, type and type id (D-063)', () => {
  const world = new WorldForTests();
  const logging = world.create('providers', { type: LOGGING, name: 'logs' });
  const linked_providers = [
    { id: logging.id, location: 'here' },
    { id: logging.id, name: 'alias' },
  ];
  const provider = world.create('providers', { type: KONG, properties: { linked_providers } });

  const type = { type: `Platform::${LOGGING}`, typeId: LOGGING_ID };
  expect(provider.properties).toEqual({ linked_providers });
  expect(world.shown(provider)).toEqual({
    linked_providers: [
      { id: logging.id, location: 'here', name: 'logs', ...type },
      { id: logging.id, name: 'alias', ...type },
    ],
  });
});

test('a link to what is no provider is 422 (D-182)', () => {
  const world = new WorldForTests();
  for (const id of [NOBODY, world.root.id]) {
    const properties = { linked_providers: [{ id }] };
    expect(refusalOf(() => world.create('providers', { type: KONG, properties }))).toMatchObject({
      status: 422,
      pointer: '/properties/linked_providers/0/id',
    });
  }
});

test('a deleted provider leaves the links of others (D-129)', () => {
  const world = new WorldForTests();
  const [gone, kept] = [world.create('providers', { type: LOGGING }), world.create('providers', { type: LOGGING })];
  const properties = { linked_providers: [{ id: gone.id }, { id: kept.id }] };
  const provider = world.create('providers', { type: KONG, properties });

  expect(world.forget(provider, gone)).toEqual({ linked_providers: [{ id: kept.id }] });
  expect(world.forget(provider, world.root)).toBeUndefined();
});

test('credentials are masked, shown on demand, and kept when the mask is sent back (D-066)', () => {
  const world = new WorldForTests();
  const config = { auth: { scheme: 'Basic', credentials: { username: 'u', password: 'p' } }, url: 'x' };
  const provider = world.create('providers', { type: KONG, properties: { config } });

  expect(world.shown(provider)).toEqual({ config: { auth: { scheme: 'Basic', credentials: '****' }, url: 'x' } });
  expect(world.shown(provider, true)).toEqual({ config });

  const readBack = world.shown(provider);
  expect(isJsonObject(readBack) && world.update(provider, readBack).properties).toEqual({ config });
  const changed = world.update(provider, { config: { auth: { credentials: 'new' } } });
  expect(credentials(changed.properties)).toBe('new');
});
