import { beforeAll, describe, expect, it } from 'vitest';
import { basic, bearer, send } from '../../testing/checked-client.ts';
import { sharedPlatform } from '../../testing/platform.ts';
import { type ResourceFactory, resourceFactoryFor } from '../../testing/resource-factory.ts';
import { startRequest } from '../../testing/slow-request.ts';
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

const platform = sharedPlatform();
const { root } = platform;
let make: ResourceFactory;
beforeAll(async () => {
  make = resourceFactoryFor(root);
});

const newPlace = () => createTenant(root, make.fresh('deleted'));
const get = async ({ id }: Body) => root.get(`/root/resources/${id}`);
const remove = ({ id }: Body, query = '') => root.delete(`/root/resources/${id}${query}`);

describe('DELETE (D-128)', () => {
  it('is 204 and empty, the second time 404', async () => {
    const tenant = await newPlace();
    const lambda = await make.lambda(tenant);
    expect(await remove(lambda)).toMatchObject({ status: 204, body: '' });
    expect((await remove(lambda)).status).toBe(404);
    expect((await get(lambda)).status).toBe(404);
  });
  it('ignores a body of whatever type (D-007)', async () => {
    const lambda = await make.lambda(await newPlace());
    const options = { body: '{nonsense', headers: { 'Content-Type': 'text/weird' } };
    expect((await root.send('DELETE', `/root/lambdas/${lambda.id}`, options)).status).toBe(204);
  });
  it.each(['/root', (tenant: Tenant) => tenant.workspace, (tenant: Tenant) => tenant.environment])(
    'of two at once one is 204, the other 404',
    async (at) => {
      const tenant = await newPlace();
      const lambda = await make.lambda(tenant, {}, typeof at === 'string' ? at : at(tenant));
      const replies = await Promise.all([remove(lambda), remove(lambda)]);
      expect(replies.map(({ status }) => status).sort()).toEqual([204, 404]);
    },
  );
  it('with children and without force is 409 and counts them by type', async () => {
    const tenant = await newPlace();
    await make.container(tenant);
    await make.container(tenant);
    await make.lambda(tenant);
    const reply = await root.delete(tenant.environment);
    expect(reply.status).toBe(409);
    expect(reply.body.message).toContain('has children: 2 containers, 1 lambda');
    expect((await root.delete(`${tenant.environment}?force=false`)).status).toBe(409);
    expect((await root.delete(`${tenant.environment}?force=yes`)).status).toBe(400);
    expect((await root.delete(tenant.workspace)).body.message).toContain('has children: 1 environment');
  });
  it('the children of an organization are all its resources', async () => {
    const { org } = await newPlace();
    await root.create(org, { name: 'sub' });
    await root.create(`${org}/policies`, { name: 'policy' });
    await make.group(org);
    await make.user(org);
    const { message } = (await root.delete(org)).body;
    for (const count of ['1 org', '1 workspace', '1 policy', '1 group', '1 user']) expect(message).toContain(count);
  });
  it('an API’s children are its endpoints, a policy’s its rules; a group’s members are none', async () => {
    const tenant = await newPlace();
    const lambda = await make.lambda(tenant);
    const api = await make.api(tenant);
    await make.endpoint(api, lambda);
    expect((await remove(api)).body.message).toContain('has children: 1 apiendpoint');
    expect((await remove(api, '?force=true')).status).toBe(204);
    const policy = await root.create(`${tenant.org}/policies`, { name: 'policy' });
    await root.create(`/root/policies/${policy.id}/rules`, {
      name: 'rule',
      resource_type: 'Platform::Resource::Rule::Event',
      properties: { match_actions: [{ action: 'lambda.view' }], lambda: lambda.id },
    });
    expect((await remove(policy)).body.message).toContain('has children: 1 rule');
    expect((await remove(policy, '?force=true')).status).toBe(204);
    const { id } = await make.user('/root');
    const group = await make.group(tenant.org, [id]);
    expect((await remove(group)).status).toBe(204);
    expect((await get({ id })).status).toBe(200);
  });
  it('DELETE /{fqon} and DELETE F/orgs/{id} are the same', async () => {
    const [deletedTenant, other] = [await newPlace(), await newPlace()];
    expect((await root.delete(deletedTenant.org)).status).toBe(409);
    expect((await root.delete(`/root/orgs/${other.organizationId}`)).status).toBe(409);
    expect((await root.delete(`${deletedTenant.org}?force=true`)).status).toBe(204);
    expect((await root.delete(`/root/orgs/${other.organizationId}?force=true`)).status).toBe(204);
    expect((await root.get(deletedTenant.org)).status).toBe(404);
  });
  it('root’s organization and user cannot be deleted, not even with force', async () => {
    const { body: self } = await root.get('/users/self');
    for (const query of ['', '?force=true']) {
      expect((await root.delete(`/root${query}`)).status).toBe(409);
      expect((await root.delete(`/root/users/${self.id}${query}`)).status).toBe(409);
    }
    expect((await root.get('/users/self')).status).toBe(200);
  });
  it('routes of a deleted tree are withdrawn from the gateway', async () => {
    const tenant = await newPlace();
    const endpoint = await make.endpoint(await make.api(tenant), await make.lambda(tenant));
    expect((await send('GET', endpoint.properties.public_url)).status).toBe(200);
    expect((await root.delete(`${tenant.org}?force=true`)).status).toBe(204);
    expect((await send('GET', endpoint.properties.public_url)).status).toBe(404);
  });
  it('a big tree goes whole, and nothing of another', async () => {
    const [tenant, other] = [await newPlace(), await newPlace()];
    const unaffected = await make.lambda(other);
    for (let batch = 0; batch < 8; batch++) {
      await Promise.all(Array.from({ length: 25 }, () => make.volume(tenant)));
    }
    expect((await root.delete(tenant.environment)).body.message).toContain('has children: 200 volumes');
    expect((await root.delete(`${tenant.org}?force=true`)).status).toBe(204);
    expect((await get(unaffected)).body).toEqual(unaffected);
  });
});

