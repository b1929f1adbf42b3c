import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type ApiClient, type Platform, startPlatform } from '../../testing/platform.ts';
import { type RequestRecorder, startRequestRecorder } from '../../testing/request-recorder.ts';
import { type ResourceFactory, resourceFactoryFor } from '../../testing/resource-factory.ts';
import {
  containerBody,
  createTenant,
  grant,
  lambdaBody,
  makeUser,
  type Tenant,
  withEnvironment,
} from '../../testing/tenant.ts';

let platform: Platform;
let root: ApiClient;
let tenant: Tenant;
let make: ResourceFactory;
let recorder: RequestRecorder;
/** The lambda that tells the witness. */
let teller: string;
beforeAll(async () => {
  recorder = await startRequestRecorder();
  platform = await startPlatform();
  root = platform.root;
  make = resourceFactoryFor(root);
  tenant = await createTenant(root, 'policed');
  // In root, so that what is done in a place under test does not concern it.
  teller = (await root.create('/root/lambdas', lambdaBody(tenant, 'teller', { code: recorder.code }))).id;
});
afterAll(async () => {
  await platform?.stop();
  await recorder?.stop();
});

afterEach(async () => {
  for (const { id } of (await root.get(`${tenant.org}/policies`)).body)
    await root.delete(`/root/policies/${id}?force=true`);
  expect(recorder.untaken).toEqual([]);
});

const createEventRule = (node: string, ...actions: string[]) =>
  make.rule(node, 'Event', { match_actions: actions.map((action) => ({ action })), lambda: teller });
const secondEnvironment = async () => (await withEnvironment(root, tenant, 'test', make.fresh('env'))).environment;
const container = (properties: object = {}, at = tenant.environment) =>
  root.post(`${at}/containers`, containerBody(tenant, make.fresh('c'), properties));
