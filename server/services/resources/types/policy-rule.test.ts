import { beforeAll, describe, expect, it } from 'vitest';
import { refusal, sharedPlatform } from '../../../testing/platform.ts';
import { type Body, createTenant, lambdaBody, type Tenant } from '../../../testing/tenant.ts';

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';
const EVENT = 'Platform::Resource::Rule::Event';
const LIMIT = 'Platform::Resource::Rule::Limit';

const platform = sharedPlatform();
const { root } = platform;
let tenant: Tenant;
let policy: Body;
let lambda: Body;
beforeAll(async () => {
  tenant = await createTenant(root, 'acme');
  policy = await root.create(`${tenant.workspace}/policies`, { name: 'shared' });
  lambda = await root.create('/acme/lambdas', lambdaBody(tenant, 'notified'));
});

let createdCount = 0;
const eval_logic = { property: 'container.properties.num_instances', operator: '<=', value: 4 };
const limit = () => ({ match_actions: [{ action: 'container.create' }], eval_logic });
const event = () => ({ match_actions: [{ action: 'job.create.post' }], lambda: lambda.id });
const bodyOf = (resource_type: unknown, properties: object) => ({
  name: `rule-${createdCount++}`,
  resource_type,
  properties,
});
const post = (resource_type: unknown, properties: object, at = policy) =>
  root.post(`/acme/policies/${at.id}/rules`, bodyOf(resource_type, properties));
const create = (resource_type: string, properties: object, at = policy): Promise<Body> =>
  root.create(`/acme/policies/${at.id}/rules`, bodyOf(resource_type, properties));
const patch = (rule: Body, ...operations: object[]) => root.patch(`/acme/rules/${rule.id}`, operations);

describe('a policy (D-075, D-077)', () => {
  it('is in an organization, a workspace or an environment, and always links its rules', async () => {
    for (const at of [tenant.org, tenant.workspace, tenant.environment]) {
      const policy = await root.create(`${at}/policies`, { name: 'p' });
      expect(policy.resource_type).toBe('Platform::Resource::Policy');
      expect(policy.properties).toEqual({ rules: [], parent: expect.anything() });
      const rule = await create(LIMIT, limit(), policy);
      expect((await root.get(`/acme/policies/${policy.id}`)).body.properties.rules).toEqual([
        {
          typeId: expect.any(String),
          id: rule.id,
          name: rule.name,
          href: `${platform.emulator.metaUrl}/acme/rules/${rule.id}`,
        },
      ]);
    }
    expect(await root.post(`/acme/lambdas/${lambda.id}/policies`, { name: 'p' })).toMatchObject(refusal(404));
  });

  it('has no other property, can be exported and posted elsewhere, and has no PUT', async () => {
    expect(await root.post('/acme/policies', { name: 'odd', properties: { strict: true } })).toMatchObject(
      refusal(400, '/properties/strict'),
    );
    const { id, ...exported } = (await root.get(`/acme/policies/${policy.id}`)).body;
    const copy = await root.create('/root/policies', exported);
    expect(copy.properties).toEqual({ rules: [], parent: expect.objectContaining({ name: 'root' }) });
    expect(await root.put(`/acme/policies/${id}`, exported)).toMatchObject(refusal(404));
  });
});

