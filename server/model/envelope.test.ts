import { expect, it } from 'vitest';
import { refusalOf } from '../testing/refusal.ts';
import { parseEnvelope } from './envelope.ts';
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
