import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { sharedPlatform } from '../../testing/platform.ts';
import { type ResourceFactory, resourceFactoryFor } from '../../testing/resource-factory.ts';
import {
  type Body,
  containerBody,
  createTenant,
  lambdaBody,
  type Tenant,
  withEnvironment,
} from '../../testing/tenant.ts';

const { root } = sharedPlatform();
let tenant: Tenant;
let make: ResourceFactory;
beforeAll(async () => {
  make = resourceFactoryFor(root);
  tenant = await createTenant(root, 'limited');
});
afterEach(async () => {
  for (const { id } of (await root.get(`${tenant.org}/policies`)).body)
    await root.delete(`/root/policies/${id}?force=true`);
});

const limit = (node: string, action: string, property: string, operator: string, value: unknown, more: object = {}) =>
  make.rule(node, 'Limit', { match_actions: [{ action }], eval_logic: { property, operator, value }, ...more });
const postRule = (policy: Body, kind: string, properties: object) =>
  root.post(`/root/policies/${policy.id}/rules`, {
    name: make.fresh('rule'),
    resource_type: `Platform::Resource::Rule::${kind}`,
    properties,
  });
const secondEnvironment = async () => (await withEnvironment(root, tenant, 'test', make.fresh('env'))).environment;
const container = (properties: object = {}, at = tenant.environment) =>
  root.post(`${at}/containers`, containerBody(tenant, make.fresh('c'), properties));