describe('workloads of a provider count like children (D-129)', () => {
  it('and go with it when forced, wherever they are', async () => {
    const [tenant, other] = [await newPlace(), await newPlace()];
    const engine = await make.provider(tenant, 'CaaS::Docker');
    const named = { provider: { id: engine.id } };
    const workloads = [
      await make.container(other, named),
      await make.volume(other, { provider: { id: engine.id } }),
      await make.secret(other, { provider: { id: engine.id } }),
      await root.create(`${other.environment}/jobs`, containerBody(other, 'job', named)),
    ];
    const { status, body } = await remove(engine);
    expect(status).toBe(409);
    for (const count of ['1 container', '1 volume', '1 secret', '1 job']) expect(body.message).toContain(count);
    expect((await remove(engine, '?force=true')).status).toBe(204);
    for (const record of workloads) expect((await get(record)).status).toBe(404);
    expect((await root.get(other.environment)).status).toBe(200);
  });
  it('lambdas and apis as well', async () => {
    const tenant = await newPlace();
    const provider = await make.provider(tenant, 'Lambda');
    const lambda = await make.lambda(tenant, { provider: { id: provider.id } });
    expect((await remove(provider)).body.message).toContain('1 lambda');
    const manager = await make.provider(tenant, 'GatewayManager');
    const api = await make.api(tenant, { provider: { id: manager.id } });
    const endpoint = await make.endpoint(api, lambda);
    expect((await remove(manager)).body.message).toContain('1 api');
    expect((await remove(manager, '?force=true')).status).toBe(204);
    expect((await get(endpoint)).status).toBe(404);
    expect((await get(lambda)).status).toBe(200);
  });
  it('?deleteContainers=true removes just the containers', async () => {
    const tenant = await newPlace();
    const engine = await make.provider(tenant, 'CaaS::Docker');
    const container = await make.container(tenant, { provider: { id: engine.id } });
    const volume = await make.volume(tenant, { provider: { id: engine.id } });
    expect((await remove(engine, '?deleteContainers=true')).body.message).toContain('has children: 1 volume;');
    expect((await get(container)).status).toBe(200);
    await remove(volume);
    expect((await remove(engine, '?deleteContainers=true')).status).toBe(204);
    expect((await get(container)).status).toBe(404);
  });
  it('which says nothing of anything but providers', async () => {
    const tenant = await newPlace();
    const container = await make.container(tenant);
    expect((await root.delete(`${tenant.environment}?deleteContainers=true`)).status).toBe(409);
    expect((await get(container)).status).toBe(200);
  });
  it('a deleted provider leaves the linked_providers of others', async () => {
    const tenant = await newPlace();
    const linked = await make.provider(tenant, 'Logging');
    const other = await make.provider(tenant, 'Logging');
    const linking = await make.provider(tenant, 'Lambda', { linked_providers: [{ id: linked.id }, { id: other.id }] });
    expect((await remove(linked)).status).toBe(204);
    const { properties, modified } = (await get(linking)).body;
    expect(properties.linked_providers.map((linked: Body) => linked.id)).toEqual([other.id]);
    expect(modified.action).toBe('update');
  });
});