describe('a rule (D-076)', () => {
  it('of a limit shows the sent values, no defaults, and the place of its policy', async () => {
    const rule = await create(LIMIT, limit());
    expect(rule.resource_type).toBe(LIMIT);
    const workspace = expect.objectContaining({ id: tenant.workspaceId, name: 'ws', href: expect.any(String) });
    expect(rule.properties).toEqual({
      ...limit(),
      defined_at: workspace,
      parent: expect.objectContaining({ id: policy.id, name: 'shared' }),
    });
    expect((await root.get(`/acme/rules/${rule.id}`)).body).toEqual(rule);
    expect((await create(LIMIT, { ...limit(), strict: false })).properties.strict).toBe(false);
  });

  it('of an event takes its lambda by id or as a link, and shows a link', async () => {
    const rule = await create(EVENT, event());
    expect(rule.resource_type).toBe(EVENT);
    const link = {
      typeId: 'e3a463fc-e51f-4166-8cec-3d9a54f7babd',
      id: lambda.id,
      name: 'notified',
      href: `${platform.emulator.metaUrl}/acme/lambdas/${lambda.id}`,
    };
    expect(rule.properties.lambda).toEqual(link);
    expect((await create(EVENT, { ...event(), lambda: link })).properties.lambda).toEqual(link);
    const other = await root.create('/acme/lambdas', lambdaBody(tenant, 'other'));
    const patched = await patch(rule, { op: 'replace', path: '/properties/lambda', value: other.id });
    expect(patched.body.properties.lambda).toMatchObject({ id: other.id, name: 'other' });
  });

  it('takes the older form of its actions, and gives it back', async () => {
    const { match_actions: _, ...rest } = event();
    const rule = await create(EVENT, { ...rest, actions: ['job.create', 'job.delete.post'] });
    expect(rule.properties.actions).toEqual(['job.create', 'job.delete.post']);
    expect(rule.properties).not.toHaveProperty('match_actions');
  });

  it.each<[string, string, (() => object) | object]>([
    ['/properties/match_actions', LIMIT, { eval_logic }],
    ['/properties/match_actions', EVENT, () => ({ lambda: lambda.id })],
    ['/properties/lambda', EVENT, { match_actions: [] }],
    ['/properties/lambda', EVENT, { match_actions: [], lambda: UNKNOWN_ID }],
    ['/properties/lambda', EVENT, { match_actions: [], lambda: 'bob' }],
    ['/properties/lambda', EVENT, () => ({ match_actions: [], lambda: policy.id })],
    ['/properties/eval_logic', LIMIT, { match_actions: [] }],
    ['/properties/eval_logic', EVENT, () => ({ ...event(), eval_logic })],
    ['/properties/strict', EVENT, () => ({ ...event(), strict: true })],
    ['/properties/strict', LIMIT, () => ({ ...limit(), strict: 'yes' })],
    ['/properties/match_actions/0/action', LIMIT, () => ({ ...limit(), match_actions: [{}] })],
    ...[
      { action: 'container.create.post', meta_function: 'suppress' },
      { action: 'container.create.pre', meta_function: 'ignore' },
    ].map((action): [string, string, () => object] => [
      '/properties/match_actions/0/meta_function',
      LIMIT,
      () => ({ ...limit(), match_actions: [action] }),
    ]),
    ['/properties/lambda', LIMIT, () => ({ ...limit(), lambda: lambda.id })],
    ['/properties/eval_logic/operator', LIMIT, () => ({ ...limit(), eval_logic: { ...eval_logic, operator: '~' } })],
    ['/properties/eval_logic/property', LIMIT, () => ({ ...limit(), eval_logic: { ...eval_logic, property: 'a.b' } })],
    ['/properties/colour', LIMIT, () => ({ ...limit(), colour: 'red' })],
  ])('refuses at %s for %s', async (pointer, type, properties) => {
    const ruleProperties = typeof properties === 'function' ? properties() : properties;
    expect(await post(type, ruleProperties)).toMatchObject(refusal(400, pointer));
  });

  it.each([
    ['container.craete.pre', 'container.create'],
    ['lambdas.create', 'lambda.create'],
    ['Container.Create', 'container.create'],
    ['container.create.before', 'container.create'],
    ['a.b', ''],
  ])('refuses the action %s, and names the nearest %s', async (action, nearest) => {
    const pointer = '/properties/match_actions/1/action';
    const match_actions = [{ action: 'lambda.create' }, { action }];
    const refused = await post(EVENT, { ...event(), match_actions });
    expect(refused).toMatchObject(refusal(400, pointer));
    expect(refused.body.message).toContain(`the action '${action}' does not exist; ${nearest && 'the nearest: '}`);
    expect(refused.body.message).toContain(nearest);
    const rule = await create(EVENT, event());
    const change = { op: 'replace', path: '/properties/match_actions', value: match_actions };
    expect(await patch(rule, change)).toMatchObject(refusal(400, pointer));
  });

  it('accepts an action without events, and logs a warning', async () => {
    const match_actions = ['lambda.invoke', 'job.create.post', 'lambda.create'].map((action) => ({ action }));
    const { name } = await create(EVENT, { ...event(), match_actions });
    expect(platform.warnings).toContain(
      `rule '${name}' was stored, but it has no effect for lambda.invoke, job.create.post`,
    );
  });

  it('may suppress a creation before it happens (D-127)', async () => {
    const match_actions = [{ action: 'container.create.pre', meta_function: 'suppress' }];
    expect((await create(LIMIT, { ...limit(), match_actions })).properties).toMatchObject({ match_actions });
  });

  it('is created in a policy only', async () => {
    expect(await root.post('/acme/rules', bodyOf(LIMIT, limit()))).toMatchObject(refusal(404));
    expect(await root.post(`${tenant.environment}/rules`, bodyOf(LIMIT, limit()))).toMatchObject(refusal(404));
    expect(await root.post(`/acme/policies/${UNKNOWN_ID}/rules`, bodyOf(LIMIT, limit()))).toMatchObject(refusal(404));
  });

  it('can be exported and posted into another policy', async () => {
    for (const source of [await create(LIMIT, limit()), await create(EVENT, event())]) {
      const { id: _, ...exported } = (await root.get(`/acme/rules/${source.id}`)).body;
      const elsewhere = await root.create('/acme/policies', { name: `elsewhere ${source.id}` });
      const copy = await root.create(`/acme/policies/${elsewhere.id}/rules`, exported);
      expect(copy.resource_type).toBe(source.resource_type);
      expect({ ...copy.properties, parent: 0, defined_at: 0 }).toEqual({
        ...source.properties,
        parent: 0,
        defined_at: 0,
      });
      expect(copy.properties.defined_at).toMatchObject({ name: 'acme' });
    }
  });

  it('ignores server-set values from a client that compares whole records (D-093)', async () => {
    const rule = await create(LIMIT, limit());
    const path = '/properties/defined_at';
    expect((await patch(rule, { op: 'replace', path, value: rule.properties.defined_at })).body).toEqual(rule);
    expect(await patch(rule, { op: 'replace', path, value: UNKNOWN_ID })).toMatchObject(refusal(422, path));
  });
});

