import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Body, containerBody, lambdaBody, makePlace, makeUser, type Place } from '../../e2e/place.ts';
import { type Platform, startPlatform, type Voice } from '../../e2e/platform.ts';
import { startWitness, type Witness } from '../../e2e/witness.ts';

let platform: Platform;
let root: Voice;
let place: Place;
let witness: Witness;
/** The lambda that tells the witness. */
let teller: string;
beforeAll(async () => {
  witness = await startWitness();
  platform = await startPlatform();
  root = platform.root;
  place = await makePlace(root, 'policed');
  // In root, so that what is done in a place under test does not concern it.
  teller = (await root.create('/root/lambdas', lambdaBody(place, 'teller', { code: witness.code }))).id;
});
afterAll(async () => {
  await platform?.stop();
  await witness?.stop();
});

let made = 0;
const policies: string[] = [];
afterEach(async () => {
  for (const path of policies.splice(0)) await root.delete(`${path}?force=true`);
  expect(witness.untaken).toEqual([]);
});
const policyAt = async (node: string): Promise<string> => {
  const policy = await root.create(`${node}/policies`, { name: `policy-${made++}` });
  policies.push(`/root/policies/${policy.id}`);
  return `/root/policies/${policy.id}`;
};
const ruleIn = (policy: string, kind: 'Event' | 'Limit', properties: object) =>
  root.post(`${policy}/rules`, {
    name: `rule-${made++}`,
    resource_type: `Platform::Resource::Rule::${kind}`,
    properties,
  });
const makeRule = async (node: string, kind: 'Event' | 'Limit', properties: object): Promise<Body> => {
  const { status, body } = await ruleIn(await policyAt(node), kind, properties);
  expect(status).toBe(201);
  return body;
};
const limit = (node: string, action: string, property: string, operator: string, value: unknown, more: object = {}) =>
  makeRule(node, 'Limit', { match_actions: [{ action }], eval_logic: { property, operator, value }, ...more });
const tell = (node: string, ...actions: string[]) =>
  makeRule(node, 'Event', { match_actions: actions.map((action) => ({ action })), lambda: teller });
const container = (properties: object = {}, at = place.environment, voice = root) =>
  voice.post(`${at}/containers`, containerBody(place, `c-${made++}`, properties));
const secondEnvironment = async () => {
  const body = { name: `env-${made++}`, properties: { environment_type: 'test' } };
  return `${place.org}/environments/${(await root.create(`${place.workspace}/environments`, body)).id}`;
};

describe('where policies apply, and to what (D-121)', () => {
  it.each([
    ['organization', () => place.org],
    ['workspace', () => place.workspace],
    ['environment', () => place.environment],
  ])('a policy of the %s applies to its node and all below', async (_, node) => {
    await limit(node(), 'container.create', 'container.properties.cpus', '<=', 1);
    expect((await container({ cpus: 2 })).status).toBe(409);
    expect((await container({ cpus: 1 })).status).toBe(201);
  });
  it('not to what stands beside or above it', async () => {
    const elsewhere = await secondEnvironment();
    await limit(place.environment, 'container.create', 'container.properties.cpus', '<=', 1);
    expect((await container({ cpus: 2 }, elsewhere)).status).toBe(201);
    await limit(place.environment, 'workspace.update', 'workspace.name', '==', 'nothing');
    expect((await root.patch(place.workspace, [{ op: 'add', path: '/description', value: 'x' }])).status).toBe(200);
  });
  it('to its own node as well', async () => {
    await limit(place.environment, 'environment.update', 'environment.name', '==', 'env');
    expect((await root.patch(place.environment, [{ op: 'replace', path: '/name', value: 'other' }])).status).toBe(409);
    expect((await root.patch(place.environment, [{ op: 'add', path: '/description', value: 'd' }])).status).toBe(200);
  });
  it.each([
    ['container.create', 409],
    ['container.create.pre', 409],
    ['container.create.post', 201],
    ['container.update', 201],
    ['container', 201],
    ['lambda.create', 201],
  ])('a limit on %s makes a create %i', async (action, status) => {
    await limit(place.environment, action, 'container.properties.cpus', '<', 0);
    expect((await container()).status).toBe(status);
  });
  it('the older form of actions means the same, and is echoed', async () => {
    const eval_logic = { property: 'container.properties.cpus', operator: '<', value: 0 };
    const rule = await makeRule(place.environment, 'Limit', { actions: ['container.create'], eval_logic });
    expect(rule.properties.actions).toEqual(['container.create']);
    expect((await container()).status).toBe(409);
  });
});