describe('what endpoints target may go (D-130)', () => {
  it('the endpoints stay and answer 503 until re-pointed', async () => {
    const tenant = await newPlace();
    const [lambda, next] = [await make.lambda(tenant), await make.lambda(tenant)];
    const endpoint = await make.endpoint(await make.api(tenant), lambda);
    const url = endpoint.properties.public_url;
    expect((await remove(lambda)).status).toBe(204);
    expect((await get(endpoint)).body.properties.implementation_id).toBe(lambda.id);
    expect((await send('GET', url)).status).toBe(503);
    const operation = { op: 'replace', path: '/properties/implementation_id', value: next.id };
    expect((await root.patch(`/root/apiendpoints/${endpoint.id}`, [operation])).status).toBe(200);
    expect(await send('GET', url)).toMatchObject({ status: 200, body: next.name });
  });
});

describe('a secret or volume in use (D-078, D-079)', () => {
  it.each(['volumes', 'secrets'])('%s: 409 without force, with force the mount is removed', async (collection) => {
    const tenant = await newPlace();
    const mounted = collection === 'volumes' ? await make.volume(tenant) : await make.secret(tenant);
    const unaffected = collection === 'volumes' ? await make.volume(tenant) : await make.secret(tenant);
    const mount = ({ id }: Body) =>
      collection === 'volumes'
        ? { mount_path: `/${id}`, volume_id: id }
        : { mount_type: 'file', path: `/${id}`, secret_id: id, secret_key: 'k' };
    const container = await make.container(tenant, { [collection]: [mount(mounted), mount(unaffected)] });
    const reply = await remove(mounted);
    expect(reply.status).toBe(409);
    expect(reply.body.message).toContain('is mounted by 1 container;');
    expect((await remove(mounted, '?force=true')).status).toBe(204);
    const after = (await get(container)).body;
    expect(after.properties[collection]).toEqual([mount(unaffected)]);
    expect(after.modified.action).toBe('update');
    expect((await root.put(`/root/containers/${container.id}`, after)).body).toEqual(after);
  });
  it('an environment is deleted with its containers and their mounts', async () => {
    const tenant = await newPlace();
    const volume = await make.volume(tenant);
    const container = await make.container(tenant, { volumes: [{ mount_path: '/v', volume_id: volume.id }] });
    expect((await root.delete(`${tenant.environment}?force=true`)).status).toBe(204);
    for (const record of [volume, container]) expect((await get(record)).status).toBe(404);
  });
});

