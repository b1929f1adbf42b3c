import { v5 } from 'uuid';
import { beforeAll, describe, expect, it } from 'vitest';
import { sharedPlatform } from '../../testing/platform.ts';
import { startRequest } from '../../testing/slow-request.ts';
import {
  type Body,
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
let rootUserId: string;
let tenant: Tenant;
beforeAll(async () => {
  rootUserId = (await root.get('/users/self')).body.id;
  tenant = await createTenant(root, 'entitled');
});

let createdCount = 0;
const user = () => makeUser(platform, `user-${createdCount++}`);
const group = async (under: string, ...users: string[]): Promise<string> =>
  (await root.create(`${under}/groups`, { name: `group-${createdCount++}`, properties: { users } })).id;
const makeLambda = (under = tenant.environment, client = root) =>
  client.create(`${under}/lambdas`, lambdaBody(tenant, `lambda-${createdCount++}`));
const idsOf = (entitlement: Body): string[] => entitlement.properties.identities.map((identity: Body) => identity.id);
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

describe('every resource has one entitlement per action (D-115, D-116)', () => {
  it('named after both, with an id derived from both', async () => {
    const { body } = await root.get(`${tenant.environment}/entitlements?expand=true`);
    const { resource_type, ...scaleEntitlement } = body.find(
      (found: Body) => found.properties.action === 'container.scale',
    );
    expect(scaleEntitlement).toMatchObject({
      id: v5('container.scale', tenant.environmentId),
      name: `${tenant.environmentId}.container.scale`,
      properties: {
        action: 'container.scale',
        identities: [
          {
            id: rootUserId,
            name: 'root',
            typeId: expect.any(String),
            href: `${platform.emulator.metaUrl}/root/users/${rootUserId}`,
          },
        ],
        parent: { id: tenant.environmentId, name: 'env' },
      },
    });
    expect(resource_type).toBe('Platform::Resource::Entitlement');
    expect((await root.get(at(scaleEntitlement))).body).toEqual({ resource_type, ...scaleEntitlement });
    expect((await root.get(`${tenant.environment}/entitlements/${scaleEntitlement.id}`)).body.id).toBe(
      scaleEntitlement.id,
    );
    expect((await root.get(`${tenant.workspace}/entitlements/${scaleEntitlement.id}`)).status).toBe(404);
    expect((await root.get(`${tenant.org}/resources/${scaleEntitlement.id}`)).body.id).toBe(scaleEntitlement.id);
  });
  it('has its own actions and those of what may stand below it', async () => {
    const actions = async (node: string): Promise<string[]> =>
      (await root.get(`${node}/entitlements?expand=true`)).body.map((member: Body) => member.properties.action);
    const lambda = await makeLambda();
    expect((await actions(`${tenant.org}/lambdas/${lambda.id}`)).sort()).toEqual(
      [
        ...['create', 'view', 'update', 'delete', 'migrate', 'promote', 'invoke', 'import'].map((v) => `lambda.${v}`),
        ...['create', 'view', 'update', 'delete'].map((verb) => `entitlement.${verb}`),
      ].sort(),
    );
    const below = await actions(tenant.environment);
    expect(below).toEqual(
      expect.arrayContaining(['environment.view', 'secret.import', 'apiendpoint.invoke', 'rule.view']),
    );
    expect(below).not.toContain('workspace.view');
    expect(await actions('/root')).toEqual(expect.arrayContaining(['org.create', 'user.delete', 'volume.import']));
    expect(new Set(below).size).toBe(below.length);
  });
  it('inherits additions above, at once and at any depth', async () => {
    const { id } = await user();
    await grant(root, tenant.org, 'lambda.view', id);
    const lambda = await makeLambda();
    expect(idsOf(await entitlement(`${tenant.org}/lambdas/${lambda.id}`, 'lambda.view'))).toContain(id);
    expect(idsOf(await entitlement(tenant.workspace, 'lambda.view'))).toContain(id);
    const top = await entitlement(tenant.org, 'lambda.view');
    await put(
      top,
      idsOf(top).filter((identity) => identity !== id),
    );
    expect(idsOf(await entitlement(`${tenant.org}/lambdas/${lambda.id}`, 'lambda.view'))).not.toContain(id);
  });
  it('removed at a middle node, an identity is gone for all below and stays above', async () => {
    const { id, client } = await user();
    await grant(root, tenant.org, 'lambda.view', id);
    const [inEnvironment, inOrganization] = [await makeLambda(), await makeLambda(tenant.org)];
    const middle = await entitlement(tenant.workspace, 'lambda.view');
    expect(
      (
        await put(
          middle,
          idsOf(middle).filter((identity) => identity !== id),
        )
      ).status,
    ).toBe(200);
    const path = (lambda: Body) => `${tenant.org}/lambdas/${lambda.id}`;
    expect(idsOf(await entitlement(path(inEnvironment), 'lambda.view'))).not.toContain(id);
    expect(idsOf(await entitlement(path(inOrganization), 'lambda.view'))).toContain(id);
    expect(await client.get(path(inEnvironment))).toMatchObject(forbids('lambda.view'));
    expect((await client.get(path(inOrganization))).status).toBe(200);
    // Added again further down, it is there again from there on.
    await grant(root, tenant.environment, 'lambda.view', id);
    expect((await client.get(path(inEnvironment))).status).toBe(200);
    expect((await root.delete(at(middle))).status).toBe(204);
  });
  it('goes with the resource, and is no child of it', async () => {
    const { id } = await user();
    const lambda = await makeLambda();
    await grant(root, `${tenant.org}/lambdas/${lambda.id}`, 'lambda.view', id);
    const { id: entitlementId } = await entitlement(`${tenant.org}/lambdas/${lambda.id}`, 'lambda.view');
    expect((await root.delete(`${tenant.org}/lambdas/${lambda.id}`)).status).toBe(204);
    expect((await root.get(at({ id: entitlementId }))).status).toBe(404);
  });
});

describe('PUT, PATCH, POST and DELETE of an entitlement (D-119, D-074, D-097)', () => {
  it('PUT stores the difference from the inherited identities; ids and links are accepted', async () => {
    const [above, added] = [await user(), await user()];
    await grant(root, tenant.org, 'secret.view', above.id);
    const link = (await root.get(`/root/users`)).body.find((candidate: Body) => candidate.id === added.id);
    const reply = await put(await entitlement(tenant.environment, 'secret.view'), [link, above.id.toUpperCase()]);
    expect(reply.status).toBe(200);
    expect(idsOf(reply.body).sort()).toEqual([above.id, added.id].sort());
    expect(await entitlement(tenant.environment, 'secret.view')).toEqual(reply.body);
    // What comes later from above is inherited; root was there and was left out.
    const later = await user();
    await grant(root, tenant.org, 'secret.view', later.id);
    expect(idsOf(await entitlement(tenant.environment, 'secret.view')).sort()).toEqual(
      [above.id, added.id, later.id].sort(),
    );
  });
  it('putting back a read record changes nothing', async () => {
    const node = await root.get(tenant.workspace);
    const current = await entitlement(tenant.workspace, 'secret.update');
    expect(await root.put(at(current), current)).toMatchObject({ status: 200, body: current });
    expect((await root.get(tenant.workspace)).body).toEqual(node.body);
  });
  it('a right that is given or taken does not count as a change of the resource', async () => {
    const { id } = await user();
    const before = (await root.get(tenant.workspace)).body;
    await grant(root, tenant.workspace, 'secret.delete', id);
    expect((await root.get(tenant.workspace)).body).toEqual(before);
  });
  it('value is kept with it', async () => {
    const current = await entitlement(tenant.workspace, 'volume.view');
    const value = { any: ['thing', 1] };
    const { id, name, properties } = current;
    const reply = await root.put(at(current), { id, name, properties: { ...properties, value } });
    expect(reply.body.properties.value).toEqual(value);
    expect((await root.get(at(current))).body.properties.value).toEqual(value);
    expect((await root.put(at(current), { properties })).body.properties).not.toHaveProperty('value');
  });
  it('a changed id or action is 409, an unknown entitlement 404', async () => {
    const current = await entitlement(tenant.workspace, 'lambda.view');
    const { id, name, properties } = current;
    expect((await root.put(at(current), { id: UNKNOWN_ID, name, properties })).status).toBe(409);
    const renamed = { ...properties, action: 'lambda.update' };
    expect((await root.put(at(current), { id, name, properties: renamed })).status).toBe(409);
    expect((await root.put(at({ id: UNKNOWN_ID }), { properties })).status).toBe(404);
    expect((await root.put(at({ id: 'nonsense' }), { properties })).status).toBe(400);
    expect((await root.put(`/nowhere/entitlements/${id}`, { properties })).status).toBe(404);
  });
  it.each([
    ['a missing action', { identities: [] }, '/properties/action'],
    ['missing identities', { action: 'lambda.view' }, '/properties/identities'],
    ['an unknown identity', { action: 'lambda.view', identities: [UNKNOWN_ID] }, '/properties/identities/0'],
    ['what is no identity', { action: 'lambda.view', identities: [7] }, '/properties/identities/0'],
    ['no properties', undefined, '/properties'],
  ])('%s is 400', async (_, properties, pointer) => {
    const current = await entitlement(tenant.workspace, 'lambda.view');
    const reply = await root.put(at(current), { id: current.id, properties });
    expect(reply).toMatchObject({ status: 400, body: { details: [{ pointer }] } });
    expect(await entitlement(tenant.workspace, 'lambda.view')).toEqual(current);
  });
  it('an identity must be a user or a group', async () => {
    const current = await entitlement(tenant.workspace, 'lambda.view');
    expect((await put(current, [tenant.workspaceId])).status).toBe(400);
    const groupId = await group('/root');
    expect((await put(current, [rootUserId, groupId])).body.properties.identities[1].href).toMatch(
      new RegExp(`/root/groups/${groupId}$`),
    );
  });
  it('PATCH takes ids, adds and removes', async () => {
    const [first, other] = [await user(), await user()];
    const before = await entitlement(tenant.environment, 'volume.update');
    const patch = (...operations: object[]) => root.patch(at(before), operations);
    await patch(
      { op: 'add', path: '/properties/identities/-', value: first.id },
      { op: 'add', path: '/properties/identities/-', value: other.id },
    );
    const index = idsOf(await entitlement(tenant.environment, 'volume.update')).indexOf(first.id);
    const reply = await patch(
      { op: 'test', path: `/properties/identities/${index}`, value: first.id },
      { op: 'remove', path: `/properties/identities/${index}` },
    );
    expect(reply.status).toBe(200);
    expect(idsOf(reply.body)).toContain(other.id);
    expect(idsOf(reply.body)).not.toContain(first.id);
    expect((await patch({ op: 'replace', path: '/properties/action', value: 'x' })).status).toBe(422);
    expect((await patch({ op: 'replace', path: '/properties/action', value: 'volume.update' })).status).toBe(200);
    expect((await patch({ op: 'add', path: '/properties/identities/-', value: UNKNOWN_ID })).status).toBe(400);
    expect((await root.patch(`${tenant.org}/entitlements`, [])).status).toBe(400);
    expect((await root.patch(`${tenant.environment}/entitlements`, [])).status).toBe(400);
  });
  it('two concurrent patches both take effect', async () => {
    const users = await Promise.all(Array.from({ length: 8 }, user));
    const current = await entitlement(tenant.environment, 'volume.delete');
    const replies = await Promise.all(
      users.map(({ id }) => root.patch(at(current), [{ op: 'add', path: '/properties/identities/-', value: id }])),
    );
    expect(replies.map(({ status }) => status)).toEqual(users.map(() => 200));
    expect(idsOf(await entitlement(tenant.environment, 'volume.delete'))).toEqual(
      expect.arrayContaining(users.map(({ id }) => id)),
    );
  });
  it('one whose body comes slowly does not undo what another did meanwhile', async () => {
    const [slow, quick] = [await user(), await user()];
    const current = await entitlement(tenant.environment, 'secret.delete');
    const add = (value: string) => [{ op: 'add', path: '/properties/identities/-', value }];
    const patching = await startRequest(platform.emulator, 'PATCH', at(current));
    expect((await root.patch(at(current), add(quick.id))).status).toBe(200);
    expect(await patching.finish(add(slow.id))).toBe(200);
    expect(idsOf(await entitlement(tenant.environment, 'secret.delete'))).toEqual(
      expect.arrayContaining([slow.id, quick.id]),
    );
  });
  it('POST of an existing action is 409, of an unknown one 400', async () => {
    for (const node of [tenant.org, tenant.workspace, tenant.environment, `/root/resources/${tenant.environmentId}`]) {
      const body = (action: string) => ({ name: 'any', properties: { action, identities: [rootUserId] } });
      expect((await root.post(`${node}/entitlements`, body('container.view'))).status).toBe(409);
      for (const action of ['container.dance', 'container', '', 'constructor']) {
        expect((await root.post(`${node}/entitlements`, body(action))).status).toBe(400);
      }
    }
    const lambda = await makeLambda();
    const body = { properties: { action: 'container.view', identities: [] } };
    expect((await root.post(`${tenant.org}/lambdas/${lambda.id}/entitlements`, body)).status).toBe(400);
  });
  it('DELETE restores the inherited identities', async () => {
    const { id } = await user();
    await grant(root, tenant.environment, 'container.delete', id);
    const current = await entitlement(tenant.environment, 'container.delete');
    expect((await root.delete(at(current))).status).toBe(204);
    expect(idsOf(await entitlement(tenant.environment, 'container.delete'))).toEqual([rootUserId]);
  });
  it('lists show those of the node only, and can be filtered', async () => {
    for (const list of [`${tenant.environment}/entitlements`, `/root/resources/${tenant.environmentId}/entitlements`]) {
      const links: Body[] = (await root.get(list)).body;
      expect(links.every(({ name }) => name.startsWith(`${tenant.environmentId}.`))).toBe(true);
      expect(Object.keys(links[0]).sort()).toEqual(['href', 'id', 'name', 'typeId']);
    }
    const name = `${tenant.environmentId}.lambda.view`;
    expect((await root.get(`${tenant.environment}/entitlements?name=${name}`)).body).toHaveLength(1);
    expect((await root.get(`${tenant.environment}/entitlements?action=lambda.view&name=other`)).body).toEqual([]);
    expect(await root.get(`${tenant.environment}/entitlements?acton=1`)).toMatchObject({
      status: 400,
      body: { message: "entitlements have no property 'acton' to filter by; did you mean action?" },
    });
    const [compact] = (await root.get(`${tenant.environment}/entitlements?compact=true&action=lambda.view`)).body;
    expect(compact).not.toHaveProperty('owner');
    expect(compact.properties.action).toBe('lambda.view');
    expect((await root.get(`${tenant.org}/environments/${UNKNOWN_ID}/entitlements`)).status).toBe(404);
  });
});

describe('the security plugin of an endpoint and its apiendpoint.invoke (D-120)', () => {
  it('sent lists are stored; a PUT of the entitlement rewrites them, if the plugin is enabled', async () => {
    const [listed, invited] = [await user(), await user()];
    const groupId = await group('/root', invited.id);
    const lambda = await makeLambda();
    const api = await root.create(`${tenant.environment}/apis`, { name: `api-${createdCount++}` });
    const make = (path: string, enabled: boolean) =>
      root.create(`${tenant.org}/apis/${api.id}/apiendpoints`, {
        name: path.slice(1),
        properties: {
          resource: path,
          implementation_type: 'lambda',
          implementation_id: lambda.id,
          plugins: { platformSecurity: { enabled, users: [listed.id], groups: [] }, other: { kept: true } },
        },
      });
    for (const isEnabled of [true, false]) {
      const endpoint = await make(`/e-${isEnabled}`, isEnabled);
      const path = `${tenant.org}/apiendpoints/${endpoint.id}`;
      const securityPlugin = { enabled: isEnabled, users: [listed.id], groups: [] };
      expect(endpoint.properties.plugins.platformSecurity).toEqual(securityPlugin);
      const reply = await put(await entitlement(path, 'apiendpoint.invoke'), [rootUserId, invited.id, groupId]);
      expect(reply.status).toBe(200);
      const after = (await root.get(path)).body;
      expect(after.properties.plugins).toEqual({
        other: { kept: true },
        platformSecurity: isEnabled
          ? { enabled: true, users: [rootUserId, invited.id], groups: [groupId] }
          : securityPlugin,
      });
      expect(after.modified.action).toBe(isEnabled ? 'update' : 'create');
    }
  });
});
