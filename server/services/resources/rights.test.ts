import { beforeAll, describe, expect, it } from 'vitest';
import { sharedPlatform } from '../../testing/platform.ts';
import {
  type Body,
  containerBody,
  createTenant,
  entitlementOf,
  grant,
  lambdaBody,
  makeUser,
  type Tenant,
} from '../../testing/tenant.ts';

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

const platform = sharedPlatform();
const { root } = platform;
let tenant: Tenant;
beforeAll(async () => {
  tenant = await createTenant(root, 'righted');
});

let createdCount = 0;
const user = () => makeUser(platform, `user-${createdCount++}`);
const group = async (under: string, ...users: string[]): Promise<string> =>
  (await root.create(`${under}/groups`, { name: `group-${createdCount++}`, properties: { users } })).id;
const makeLambda = (under = tenant.environment, client = root) =>
  client.create(`${under}/lambdas`, lambdaBody(tenant, `lambda-${createdCount++}`));
const entitlement = (node: string, action: string) => entitlementOf(root, node, action);
const at = ({ id }: Body) => `${tenant.org}/entitlements/${id}`;
const put = ({ id, name, properties }: Body, identities: unknown[], client = root) =>
  client.put(`${tenant.org}/entitlements/${id}`, { id, name, properties: { action: properties.action, identities } });
const forbids = (action: string) => ({
  status: 403,
  body: {
    code: 403,
    reason: 'forbidden',
    message: `You do not have permission to perform this action. Failed: '${action}'`,
  },
});