describe('a deleted user or group is mentioned nowhere (D-072)', () => {
  it('not in groups, entitlements and plugin lists', async () => {
    const tenant = await newPlace();
    const [user, other] = [await makeUser(platform, make.fresh('gone')), await makeUser(platform, make.fresh('kept'))];
    const group = await make.group(tenant.org, [user.id, other.id]);
    const doomed = await make.group(tenant.org, [other.id]);
    await grant(root, tenant.environment, 'lambda.view', user.id, doomed.id, other.id);
    const security = { enabled: true, users: [user.id, other.id], groups: [doomed.id] };
    const endpoint = await make.endpoint(await make.api(tenant), await make.lambda(tenant), {
      plugins: { platformSecurity: security },
    });
    const { modified } = (await root.get(tenant.environment)).body;
    expect((await remove(user)).status).toBe(204);
    expect((await remove(doomed)).status).toBe(204);
    expect((await get(group)).body.properties.users.map((member: Body) => member.id)).toEqual([other.id]);
    expect((await get(endpoint)).body.properties.plugins.platformSecurity).toEqual({
      enabled: true,
      users: [other.id],
      groups: [],
    });
    const identities = (await entitlementOf(root, tenant.environment, 'lambda.view')).properties.identities;
    expect(identities.map((identity: Body) => identity.id)).toContain(other.id);
    expect(JSON.stringify(identities)).not.toMatch(new RegExp(`${user.id}|${doomed.id}`));
    expect((await root.get(tenant.environment)).body.modified).toEqual(modified);
  });
  it('tokens and keys of a deleted user end', async () => {
    const name = make.fresh('ending');
    const user = await makeUser(platform, name);
    const { apiKey = '', apiSecret = '' } = platform.emulator.rootCredentials;
    const key = await send('POST', `${platform.emulator.securityUrl}/accounts/${user.id}/apiKeys`, {
      auth: basic(apiKey, apiSecret),
      body: { orgId: (await root.get('/root')).body.id },
    });
    const pair = basic(key.body.apiKey, key.body.apiSecret);
    const self = () => send('GET', `${platform.emulator.metaUrl}/users/self`, { auth: pair });
    expect((await self()).status).toBe(200);
    expect((await remove(user)).status).toBe(204);
    expect((await self()).status).toBe(401);
    expect((await user.client.get('/users/self')).status).toBe(401);
    await expect(platform.as(name, `${name}-secret`)).rejects.toThrow('no token');
    const wrong = await send('GET', `${platform.emulator.metaUrl}/users/self`, { auth: bearer('nonsense') });
    expect(wrong.status).toBe(401);
  });
  it('resources of the user remain, with their creator', async () => {
    const tenant = await newPlace();
    const user = await makeUser(platform, make.fresh('creator'));
    await grant(root, tenant.environment, 'lambda.create', user.id);
    const lambda = await user.client.create(`${tenant.environment}/lambdas`, lambdaBody(tenant, 'left'));
    expect((await remove(user)).status).toBe(204);
    const { status, body } = await get(lambda);
    expect(status).toBe(200);
    expect(body.created.id).toBe(user.id);
    expect(body.owner.id).toBe(user.id);
    const { properties } = await entitlementOf(root, `/root/lambdas/${lambda.id}`, 'lambda.view');
    expect(properties.identities.map((identity: Body) => identity.id)).not.toContain(user.id);
  });
});

describe('a create whose parent is deleted meanwhile', () => {
  it('is 404 when it was deleted while the body was on its way', async () => {
    const tenant = await newPlace();
    const creating = await startRequest(platform.emulator, 'POST', `${tenant.environment}/volumes`);
    expect((await root.delete(`${tenant.org}?force=true`)).status).toBe(204);
    const properties = { type: 'empty_dir', provider: { id: tenant.docker } };
    expect(await creating.finish({ name: 'late', properties })).toBe(404);
  });
  it('either comes first and goes along, or is refused; nothing is left without a parent', async () => {
    for (let round = 0; round < 5; round++) {
      const tenant = await newPlace();
      const creates = Array.from({ length: 10 }, (_, index) =>
        index % 2
          ? root.post(`${tenant.org}/users`, { name: make.fresh('racer'), properties: { password: 'x' } })
          : root.post(`${tenant.environment}/volumes`, {
              name: `v-${index}`,
              properties: { type: 'empty_dir', provider: { id: tenant.docker } },
            }),
      );
      const [removed, ...created] = await Promise.all([root.delete(`${tenant.org}?force=true`), ...creates]);
      expect(removed?.status).toBe(204);
      for (const reply of created) {
        expect([201, 404]).toContain(reply.status);
        if (reply.status === 201) expect((await get(reply.body)).status).toBe(404);
      }
    }
  });
});
