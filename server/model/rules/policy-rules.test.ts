import { expect, test } from 'vitest';
import type { Json } from '../json.ts';
import '../registry.ts'; // the types' words are known once it is loaded
import { refusalOf } from '../../testing/refusal.ts';
import type { TypeWord } from '../type-words.ts';
import { explainLimit, isWithinLimit, matchedActions, parsePredicate, suppresses } from './policy-rules.ts';

const record = {
  name: 'web-1',
  properties: { num_instances: 4, image: 'nginx:1', labels: { team: 'red' }, constraints: ['a', 'b'], memory: '512' },
};
const subject = {
  singular: 'container',
  record,
  count: (collection: TypeWord) => (collection === 'containers' ? 3 : 0),
};

function limit(property: string, operator: string, value: Json) {
  return { properties: { eval_logic: { property, operator, value } } };
}

test.each<[string, string, Json, boolean]>([
  ['containers.count', '<=', 3, true],
  ['containers.count', '<', 3, false],
  ['lambdas.count', '==', 0, true],
  ['container.name', 'startswith', 'web', true],
  ['container.name', 'endswith', 'web', false],
  ['container.properties.num_instances', '==', 4, true],
  ['container.properties.num_instances', 'equals', '4', true],
  ['container.properties.num_instances', '!=', 4, false],
  ['container.properties.num_instances', '>', 4, false],
  ['container.properties.num_instances', '>=', '4', true],
  ['container.properties.memory', '>', 64, true],
  ['container.properties.image', '<', 5, false],
  ['container.properties.image', 'contains', 'ginx', true],
  ['container.properties.constraints', 'contains', 'b', true],
  ['container.properties.labels', 'contains', 'team', true],
  ['container.properties.labels.team', 'inlist', ['blue', 'red'], true],
  ['container.properties.labels.team', 'oneof', 'blue, red', true],
  ['container.properties.labels.team', 'oneof', 'blue, reddish', false],
])('%s %s %j: %s (D-122, D-123)', (property, operator, value, isTrue) => {
  expect(isWithinLimit(limit(property, operator, value), subject)).toBe(isTrue);
});

test.each(['==', '<', 'contains', 'startswith', 'inlist'])('an absent property violates %s (D-122)', (operator) => {
  expect(isWithinLimit(limit('container.properties.cpus', operator, '1'), subject)).toBe(false);
  expect(isWithinLimit(limit('container.properties.constructor.name', operator, '1'), subject)).toBe(false);
});

test('an absent property satisfies != (D-122)', () => {
  expect(isWithinLimit(limit('container.properties.cpus', '!=', 1), subject)).toBe(true);
});

test('a predicate on another noun says nothing about this record', () => {
  expect(isWithinLimit(limit('lambda.properties.timeout', '<', 1), subject)).toBe(true);
});

test('a limit explains itself', () => {
  expect(explainLimit(limit('container.properties.num_instances', '<=', 4))).toBe(
    'container.properties.num_instances <= 4',
  );
  expect(explainLimit(limit('container.name', 'oneof', ['a', 'b']))).toBe('container.name oneof a, b');
});

test.each([
  ['count', '<', 1, 'property'],
  ['things.count', '<', 1, 'property'],
  ['containers.size', '<', 1, 'property'],
  ['container.count', '<', 1, 'property'],
  ['container.properties', '<', 1, 'property'],
  ['container.properties..x', '<', 1, 'property'],
  ['containers.count', '=<', 1, 'operator'],
  ['containers.count', 'constructor', 1, 'operator'],
  ['containers.count', '<', 'many', 'value'],
])('%s %s %j is refused for its %s (D-122, D-123)', (property, operator, value, member) => {
  expect(refusalOf(() => parsePredicate({ property, operator, value }))).toMatchObject({
    status: 400,
    pointer: `/properties/eval_logic/${member}`,
  });
});

test('a rule matches the actions of either form, and suppresses only what it says it does (D-076, D-127)', () => {
  const match_actions = [
    { action: 'container.create.pre', meta_function: 'suppress' },
    { action: 'lambda.create.pre' },
  ];
  const rule = { properties: { match_actions } };
  expect(matchedActions(rule)).toEqual(['container.create.pre', 'lambda.create.pre']);
  expect(matchedActions({ properties: { actions: ['api.create'] } })).toEqual(['api.create']);
  expect(suppresses(rule, 'container.create.pre')).toBe(true);
  expect(suppresses(rule, 'lambda.create.pre')).toBe(false);
});