describe('events (D-124, D-125, D-126)', () => {
  it('the lambda gets an event before and after, with the document of D-126', async () => {
    const { id: userId, client } = await makeUser(platform, make.fresh('actor'));
    const rule = await createEventRule(tenant.workspace, 'container.create');
    const environment = await root.get(tenant.environment);
    await grant(root, tenant.environment, 'container.create', userId);
    const body = containerBody(tenant, make.fresh('c'), { env: { A: '1' } });
    const { body: record } = await client.post(`${tenant.environment}/containers?x=1&y=2`, body);
    const [before, after] = await recorder.take(2);
    const { metaUrl } = platform.emulator;
    expect(before).toEqual({
      action: 'container.create.pre',
      eventName: 'container.create.pre',
      fqon: 'policed',
      meta_url: metaUrl,
      workspace_id: tenant.workspaceId,
      environment_id: environment.body.id,
      resource: record,
      rule: { typeId: expect.any(String), id: rule.id, name: rule.name, href: expect.stringContaining(rule.id) },
      policy: expect.objectContaining({ id: rule.properties.parent.id, name: rule.properties.parent.name }),
      user: expect.objectContaining({ id: userId, href: `${metaUrl}/root/users/${userId}` }),
      args: { x: '1', y: '2' },
    });
    expect(after).toEqual({ ...before, action: 'container.create.post', eventName: 'container.create.post' });
  });
  it('a rule that names an action twice gets one event per phase', async () => {
    await createEventRule(tenant.environment, 'container.create', 'container.create.pre', 'container.create.pre');
    await container();
    expect((await recorder.take(2)).map(({ action }) => action)).toEqual([
      'container.create.pre',
      'container.create.post',
    ]);
  });
  it('only the phase that is named', async () => {
    await createEventRule(tenant.environment, 'container.create.post');
    await container();
    expect((await recorder.take(1))[0].action).toBe('container.create.post');
  });
  it('of an update show what results; a change of nothing, or a refused one, is none', async () => {
    const { body: record } = await container();
    await createEventRule(tenant.environment, 'container.update', 'container.scale');
    const path = `${tenant.org}/containers/${record.id}`;
    await root.patch(path, []);
    await root.patch(path, [{ op: 'replace', path: '/properties/cpus', value: -1 }]);
    await root.patch(path, [{ op: 'replace', path: '/properties/cpus', value: 3 }]);
    await root.post(`${path}/scale?numInstances=2`);
    const reported = await recorder.take(4);
    expect(reported.map(({ action }) => action)).toEqual([
      'container.update.pre',
      'container.update.post',
      'container.scale.pre',
      'container.scale.post',
    ]);
    expect(reported.map(({ resource }) => resource.properties.cpus)).toEqual([3, 3, 3, 3]);
    expect(reported.map(({ resource }) => resource.properties.num_instances)).toEqual([1, 1, 2, 2]);
    expect(reported[2].args).toEqual({ numInstances: '2' });
  });
  it('are emitted for all that stand in a deleted tree, which they still show', async () => {
    const other = await withEnvironment(root, tenant, 'test', make.fresh('env'));
    const record = await make.container(other);
    const verbs = ['environment', 'container', 'lambda', 'api', 'apiendpoint'].map((noun) => `${noun}.delete`);
    await createEventRule(tenant.org, ...verbs);
    await make.endpoint(await make.api(other), await make.lambda(other));
    expect((await root.delete(`${other.environment}?force=true`)).status).toBe(204);
    const reported = await recorder.take(10);
    expect(reported.map(({ action }) => action).sort()).toEqual(
      verbs.flatMap((verb) => [`${verb}.pre`, `${verb}.post`]).sort(),
    );
    const [before, after] = reported.filter(({ resource }) => resource.id === record.id);
    expect(after.resource).toEqual(before.resource);
    expect(after.resource).toEqual(record);
  });
  it.each([
    ['workspaces', () => tenant.org, () => ({})],
    ['environments', () => tenant.workspace, () => ({ environment_type: 'test' })],
    ['secrets', () => tenant.environment, () => ({ provider: { id: tenant.docker }, items: [] })],
    ['volumes', () => tenant.environment, () => ({ provider: { id: tenant.docker }, type: 'empty_dir' })],
    ['apis', () => tenant.environment, () => ({})],
    ['lambdas', () => tenant.org, () => lambdaBody(tenant, 'x').properties],
    ['providers', () => tenant.org, () => ({})],
  ])('of %s: create, update, delete in both phases', async (collection, at, properties) => {
    const noun = collection.slice(0, -1);
    const verbs = ['create', 'update', 'delete'].map((verb) => `${noun}.${verb}`);
    await createEventRule(tenant.org, ...verbs);
    const record = await root.create(`${at()}/${collection}`, {
      name: make.fresh('n'),
      properties: properties(),
      ...(collection === 'providers' && { resource_type: 'Platform::Configuration::Provider::Logging' }),
    });
    await root.patch(`${tenant.org}/${collection}/${record.id}`, [{ op: 'add', path: '/description', value: 'd' }]);
    await root.delete(`${tenant.org}/${collection}/${record.id}`);
    const reported = await recorder.take(6);
    expect(reported.map(({ action }) => action)).toEqual(verbs.flatMap((verb) => [`${verb}.pre`, `${verb}.post`]));
    expect(reported.every(({ resource }) => resource.id === record.id)).toBe(true);
  });
  it('nothing else is an event', async () => {
    await createEventRule(
      tenant.org,
      'job.create',
      'group.create',
      'user.create',
      'policy.create',
      'rule.create',
      'org.create',
    );
    await createEventRule(tenant.org, 'volume.create.post');
    await root.create(`${tenant.environment}/jobs`, containerBody(tenant, make.fresh('j')));
    await root.create(`${tenant.org}/groups`, { name: make.fresh('g') });
    await root.create(tenant.org, { name: make.fresh('o') });
    const properties = { provider: { id: tenant.docker }, type: 'empty_dir' };
    await root.create(`${tenant.environment}/volumes`, { name: make.fresh('v'), properties });
    // Events of one lambda arrive in order: without an event before this one, none was sent.
    expect((await recorder.take(1))[0].action).toBe('volume.create.post');
  });
  it('an inline volume is created with an event of its own', async () => {
    await createEventRule(tenant.environment, 'volume.create.post', 'container.create.post');
    const volume_resource = { name: make.fresh('v'), properties: { type: 'empty_dir' } };
    await container({ volumes: [{ mount_path: '/v', volume_resource }] });
    expect((await recorder.take(2)).map(({ action }) => action).sort()).toEqual([
      'container.create.post',
      'volume.create.post',
    ]);
  });
  it('a burst of events arrives completely and in order', async () => {
    const environment = await secondEnvironment();
    const names = Array.from({ length: 150 }, (_, index) => `v-${index}`);
    const properties = { provider: { id: tenant.docker }, type: 'empty_dir' };
    for (const name of names) await root.create(`${environment}/volumes`, { name, properties });
    await createEventRule(environment, 'volume.delete.post');
    await root.delete(`${environment}?force=true`);
    expect((await recorder.take(150)).map(({ resource }) => resource.name)).toEqual(names);
  });
  it('a failing lambda changes nothing but its own log', async () => {
    const code = "exports.run = () => { throw new Error('no luck today'); };";
    const failing = await root.create('/root/lambdas', lambdaBody(tenant, make.fresh('failing'), { code }));
    const properties = { match_actions: [{ action: 'container.create' }], lambda: failing.id };
    await make.rule(tenant.environment, 'Event', properties);
    expect((await container()).status).toBe(201);
    const logged = async () => (await root.send('GET', `/../log/lambda/${failing.id}`)).body.join('\n');
    await expect.poll(logged).toContain('no luck today');
  });
  it('a deleted lambda is accepted, and its link in the rule has no name (D-076)', async () => {
    const deletedLambda = await root.create('/root/lambdas', lambdaBody(tenant, make.fresh('gone')));
    const properties = { match_actions: [{ action: 'container.create' }], lambda: deletedLambda.id };
    const rule = await make.rule(tenant.environment, 'Event', properties);
    expect((await root.delete(`/root/lambdas/${deletedLambda.id}`)).status).toBe(204);
    expect((await container()).status).toBe(201);
    expect((await root.get(`/root/rules/${rule.id}`)).body.properties.lambda).toEqual({
      typeId: 'e3a463fc-e51f-4166-8cec-3d9a54f7babd',
      id: deletedLambda.id,
    });
  });
});