describe('who may act (D-117, D-118)', () => {
  it('no user without the permission: 403 on one, omitted in lists, 404 only for what does not exist', async () => {
    const { client } = await user();
    const lambda = await makeLambda();
    const path = `${tenant.org}/lambdas/${lambda.id}`;
    expect(await client.get(path)).toMatchObject(forbids('lambda.view'));
    expect(await client.patch(path, [])).toMatchObject(forbids('lambda.update'));
    expect(await client.delete(path)).toMatchObject(forbids('lambda.delete'));
    expect(await client.post(`${path}/promote?target=${tenant.environmentId}`)).toMatchObject(
      forbids('lambda.promote'),
    );
    expect(await client.post(`${tenant.environment}/lambdas`, lambdaBody(tenant, 'x'))).toMatchObject(
      forbids('lambda.create'),
    );
    expect((await client.get(`${tenant.org}/lambdas`)).body).toEqual([]);
    expect((await client.get('/orgs')).body).toEqual([]);
    expect((await client.get(`${tenant.org}/lambdas/${UNKNOWN_ID}`)).status).toBe(404);
    expect((await client.get('/users/self')).status).toBe(200);
  });
  it('the creator of a resource, and of its ancestors', async () => {
    const { id, client } = await user();
    await grant(root, tenant.org, 'workspace.create', id);
    const workspace = await client.create(`${tenant.org}/workspaces`, { name: `ws-${id}` });
    const path = `${tenant.org}/workspaces/${workspace.id}`;
    expect(workspace.owner.id).toBe(id);
    const environment = await client.create(`${path}/environments`, {
      name: 'e',
      properties: { environment_type: 'test' },
    });
    const byRoot = await makeLambda(`${tenant.org}/environments/${environment.id}`);
    expect((await client.patch(`${tenant.org}/lambdas/${byRoot.id}`, [])).status).toBe(200);
    expect(
      (await client.get(`${tenant.org}/workspaces`)).body.map((workspaceRecord: Body) => workspaceRecord.id),
    ).toEqual([workspace.id]);
    expect((await client.delete(`${path}?force=true`)).status).toBe(204);
  });
  it('a creator keeps the right on the resource whatever the entitlement says', async () => {
    const { id, client } = await user();
    await grant(root, tenant.environment, 'lambda.create', id);
    const lambda = await makeLambda(tenant.environment, client);
    const path = `${tenant.org}/lambdas/${lambda.id}`;
    expect((await put(await entitlement(path, 'lambda.view'), [])).body.properties.identities).toEqual([]);
    expect((await client.get(path)).status).toBe(200);
  });
  it('a member of a group that has the permission two organizations up', async () => {
    const { id, client } = await user();
    const deep = await root.create('/righted', { name: 'one' });
    await root.create('/righted.one', { name: 'two' });
    const lambda = await root.create('/righted.one.two/lambdas', lambdaBody(tenant, 'deep'));
    const groupId = await group(tenant.org, id);
    await grant(root, tenant.org, 'lambda.view', groupId);
    expect((await client.get(`/righted.one.two/lambdas/${lambda.id}`)).status).toBe(200);
    expect((await client.get('/righted.one.two/lambdas')).body).toHaveLength(1);
    await root.delete(`${tenant.org}/groups/${groupId}/users?id=${id}`);
    expect((await client.get(`/righted.one.two/lambdas/${lambda.id}`)).status).toBe(403);
    expect((await root.delete(`/righted/orgs/${deep.id}?force=true`)).status).toBe(204);
  });
  it('create is checked on the parent', async () => {
    const { id, client } = await user();
    await grant(root, tenant.workspace, 'lambda.create', id);
    expect((await client.post(`${tenant.environment}/lambdas`, lambdaBody(tenant, 'mine'))).status).toBe(201);
    expect((await client.post(`${tenant.org}/lambdas`, lambdaBody(tenant, 'mine'))).status).toBe(403);
  });
  it('a container brings its inline volume only with the right to create one', async () => {
    const { id, client } = await user();
    await grant(root, tenant.environment, 'container.create', id);
    const volume_resource = { name: `inline-${id}`, properties: { type: 'empty_dir' } };
    const body = containerBody(tenant, `c-${id}`, { volumes: [{ mount_path: '/v', volume_resource }] });
    expect(await client.post(`${tenant.environment}/containers`, body)).toMatchObject(forbids('volume.create'));
    await grant(root, tenant.environment, 'volume.create', id);
    expect((await client.post(`${tenant.environment}/containers`, body)).status).toBe(201);
  });
  it('scale, migrate and promote are rights of their own', async () => {
    const { id, client } = await user();
    const container = await root.create(`${tenant.environment}/containers`, containerBody(tenant, `c-${id}`));
    const path = `${tenant.org}/containers/${container.id}`;
    await grant(root, tenant.environment, 'container.update', id);
    expect(await client.post(`${path}/scale?numInstances=2`)).toMatchObject(forbids('container.scale'));
    await grant(root, path, 'container.scale', id);
    expect((await client.post(`${path}/scale?numInstances=2`)).status).toBe(202);
    await grant(root, path, 'container.promote', id);
    expect(await client.post(`${path}/promote?target=${tenant.environmentId}`)).toMatchObject(
      forbids('container.create'),
    );
  });
  it('entitlements have rights of their own', async () => {
    const { id, client } = await user();
    const current = await entitlement(tenant.environment, 'lambda.view');
    expect((await client.get(`${tenant.environment}/entitlements`)).body).toEqual([]);
    expect(await client.get(at(current))).toMatchObject(forbids('entitlement.view'));
    expect(await put(current, [id], client)).toMatchObject(forbids('entitlement.update'));
    expect(await client.patch(at(current), [])).toMatchObject(forbids('entitlement.update'));
    expect(await client.delete(at(current))).toMatchObject(forbids('entitlement.delete'));
    expect(await client.post(`${tenant.environment}/entitlements`, {})).toMatchObject(forbids('entitlement.create'));
    await grant(root, tenant.environment, 'entitlement.view', id);
    expect((await client.get(at(current))).status).toBe(200);
    expect((await client.get(`${tenant.environment}/entitlements`)).body.length).toBeGreaterThan(10);
  });
});