describe('where policies apply, and to what (D-121)', () => {
  it.each([
    ['organization', () => tenant.org],
    ['workspace', () => tenant.workspace],
    ['environment', () => tenant.environment],
  ])('a policy of the %s applies to its node and all below', async (_, node) => {
    await limit(node(), 'container.create', 'container.properties.cpus', '<=', 1);
    expect((await container({ cpus: 2 })).status).toBe(409);
    expect((await container({ cpus: 1 })).status).toBe(201);
  });
  it('not to siblings or ancestors', async () => {
    const elsewhere = await secondEnvironment();
    await limit(tenant.environment, 'container.create', 'container.properties.cpus', '<=', 1);
    expect((await container({ cpus: 2 }, elsewhere)).status).toBe(201);
    await limit(tenant.environment, 'workspace.update', 'workspace.name', '==', 'nothing');
    expect((await root.patch(tenant.workspace, [{ op: 'add', path: '/description', value: 'x' }])).status).toBe(200);
  });
  it('to its own node as well', async () => {
    await limit(tenant.environment, 'environment.update', 'environment.name', '==', 'env');
    expect((await root.patch(tenant.environment, [{ op: 'replace', path: '/name', value: 'other' }])).status).toBe(409);
    expect((await root.patch(tenant.environment, [{ op: 'add', path: '/description', value: 'd' }])).status).toBe(200);
  });
  it.each([
    ['container.create', 409],
    ['container.create.pre', 409],
    ['container.create.post', 201],
    ['container.update', 201],
    ['lambda.create', 201],
  ])('a limit on %s makes a create %i', async (action, status) => {
    await limit(tenant.environment, action, 'container.properties.cpus', '<', 0);
    expect((await container()).status).toBe(status);
  });
  it('the older form of actions means the same, and is echoed', async () => {
    const eval_logic = { property: 'container.properties.cpus', operator: '<', value: 0 };
    const rule = await make.rule(tenant.environment, 'Limit', { actions: ['container.create'], eval_logic });
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
      reason: 'limit_rule',
      message: expect.stringContaining('container.properties.num_instances <= 4'),
    });
    expect((await root.get(`${environment}/containers`)).body).toEqual([]);
  });
  it('for a change of instances those of scale and of update, by whatever route it comes (D-125)', async () => {
    const { body: record } = await container();
    const path = `${tenant.org}/containers/${record.id}`;
    await limit(tenant.environment, 'container.update', 'container.properties.num_instances', '<=', 4);
    await limit(tenant.environment, 'container.scale', 'container.properties.num_instances', '<=', 3);
    const patch = (value: number) => root.patch(path, [{ op: 'replace', path: '/properties/num_instances', value }]);
    expect((await patch(5)).status).toBe(409);
    expect((await patch(4)).status).toBe(409);
    expect((await patch(3)).status).toBe(200);
    expect((await root.put(path, { ...record, properties: { ...record.properties, num_instances: 5 } })).status).toBe(
      409,
    );
    expect((await root.post(`${path}/scale?numInstances=4`)).status).toBe(409);
    expect((await root.post(`${path}/scale?numInstances=5`)).status).toBe(409);
    expect((await root.post(`${path}/scale?numInstances=2`)).status).toBe(202);
    await limit(tenant.environment, 'container.update', 'container.properties.num_instances', '<=', 1);
    expect((await root.post(`${path}/scale?numInstances=3`)).status).toBe(409);
    expect((await root.post(`${path}/scale?numInstances=1`)).status).toBe(202);
  });
  it('in the shown form, links with their names (D-122)', async () => {
    await limit(tenant.environment, 'container.create', 'container.properties.provider.name', '==', 'default-docker');
    expect((await container()).status).toBe(201);
    await limit(tenant.environment, 'container.create', 'container.properties.provider.name', '!=', 'default-docker');
    expect((await container()).status).toBe(409);
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
    await limit(tenant.environment, 'container.create', property, operator, value);
    expect((await container({ labels: { team: 'red' } })).status).toBe(status);
  });
  it('strict false only logs', async () => {
    await limit(tenant.environment, 'container.create', 'container.name', '==', 'x', { strict: false });
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
    await root.delete(`${tenant.org}/containers/${first.id}`);
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
    const org = await root.create(tenant.org, { name: make.fresh('counted') });
    const fqon = `/${org.properties.fqon}`;
    await root.create(fqon, { name: 'below' });
    const lambda = (at: string, name: string) => root.post(`${at}/lambdas`, lambdaBody(tenant, name));
    await limit(fqon, 'lambda.create', 'lambdas.count', '<', 3);
    expect((await lambda(fqon, 'a')).status).toBe(201);
    expect((await lambda(`${fqon}.below`, 'b')).status).toBe(201);
    expect((await lambda(fqon, 'c')).status).toBe(409);
    expect((await lambda(tenant.org, make.fresh('out'))).status).toBe(201);
  });
  it('can keep a number from falling', async () => {
    const environment = await secondEnvironment();
    const { body: record } = await container({}, environment);
    await limit(environment, 'container.delete', 'containers.count', '>=', 1);
    await limit(environment, 'environment.delete', 'containers.count', '>=', 1);
    expect((await root.delete(`${tenant.org}/containers/${record.id}`)).status).toBe(409);
    expect((await root.delete(`${environment}?force=true`)).status).toBe(409);
    await container({}, environment);
    expect((await root.delete(`${tenant.org}/containers/${record.id}`)).status).toBe(204);
  });
  it('hold for everything that a forced deletion takes along', async () => {
    const environment = await secondEnvironment();
    const { body: record } = await container({}, environment);
    await limit(tenant.org, 'container.delete', 'container.name', '!=', record.name);
    expect(await root.delete(`${environment}?force=true`)).toMatchObject({
      status: 409,
      body: { reason: 'limit_rule' },
    });
    expect((await root.get(`${environment}/containers`)).body).toHaveLength(1);
  });
  it('contain rules and endpoints below the resources of the node', async () => {
    await limit(tenant.workspace, 'rule.create', 'rules.count', '<=', 2);
    const policy = await make.policy(tenant.environment);
    const lambda = await make.lambda(tenant);
    const rule = () => postRule(policy, 'Event', { match_actions: [{ action: 'lambda.view' }], lambda: lambda.id });
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
    const policy = await make.policy(tenant.environment);
    const eval_logic = { property, operator: '==', value: 1 };
    const reply = await postRule(policy, 'Limit', { match_actions: [{ action: 'container.create' }], eval_logic });
    expect(reply).toMatchObject({ status: 400, body: { details: [{ pointer: '/properties/eval_logic/property' }] } });
  });
});
