import { expect, test } from 'vitest';
import { defaultProviders } from './provider-defaults.ts';

const defaults = defaultProviders('http://127.0.0.1:4701');

test('the defaults are those of the contract, each after those it links to, so that all can be created in order (D-067)', () => {
  const providers = defaults.map(({ name, type }) => ({ name, type }));
  expect(providers).toEqual([
    { name: 'default-logging', type: 'Configuration::Provider::Logging' },
    { name: 'nodejs-executor', type: 'Configuration::Provider::Lambda::Executor::NodeJS' },
    { name: 'default-docker', type: 'Configuration::Provider::CaaS::Docker' },
    { name: 'default-lambda', type: 'Configuration::Provider::Lambda' },
    { name: 'default-gateway', type: 'Configuration::Provider::Kong' },
    { name: 'default-gateway-manager', type: 'Configuration::Provider::GatewayManager' },
  ]);
  const createdIds = new Set<unknown>();
  for (const { id, properties } of defaults) {
    for (const linked of properties.linked_providers as { id: string }[]) expect(createdIds).toContain(linked.id);
    createdIds.add(id);
  }
});

test('each serves the three environment types and shows its links (D-068)', () => {
  for (const { properties } of defaults) {
    expect(properties.environment_types).toEqual(['development', 'test', 'production']);
    expect(Array.isArray(properties.linked_providers)).toBe(true);
  }
  const named = new Map(defaults.map((provider) => [provider.name, provider]));
  const idOf = (name: string) => ({ id: named.get(name)?.id });
  expect(named.get('default-lambda')?.properties.linked_providers).toEqual([
    idOf('default-logging'),
    idOf('nodejs-executor'),
  ]);
  expect(named.get('default-docker')?.properties).toMatchObject({
    linked_providers: [idOf('default-logging')],
    config: { networks: [{ name: 'default' }] },
  });
  expect(named.get('nodejs-executor')?.properties.config).toEqual({ env: { public: { RUNTIME: 'nodejs' } } });
});

test('the gateway says where the gateway listens (D-067)', () => {
  const [gateway] = defaultProviders('https://gateway.example/').filter(({ name }) => name === 'default-gateway');
  expect(gateway?.properties.config).toEqual({
    external_protocol: 'https',
    env: { public: { PUBLIC_URL_VHOST_0: 'gateway.example' } },
  });
});
