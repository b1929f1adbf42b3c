import { expect, test } from 'vitest';
import { isUuid } from './record.ts';
import { concreteTypes, parseTypeName, providerTypesMatching, typeIdOf, typeNames } from './type-names.ts';

const CONTAINER_ID = '28cbf0e0-2c48-4589-85d5-df97a3a1f318';

test('every type has an id of its own, the container the one of the contract (D-081)', () => {
  const ids = typeNames.map(typeIdOf);
  expect(ids.every(isUuid)).toBe(true);
  expect(new Set(ids).size).toBe(typeNames.length);
  expect(typeIdOf('Resource::Container')).toBe(CONTAINER_ID);
  expect(() => typeIdOf('Resource::Nothing')).toThrow();
});

test.each([
  ['Platform::Resource::Container', 'Resource::Container'],
  ['Acme::Resource::Container', 'Resource::Container'],
  ['::Resource::Container', 'Resource::Container'],
  [CONTAINER_ID, 'Resource::Container'],
  [CONTAINER_ID.toUpperCase(), 'Resource::Container'],
  ['Platform::Configuration::Provider::CaaS::Docker', 'Configuration::Provider::CaaS::Docker'],
  ['Resource::Container', undefined],
  ['Platform::resource::container', undefined],
  ['Platform::Resource::Nothing', undefined],
  ['Platform::constructor', undefined],
  ['11111111-2222-4333-8444-555555555555', undefined],
  ['', undefined],
])('the text %s names %s (D-080)', (text, name) => {
  expect(parseTypeName(text)).toBe(name);
});

test('an abstract type represents its sub-types (D-085)', () => {
  expect(concreteTypes('Resource::Rule')).toEqual(['Resource::Rule::Event', 'Resource::Rule::Limit']);
  expect(concreteTypes('Configuration::Provider')).toHaveLength(31);
  expect(concreteTypes('Configuration::Provider')).not.toContain('Configuration::Provider');
  expect(concreteTypes('Resource::Container')).toEqual(['Resource::Container']);
});

test.each([
  ['Docker', 'CaaS::Docker'],
  ['CaaS::Docker', 'CaaS::Docker'],
  ['CaaS', 'CaaS CaaS::Docker CaaS::Kubernetes CaaS::DCOS CaaS::Swarm CaaS::ECS'],
  ['Lambda', 'Lambda Lambda::AWS'],
  ['Kong', 'Kong'],
  ['GatewayManager', 'GatewayManager'],
  ['Logging', 'Logging'],
  ['Data', 'Data Data::PostgreSQL'],
  ['Messaging', 'Messaging Messaging::RabbitMQ'],
  ['AWS', 'Lambda::AWS GatewayManager::AWS'],
  ['Acme::Configuration::Provider::Lambda', 'Lambda Lambda::AWS'],
  ['e1782fef-4b7c-4f75-b8b8-6e6e2ecd82b2', 'Logging'],
  ['Resource::Container', ''],
  ['aaS', ''],
  ['', ''],
])('?type=%s selects %s (D-065)', (text, names) => {
  const expected = names
    .split(' ')
    .filter(Boolean)
    .map((name) => `Configuration::Provider::${name}`);
  expect([...providerTypesMatching(text)].sort()).toEqual(expected.sort());
});

test('?type=Executor selects all executors, ?type=Provider everything (D-065)', () => {
  expect(providerTypesMatching('Executor').size).toBe(9);
  expect(providerTypesMatching('Provider')).toEqual(new Set(concreteTypes('Configuration::Provider')));
});