describe('a limit must hold for the record that would result (D-122)', () => {
  it('else 409 with the predicate as message, and nothing is stored', async () => {
    const environment = await secondEnvironment();
    await limit(environment, 'container.create', 'container.properties.num_instances', '<=', 4);
    const reply = await container({ num_instances: 5 }, environment);
    expect(reply.status).toBe(409);
    expect(reply.body).toEqual({
      code: 409,
      message: expect.stringContaining('container.properties.num_instances <= 4'),
    });
    expect((await root.get(`${environment}/containers`)).body).toEqual([]);
  });
  it('also for PATCH, PUT and scale', async () => {
    const { body: record } = await container();
    const path = `${place.org}/containers/${record.id}`;
    await limit(place.environment, 'container.update', 'container.properties.num_instances', '<=', 4);
    await limit(place.environment, 'container.scale', 'container.properties.num_instances', '<=', 3);
    const patch = (value: number) => root.patch(path, [{ op: 'replace', path: '/properties/num_instances', value }]);
    expect((await patch(5)).status).toBe(409);
    expect((await patch(4)).status).toBe(200);
    expect((await root.put(path, { ...record, properties: { ...record.properties, num_instances: 5 } })).status).toBe(
      409,
    );
    expect((await root.post(`${path}/scale?numInstances=4`)).status).toBe(202);
    expect((await root.post(`${path}/scale?numInstances=5`)).status).toBe(409);
    expect((await root.post(`${path}/scale?numInstances=3`)).status).toBe(202);
  });
  it.each([
    ['container.properties.image', '==', 'nginx:1', 201],
    ['container.properties.image', 'equals', 'nginx:2', 409],
    ['container.properties.image', '!=', 'nginx:1', 409],
    ['container.properties.image', 'startswith', 'nginx:', 201],
    ['container.properties.image', 'endswith', ':2', 409],
    ['container.properties.image', 'contains', 'ginx', 201],
    ['container.properties.image', 'inlist', ['a', 'nginx:1'], 201],
    ['container.properties.image', 'oneof', 'a, nginx:1', 201],
    ['container.properties.image', 'oneof', 'a,b', 409],
    ['container.properties.memory', '>=', 128, 201],
    ['container.properties.memory', '>', 128, 409],
    ['container.properties.memory', '<', '129', 201],
    ['container.properties.labels.team', '==', 'red', 201],
    ['container.properties.labels.none', '==', 'red', 409],
    ['container.properties.labels.none', '!=', 'red', 201],
    ['container.properties.labels.none', 'contains', 'red', 409],
    ['container.name', 'startswith', 'c-', 201],
    ['container.name', 'startswith', 'x-', 409],
    ['lambda.name', '==', 'never', 201],
  ])('%s %s %j makes it %i', async (property, operator, value, status) => {
    await limit(place.environment, 'container.create', property, operator, value);
    expect((await container({ labels: { team: 'red' } })).status).toBe(status);
  });
  it('strict false only logs', async () => {
    await limit(place.environment, 'container.create', 'container.name', '==', 'x', { strict: false });
    expect((await container()).status).toBe(201);
  });
});

