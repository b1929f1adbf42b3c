import { expect, it } from 'vitest';
import { refusalOf } from '../testing/refusal.ts';
import { parseEnvelope, typeNameIn } from './envelope.ts';
import { typeOfWord } from './registry.ts';

it.each([
  ['{"properties": {"b": [{"__proto__": 1, "c": 2}]}}', '/properties/b'],
  ['{"properties": {"b": 1e999}}', '/properties/b'],
  ['{"properties": {"__proto__": {"b": 1}}}', '/properties'],
  ['{"variables": {"__proto__": "1"}}', '/variables'],
])('%s is refused with the reason, not stored in part', (text, pointer) => {
  const refusal = refusalOf(() => parseEnvelope({ name: 'a', ...JSON.parse(text) }, typeOfWord('lambdas')));
  expect(refusal).toMatchObject({ reason: 'invalid_body', pointer });
  expect(refusal.message).toContain('must not contain __proto__ or an infinite number');
});

it('an unknown provider type is refused with types that can be sent as they are', () => {
  const type = typeOfWord('providers');
  const { message } = refusalOf(() => typeNameIn({ name: 'a', properties: {}, resource_type: 'Nope' }, type));
  const names = message.replace(/^.*valid values: /, '').split(', ');
  expect(names).toContain('Platform::Configuration::Provider::Lambda');
  for (const name of names)
    expect(typeNameIn({ name: 'a', properties: {}, resource_type: name }, type)).toBe(name.slice('Platform::'.length));
});