describe('suppress (D-127)', () => {
  const suppress = (node: string) =>
    make.rule(node, 'Event', {
      match_actions: [{ action: 'container.create.pre', meta_function: 'suppress' }],
      lambda: teller,
    });

  it('a suppressed record is stored as Pending, and can be deleted', async () => {
    const environment = await secondEnvironment();
    await suppress(environment);
    const { status, body } = await container({}, environment);
    expect(status).toBe(201);
    expect(body.resource_state).toBe('Platform::Resource::State::Pending');
    const path = `${tenant.org}/containers/${body.id}`;
    expect((await root.get(path)).body.resource_state).toBe('Platform::Resource::State::Pending');
    expect((await recorder.take(1))[0].resource.resource_state).toBe('Platform::Resource::State::Pending');
    expect((await root.delete(path)).status).toBe(204);
  });
  it('a suppressed lambda is not invoked until it is created again', async () => {
    const environment = await secondEnvironment();
    const match_actions = [{ action: 'lambda.create.pre', meta_function: 'suppress' }];
    const rule = await make.rule(environment, 'Event', { match_actions, lambda: teller });
    const body = lambdaBody(tenant, 'awaited', { code: 'exports.run = async () => "ran";' });
    const { id } = await root.create(`${environment}/lambdas`, body);
    const endpoint = await make.endpoint(await make.api(tenant), { id });
    await recorder.take(1);
    const invoke = async () => {
      const response = await fetch(endpoint.properties.public_url);
      return [response.status, await response.text()];
    };
    expect(await invoke()).toEqual([503, expect.stringContaining('"reason":"lambda_pending"')]);
    await root.delete(`/root/rules/${rule.id}`);
    expect((await root.create(`${environment}/lambdas`, body)).id).toBe(id);
    expect(await invoke()).toEqual([200, 'ran']);
  });
  it('or created again, in its place', async () => {
    const environment = await secondEnvironment();
    const rule = await suppress(environment);
    const body = containerBody(tenant, 'again', { image: 'nginx:2' });
    const pending = await root.create(`${environment}/containers`, body);
    await recorder.take(1);
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
      const policy = await make.policy(tenant.environment);
      const reply = await root.post(`/root/policies/${policy.id}/rules`, {
        name: 'rule',
        resource_type: 'Platform::Resource::Rule::Event',
        properties: { match_actions, lambda: teller },
      });
      expect(reply).toMatchObject({
        status: 400,
        body: { details: [{ pointer: '/properties/match_actions/0/meta_function' }] },
      });
    },
  );
});