describe('counts (D-123)', () => {
  it('are of what there would be at the policy’s node after the action', async () => {
    const environment = await secondEnvironment();
    await limit(environment, 'container.create', 'containers.count', '<=', 2);
    const statuses = [];
    for (let index = 0; index < 3; index++) statuses.push((await container({}, environment)).status);
    expect(statuses).toEqual([201, 201, 409]);
    const [first] = (await root.get(`${environment}/containers`)).body;
    await root.delete(`${place.org}/containers/${first.id}`);
    expect((await container({}, environment)).status).toBe(201);
  });
  it('hold when many create at once', async () => {
    const environment = await secondEnvironment();
    await limit(environment, 'container.create', 'containers.count', '<=', 3);
    const replies = await Promise.all(Array.from({ length: 12 }, () => container({}, environment)));
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(3);
    expect((await root.get(`${environment}/containers`)).body).toHaveLength(3);
  });
  it('reach over all environments below an organization, and sub-organizations', async () => {
    const org = await root.create(place.org, { name: `counted-${made++}` });
    const fqon = `/${org.properties.fqon}`;
    await root.create(fqon, { name: 'below' });
    const lambda = (at: string, name: string) => root.post(`${at}/lambdas`, lambdaBody(place, name));
    await limit(fqon, 'lambda.create', 'lambdas.count', '<', 3);
    expect((await lambda(fqon, 'a')).status).toBe(201);
    expect((await lambda(`${fqon}.below`, 'b')).status).toBe(201);
    expect((await lambda(fqon, 'c')).status).toBe(409);
    expect((await lambda(place.org, `out-${made++}`)).status).toBe(201);
  });
  it('can keep a number from falling', async () => {
    const environment = await secondEnvironment();
    const { body: record } = await container({}, environment);
    await limit(environment, 'container.delete', 'containers.count', '>=', 1);
    await limit(environment, 'environment.delete', 'containers.count', '>=', 1);
    expect((await root.delete(`${place.org}/containers/${record.id}`)).status).toBe(409);
    expect((await root.delete(`${environment}?force=true`)).status).toBe(409);
    await container({}, environment);
    expect((await root.delete(`${place.org}/containers/${record.id}`)).status).toBe(204);
  });
  it('know rules and endpoints, which stand below what stands at the node', async () => {
    await limit(place.org, 'rule.create', 'rules.count', '<=', 2);
    const policy = await policyAt(place.environment);
    const rule = () => ruleIn(policy, 'Event', { match_actions: [{ action: 'x.y' }], lambda: teller });
    expect((await rule()).status).toBe(201);
    expect((await rule()).status).toBe(409);
  });
  it('count inline volumes with the container that brings them', async () => {
    const environment = await secondEnvironment();
    await limit(environment, 'volume.create', 'volumes.count', '<=', 2);
    const inline = (...names: string[]) =>
      names.map((name) => ({ mount_path: `/${name}`, volume_resource: { name, properties: { type: 'empty_dir' } } }));
    expect((await container({ volumes: inline('a', 'b', 'c') }, environment)).status).toBe(409);
    expect((await root.get(`${environment}/volumes`)).body).toEqual([]);
    expect((await container({ volumes: inline('a', 'b') }, environment)).status).toBe(201);
  });
  it.each([
    'containers',
    'containers.size',
    'container.count',
    'container.properties',
    'container',
    'name',
    'things.count',
    'constructor.name',
    '',
  ])('%j is no form of property: 400', async (property) => {
    const policy = await policyAt(place.environment);
    const eval_logic = { property, operator: '==', value: 1 };
    const reply = await ruleIn(policy, 'Limit', { match_actions: [{ action: 'container.create' }], eval_logic });
    expect(reply).toMatchObject({ status: 400, body: { details: [{ pointer: '/properties/eval_logic/property' }] } });
  });
});

