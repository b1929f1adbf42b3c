import { expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { EVENT_RULE, LIMIT_RULE } from '../policy-rules.ts';
import { refusalOf, WorldForTests } from './world-for-tests.ts';

const NOBODY = '11111111-2222-4333-8444-555555555555';
const limit = {
  match_actions: [{ action: 'container.create' }],
  eval_logic: { property: 'containers.count', operator: '<', value: 5 },
};

function setting() {
  const world = new WorldForTests();
  const { environment, lambdas } = world.withEnvironment();
  const lambda = world.create('lambdas', {
    properties: { provider: { id: lambdas.id }, runtime: 'nodejs', code_type: 'inline', code: 'x', handler: 'run' },
  });
  const policy = world.create('policies', { under: environment });
  const event = { match_actions: [{ action: 'container.create.post' }], lambda: lambda.id };
  const create = (type: string, properties: JsonObject) => world.create('rules', { under: policy, type, properties });
  return { world, environment, lambda, policy, event, create };
}

test('a policy shows its rules, none at first, and a rule shows where its policy lives (D-075, D-076)', () => {
  const { world, environment, policy, create } = setting();
  expect(world.shown(policy)).toEqual({ rules: [] });
  const rule = create(LIMIT_RULE, limit);
  expect(world.shown(policy).rules).toMatchObject([{ id: rule.id }]);
  expect(world.shown(rule)).toMatchObject({ ...limit, defined_at: { id: environment.id } });
});

test('an event rule takes its lambda as id or link, stores the id and shows a link (D-076)', () => {
  const { world, lambda, event, create } = setting();
  for (const sent of [lambda.id, { id: lambda.id, name: 'x' }]) {
    const rule = create(EVENT_RULE, { ...event, lambda: sent });
    expect(rule.properties.lambda).toBe(lambda.id);
    expect(world.shown(rule).lambda).toMatchObject({ id: lambda.id, name: lambda.name });
    expect(world.view.referrers(lambda.id)).toContain(rule);
  }
});

test('the older form of actions is echoed (D-076)', () => {
  const { create, lambda } = setting();
  const sent = { actions: ['container.create'], lambda: lambda.id };
  expect(create(EVENT_RULE, sent).properties).toEqual(sent);
});

test.each<[string, JsonObject, string]>([
  [EVENT_RULE, { match_actions: [] }, '/properties/lambda'],
  [EVENT_RULE, { lambda: NOBODY, match_actions: [] }, '/properties/lambda'],
  [EVENT_RULE, { lambda: 'bob', match_actions: [] }, '/properties/lambda'],
  [EVENT_RULE, limit, '/properties/eval_logic'],
  [LIMIT_RULE, { ...limit, lambda: NOBODY }, '/properties/lambda'],
  [LIMIT_RULE, { eval_logic: limit.eval_logic }, '/properties/match_actions'],
  [LIMIT_RULE, { match_actions: limit.match_actions }, '/properties/eval_logic'],
  [LIMIT_RULE, { ...limit, match_actions: [{}] }, '/properties/match_actions/0/action'],
  [LIMIT_RULE, { ...limit, strict: 'yes' }, '/properties/strict'],
  [LIMIT_RULE, { ...limit, eval_logic: { property: 'x', operator: '<', value: 5 } }, '/properties/eval_logic/property'],
  [LIMIT_RULE, { ...limit, eval_logic: { ...limit.eval_logic, operator: '~' } }, '/properties/eval_logic/operator'],
  [
    LIMIT_RULE,
    { ...limit, match_actions: [{ action: 'container.create.post', meta_function: 'suppress' }] },
    '/properties/match_actions/0/meta_function',
  ],
  [
    LIMIT_RULE,
    { ...limit, match_actions: [{ action: 'container.create.pre', meta_function: 'ignore' }] },
    '/properties/match_actions/0/meta_function',
  ],
])('%s %j is refused at its place (D-076, D-123, D-127)', (type, properties, pointer) => {
  const { create } = setting();
  expect(refusalOf(() => create(type, properties))).toMatchObject({ status: 400, pointer });
});

test('creations may be suppressed before they happen (D-127)', () => {
  const { create } = setting();
  const match_actions = [{ action: 'container.create.pre', meta_function: 'suppress' }];
  expect(create(LIMIT_RULE, { ...limit, match_actions }).properties).toMatchObject({ match_actions });
});