describe('the type of a rule (D-077)', () => {
  it('is Event or Limit, by a name with any first segment or by id', async () => {
    const types: Body[] = (await root.get('/root/resourcetypes')).body;
    const idOf = (name: string) => types.find((type) => type.name === name)?.id;
    for (const type of [LIMIT, 'Any::Resource::Rule::Limit', idOf(LIMIT), idOf(LIMIT).toUpperCase()]) {
      expect((await post(type, limit())).body.resource_type, type).toBe(LIMIT);
    }
    expect((await post(idOf(EVENT), event())).body.resource_type).toBe(EVENT);
  });

  it.each([
    ['missing', undefined],
    ['abstract', 'Platform::Resource::Rule'],
    ['unknown', 'Platform::Resource::Rule::Config'],
    ['another', 'Platform::Resource::Policy'],
    ['no name', 'Limit'],
  ])('is 422 when it is %s', async (_, type) => {
    expect(await post(type, limit())).toMatchObject(refusal(422, '/resource_type'));
  });

  it('tells rules apart in lists', async () => {
    await create(LIMIT, limit());
    const event_ = await create(EVENT, event());
    for (const type of ['Event', EVENT, 'Other::Resource::Rule::Event']) {
      const { status, body } = await root.get(`/rules?type=${type}&expand=true`);
      expect(status, type).toBe(200);
      expect(body.map((rule: Body) => rule.id)).toContain(event_.id);
      for (const rule of body) expect(rule.resource_type).toBe(EVENT);
    }
    const types = (await root.get(`/acme/policies/${policy.id}/rules?type=Limit&expand=true`)).body;
    expect(new Set(types.map((rule: Body) => rule.resource_type))).toEqual(new Set([LIMIT]));
  });
});