describe('events (D-124, D-125, D-126)', () => {
  it('the lambda is told before and after, with the document of D-126', async () => {
    const { id: userId, voice } = await makeUser(platform, `actor-${made++}`);
    const rule = await tell(place.workspace, 'container.create');
    const environment = await root.get(place.environment);
    const entitlements = await root.get(`${place.environment}/entitlements?expand=true`);
    const { id, properties } = entitlements.body.find((one: Body) => one.properties.action === 'container.create');
    const identities = [...properties.identities, userId];
    await root.put(`/root/entitlements/${id}`, { properties: { action: 'container.create', identities } });
    const body = containerBody(place, `c-${made++}`, { env: { A: '1' } });
    const { body: record } = await voice.post(`${place.environment}/containers?x=1&y=2`, body);
    const [before, after] = await witness.take(2);
    const { metaUrl } = platform.emulator;
    expect(before).toEqual({
      action: 'container.create.pre',
      eventName: 'container.create.pre',
      fqon: 'policed',
      meta_url: metaUrl,
      workspace_id: place.workspaceId,
      environment_id: environment.body.id,
      resource: record,
      rule: { typeId: expect.any(String), id: rule.id, name: rule.name, href: expect.stringContaining(rule.id) },
      policy: expect.objectContaining({ id: rule.properties.parent.id, name: rule.properties.parent.name }),
      user: expect.objectContaining({ id: userId, href: `${metaUrl}/root/users/${userId}` }),
      args: { x: '1', y: '2' },
    });
    expect(after).toEqual({ ...before, action: 'container.create.post', eventName: 'container.create.post' });
  });
  it('a rule that names an action twice is told once per phase', async () => {
    await tell(place.environment, 'container.create', 'container.create.pre', 'container.create.pre');
    await container();
    expect((await witness.take(2)).map(({ action }) => action)).toEqual([
      'container.create.pre',
      'container.create.post',
    ]);
  });
  it('only the phase that is named', async () => {
    await tell(place.environment, 'container.create.post');
    await container();
    expect((await witness.take(1))[0].action).toBe('container.create.post');
  });
  it('of an update show what results; a change of nothing, or a refused one, is none', async () => {
    const { body: record } = await container();
    await tell(place.environment, 'container.update', 'container.scale');
    const path = `${place.org}/containers/${record.id}`;
    await root.patch(path, []);
    await root.patch(path, [{ op: 'replace', path: '/properties/cpus', value: -1 }]);
    await root.patch(path, [{ op: 'replace', path: '/properties/cpus', value: 3 }]);
    await root.post(`${path}/scale?numInstances=2`);
    const told = await witness.take(4);
    expect(told.map(({ action }) => action)).toEqual([
      'container.update.pre',
      'container.update.post',
      'container.scale.pre',
      'container.scale.post',
    ]);
    expect(told.map(({ resource }) => resource.properties.cpus)).toEqual([3, 3, 3, 3]);
    expect(told.map(({ resource }) => resource.properties.num_instances)).toEqual([1, 1, 2, 2]);
    expect(told[2].args).toEqual({ numInstances: '2' });
  });
  it('are emitted for all that stand in a deleted tree, which they still show', async () => {
    const environment = await secondEnvironment();
    const { body: record } = await container({}, environment);
    const verbs = ['environment', 'container', 'lambda', 'api', 'apiendpoint'].map((noun) => `${noun}.delete`);
    await tell(place.org, ...verbs);
    const lambda = await root.create(`${environment}/lambdas`, lambdaBody(place, 'l'));
    const api = await root.create(`${environment}/apis`, { name: `api-${made++}` });
    await root.create(`${place.org}/apis/${api.id}/apiendpoints`, {
      name: 'e',
      properties: { resource: '/e', implementation_type: 'lambda', implementation_id: lambda.id },
    });
    expect((await root.delete(`${environment}?force=true`)).status).toBe(204);
    const told = await witness.take(10);
    expect(told.map(({ action }) => action).sort()).toEqual(
      verbs.flatMap((verb) => [`${verb}.pre`, `${verb}.post`]).sort(),
    );
    const [before, after] = told.filter(({ resource }) => resource.id === record.id);
    expect(after.resource).toEqual(before.resource);
    expect(after.resource).toEqual(record);
  });
  it.each([
    ['workspaces', () => place.org, () => ({})],
    ['environments', () => place.workspace, () => ({ environment_type: 'test' })],
    ['secrets', () => place.environment, () => ({ provider: { id: place.docker }, items: [] })],
    ['volumes', () => place.environment, () => ({ provider: { id: place.docker }, type: 'empty_dir' })],
    ['apis', () => place.environment, () => ({})],
    ['lambdas', () => place.org, () => lambdaBody(place, 'x').properties],
    ['providers', () => place.org, () => ({})],
  ])('of %s: create, update, delete in both phases', async (word, at, properties) => {
    const noun = word.slice(0, -1);
    const verbs = ['create', 'update', 'delete'].map((verb) => `${noun}.${verb}`);
    await tell(place.org, ...verbs);
    const record = await root.create(`${at()}/${word}`, {
      name: `n-${made++}`,
      properties: properties(),
      ...(word === 'providers' && { resource_type: 'Platform::Configuration::Provider::Logging' }),
    });
    await root.patch(`${place.org}/${word}/${record.id}`, [{ op: 'add', path: '/description', value: 'd' }]);
    await root.delete(`${place.org}/${word}/${record.id}`);
    const told = await witness.take(6);
    expect(told.map(({ action }) => action)).toEqual(verbs.flatMap((verb) => [`${verb}.pre`, `${verb}.post`]));
    expect(told.every(({ resource }) => resource.id === record.id)).toBe(true);
  });
  it('nothing else is an event', async () => {
    await tell(place.org, 'job.create', 'group.create', 'user.create', 'policy.create', 'rule.create', 'org.create');
    await tell(place.org, 'volume.create.post');
    await root.create(`${place.environment}/jobs`, containerBody(place, `j-${made++}`));
    await root.create(`${place.org}/groups`, { name: `g-${made++}` });
    await root.create(place.org, { name: `o-${made++}` });
    const properties = { provider: { id: place.docker }, type: 'empty_dir' };
    await root.create(`${place.environment}/volumes`, { name: `v-${made++}`, properties });
    // Events of one lambda come in order: what was not told before this was not an event.
    expect((await witness.take(1))[0].action).toBe('volume.create.post');
  });
  it('an inline volume is created with an event of its own', async () => {
    await tell(place.environment, 'volume.create.post', 'container.create.post');
    const volume_resource = { name: `v-${made++}`, properties: { type: 'empty_dir' } };
    await container({ volumes: [{ mount_path: '/v', volume_resource }] });
    expect((await witness.take(2)).map(({ action }) => action).sort()).toEqual([
      'container.create.post',
      'volume.create.post',
    ]);
  });
  it('a burst of events is told whole and in order', async () => {
    const environment = await secondEnvironment();
    const names = Array.from({ length: 150 }, (_, index) => `v-${index}`);
    const properties = { provider: { id: place.docker }, type: 'empty_dir' };
    for (const name of names) await root.create(`${environment}/volumes`, { name, properties });
    await tell(environment, 'volume.delete.post');
    await root.delete(`${environment}?force=true`);
    expect((await witness.take(150)).map(({ resource }) => resource.name)).toEqual(names);
  });
  it('a failing lambda changes nothing but its own log', async () => {
    const code = "exports.run = () => { throw new Error('no luck today'); };";
    const failing = await root.create('/root/lambdas', lambdaBody(place, `failing-${made++}`, { code }));
    const properties = { match_actions: [{ action: 'container.create' }], lambda: failing.id };
    await makeRule(place.environment, 'Event', properties);
    expect((await container()).status).toBe(201);
    const logged = async () => (await root.send('GET', `/../log/lambda/${failing.id}`)).body.join('\n');
    await expect.poll(logged, { timeout: 10_000 }).toContain('no luck today');
  });
  it('a deleted lambda is no reason to refuse', async () => {
    const gone = await root.create('/root/lambdas', lambdaBody(place, `gone-${made++}`));
    const properties = { match_actions: [{ action: 'container.create' }], lambda: gone.id };
    const rule = await makeRule(place.environment, 'Event', properties);
    expect((await root.delete(`/root/lambdas/${gone.id}`)).status).toBe(204);
    expect((await container()).status).toBe(201);
    expect((await root.get(`/root/rules/${rule.id}`)).body.properties.lambda).toBe(gone.id);
  });
});

