import { expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { refusalOf, WorldForTests } from './world-for-tests.ts';

const NOBODY = '11111111-2222-4333-8444-555555555555';

function setting(environmentType?: string) {
  const world = new WorldForTests();
  const { environment, lambdas, docker } = world.withEnvironment(environmentType);
  const inline = { provider: { id: lambdas.id }, runtime: 'NodeJS', code_type: 'Inline', code: 'eA==', handler: 'run' };
  const create = (properties: JsonObject, under = environment) => world.create('lambdas', { under, properties });
  return { world, environment, lambdas, docker, inline, create };
}

test('what is sent is stored as sent, and no default is added (D-027)', () => {
  const { inline, create, world } = setting();
  const sent = {
    ...inline,
    headers: { Accept: 'text/html' },
    env: { A: '1' },
    compressed: 'false',
    periodic_info: { x: null },
  };
  const lambda = create(sent);
  expect(lambda.properties).toEqual(sent);
  expect(world.shown(lambda)).toEqual(sent);
});

test('superfluous code members of the other code type are allowed (D-057)', () => {
  const { inline, create } = setting();
  const packaged = {
    ...inline,
    code_type: 'PACKAGE',
    code: '',
    package_url: 'https://example.com/a.zip',
    compressed: true,
  };
  expect(create(packaged).properties).toEqual(packaged);
  expect(create({ ...inline, code_type: 'code', package_url: 'http://example.com/a.js' })).toBeDefined();
});

test.each([
  [{ provider: undefined }, '/properties/provider', 'is required'],
  [{ provider: { id: 'x' } }, '/properties/provider/id', 'must be a UUID'],
  [{ runtime: undefined }, '/properties/runtime', 'is required'],
  [{ code_type: 'binary' }, '/properties/code_type', 'must be one of code, inline, package'],
  [{ code: undefined }, '/properties/code', 'is required for code_type Inline'],
  [{ code: '' }, '/properties/code', 'is required for code_type Inline'],
  [{ code_type: 'package' }, '/properties/package_url', 'is required for code_type package'],
  [{ code_type: 'package', package_url: 'ftp://x' }, '/properties/package_url', 'must be an http'],
  [{ compressed: 'yes' }, '/properties/compressed', 'must be true or false'],
  [{ handler: undefined }, '/properties/handler', 'is required'],
  [{ public: 'yes' }, '/properties/public', 'must be true or false'],
  [{ memory: 0 }, '/properties/memory', 'must be greater than 0'],
  [{ memory: 1.5 }, '/properties/memory', 'must be a whole number'],
  [{ cpus: -1 }, '/properties/cpus', 'must be greater than 0'],
  [{ timeout: 501 }, '/properties/timeout', 'must be at most 500'],
  [{ timeout: '30' }, '/properties/timeout', 'must be a number'],
  [{ headers: { Accept: 1 } }, '/properties/headers/Accept', 'must be a string'],
  [{ pre_warm: -1 }, '/properties/pre_warm', 'must be at least 0'],
  [{ env: { A: null } }, '/properties/env/A', 'must be a string'],
  [{ colour: 'red' }, '/properties/colour', 'is not a known member'],
  [
    { secrets: [{ mount_type: 'directory', secret_id: NOBODY, path: '/x' }] },
    '/properties/secrets/0/mount_type',
    'env, file',
  ],
  [
    { secrets: [{ mount_type: 'env', secret_id: NOBODY, path: 'A', secret_key: 'a' }] },
    '/properties/secrets/0/secret_id',
    'names no secret',
  ],
])('%j is refused at its place (D-056)', (change, pointer, message) => {
  const { inline, create } = setting();
  // A member that is undefined stands for one that is not sent.
  const sent = JSON.parse(JSON.stringify({ ...inline, ...change }));
  const refusal = refusalOf(() => create(sent));
  expect(refusal).toMatchObject({ status: 400, pointer });
  expect(refusal.message).toContain(message);
});

test('the provider must exist, run lambdas and fit the environment (D-054, D-056)', () => {
  const { world, inline, create, docker } = setting('production');
  const executor = world.create('providers', { type: 'Configuration::Provider::Lambda::Executor::NodeJS' });
  const forTests = world.create('providers', {
    type: 'Configuration::Provider::Lambda',
    properties: { environment_types: ['test'] },
  });
  const withProvider = (id: string) => () => create({ ...inline, provider: { id } });

  expect(refusalOf(withProvider(NOBODY))).toMatchObject({ status: 404 });
  expect(refusalOf(withProvider(docker.id))).toMatchObject({ status: 400 });
  expect(refusalOf(withProvider(executor.id))).toMatchObject({ status: 400 });
  expect(refusalOf(withProvider(forTests.id))).toMatchObject({ status: 409, message: 'Incompatible Environment type' });
  expect(create({ ...inline, provider: { id: forTests.id } }, world.root)).toBeDefined();
});

test('a system environment fits every provider (D-054)', () => {
  const { world, inline, create } = setting('system');
  const forTests = world.create('providers', {
    type: 'Configuration::Provider::Lambda',
    properties: { environment_types: ['test'] },
  });
  expect(create({ ...inline, provider: { id: forTests.id } })).toBeDefined();
});

test('a lambda is found from its provider and its secrets, and forgets a deleted secret (D-079, D-129)', () => {
  const { world, environment, inline, create, lambdas } = setting();
  const secret = world.create('secrets', {
    under: environment,
    name: 'keys',
    properties: { provider: { id: lambdas.id }, items: [{ key: 'a', value: 'b' }] },
  });
  const secrets = [{ mount_type: 'env', secret_id: secret.id, path: 'A', secret_key: 'a' }];
  const lambda = create({ ...inline, secrets });

  expect(world.view.referrers(lambdas.id)).toContain(lambda);
  expect(world.view.referrers(secret.id)).toEqual([lambda]);
  expect(world.forget(lambda, secret)).toEqual({ ...inline, secrets: [] });
  expect(world.forget(lambda, lambdas)).toBeUndefined();
});