describe('suppress (D-127)', () => {
  const suppress = (node: string) =>
    makeRule(node, 'Event', {
      match_actions: [{ action: 'container.create.pre', meta_function: 'suppress' }],
      lambda: teller,
    });

  it('a suppressed record is stored as Pending, and can be deleted', async () => {
    const environment = await secondEnvironment();
    await suppress(environment);
    const { status, body } = await container({}, environment);
    expect(status).toBe(201);
    expect(body.resource_state).toBe('Platform::Resource::State::Pending');
    const path = `${place.org}/containers/${body.id}`;
    expect((await root.get(path)).body.resource_state).toBe('Platform::Resource::State::Pending');
    expect((await witness.take(1))[0].resource.resource_state).toBe('Platform::Resource::State::Pending');
    expect((await root.delete(path)).status).toBe(204);
  });
  it('or created again, in its place', async () => {
    const environment = await secondEnvironment();
    const rule = await suppress(environment);
    const body = containerBody(place, 'again', { image: 'nginx:2' });
    const pending = await root.create(`${environment}/containers`, body);
    await witness.take(1);
    await root.delete(`/root/rules/${rule.id}`);
    const again = await root.create(`${environment}/containers`, body);
    expect(again).toMatchObject({ id: pending.id, resource_state: 'Platform::Resource::State::Active' });
    expect((await root.get(`${environment}/containers`)).body).toHaveLength(1);
    expect((await root.post(`${environment}/containers`, body)).status).toBe(409);
  });
  it.each(['container.create', 'container.create.post', 'container.delete.pre', 'container.update.pre'])(
    'with %s it is refused at rule creation',
    async (action) => {
      const match_actions = [{ action, meta_function: 'suppress' }];
      const reply = await ruleIn(await policyAt(place.environment), 'Event', { match_actions, lambda: teller });
      expect(reply).toMatchObject({
        status: 400,
        body: { details: [{ pointer: '/properties/match_actions/0/meta_function' }] },
      });
    },
  );
});
