import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { basic, bearer, send } from '../../e2e/client.ts';
import {
  type Body,
  containerBody,
  entitlementOf,
  grant,
  lambdaBody,
  makePlace,
  makeUser,
  type Place,
} from '../../e2e/place.ts';
import { type Platform, startPlatform, type Voice } from '../../e2e/platform.ts';

let platform: Platform;
let root: Voice;
let made = 0;
beforeAll(async () => {
  platform = await startPlatform();
  root = platform.root;
});
afterAll(() => platform?.stop());

const newPlace = () => makePlace(root, `deleted-${made++}`);
const makeProvider = (place: Place, kind = 'CaaS::Docker', properties: object = {}) =>
  root.create(`${place.org}/providers`, {
    name: `provider-${made++}`,
    resource_type: `Platform::Configuration::Provider::${kind}`,
    properties,
  });
const makeVolume = (place: Place, provider = place.docker) =>
  root.create(`${place.environment}/volumes`, {
    name: `v-${made++}`,
    properties: { type: 'empty_dir', provider: { id: provider } },
  });
const makeSecret = (place: Place, provider = place.docker) =>
  root.create(`${place.environment}/secrets`, {
    name: `s-${made++}`,
    properties: { provider: { id: provider }, items: [{ key: 'k', value: 'v' }] },
  });
const makeContainer = (place: Place, properties: object = {}) =>
  root.create(`${place.environment}/containers`, containerBody(place, `c-${made++}`, properties));
const makeLambda = (place: Place, at = place.environment, properties: object = {}) =>
  root.create(`${at}/lambdas`, lambdaBody(place, `l-${made++}`, properties));
const makeApi = (place: Place, at = place.environment) =>
  root.create(`${at}/apis`, { name: `api-${made++}`, properties: { provider: { id: place.gateways } } });
const makeEndpoint = (api: Body, target: Body, properties: object = {}) =>
  root.create(`/root/apis/${api.id}/apiendpoints`, {
    name: 'e',
    properties: { resource: '/e', implementation_type: 'lambda', implementation_id: target.id, ...properties },
  });
const get = async ({ id }: Body) => root.get(`/root/resources/${id}`);
const remove = ({ id }: Body, query = '') => root.delete(`/root/resources/${id}${query}`);

describe('DELETE (D-128)', () => {
  it('is 204 and empty, the second time 404', async () => {
    const place = await newPlace();
    const lambda = await makeLambda(place);
    expect(await remove(lambda)).toMatchObject({ status: 204, body: '' });
    expect((await remove(lambda)).status).toBe(404);
    expect((await get(lambda)).status).toBe(404);
  });
  it('ignores a body of whatever type (D-007)', async () => {
    const lambda = await makeLambda(await newPlace());
    const options = { body: '{nonsense', headers: { 'Content-Type': 'text/weird' } };
    expect((await root.send('DELETE', `/root/lambdas/${lambda.id}`, options)).status).toBe(204);
  });
  it.each(['/root', (place: Place) => place.workspace, (place: Place) => place.environment])(
    'of two at once one is 204, the other 404',
    async (at) => {
      const place = await newPlace();
      const lambda = await makeLambda(place, typeof at === 'string' ? at : at(place));
      const replies = await Promise.all([remove(lambda), remove(lambda)]);
      expect(replies.map(({ status }) => status).sort()).toEqual([204, 404]);
    },
  );
  it('with children and without force is 409 and counts them by type', async () => {
    const place = await newPlace();
    await makeContainer(place);
    await makeContainer(place);
    await makeLambda(place);
    const reply = await root.delete(place.environment);
    expect(reply.status).toBe(409);
    expect(reply.body.message).toContain('has children: 2 containers, 1 lambda');
    expect((await root.delete(`${place.environment}?force=false`)).status).toBe(409);
    expect((await root.delete(`${place.environment}?force=yes`)).status).toBe(400);
    expect((await root.delete(place.workspace)).body.message).toContain('has children: 1 environment');
  });
  it('an organization’s children are all that it holds', async () => {
    const { org } = await newPlace();
    await root.create(org, { name: 'sub' });
    await root.create(`${org}/policies`, { name: 'policy' });
    await root.create(`${org}/groups`, { name: 'group' });
    await root.create(`${org}/users`, { name: `user-${made++}`, properties: { password: 'x' } });
    const { message } = (await root.delete(org)).body;
    for (const count of ['1 org', '1 workspace', '1 policy', '1 group', '1 user']) expect(message).toContain(count);
  });
  it('an API’s children are its endpoints, a policy’s its rules; a group’s members are none', async () => {
    const place = await newPlace();
    const lambda = await makeLambda(place);
    const api = await makeApi(place);
    await makeEndpoint(api, lambda);
    expect((await remove(api)).body.message).toContain('has children: 1 apiendpoint');
    expect((await remove(api, '?force=true')).status).toBe(204);
    const policy = await root.create(`${place.org}/policies`, { name: 'policy' });
    await root.create(`/root/policies/${policy.id}/rules`, {
      name: 'rule',
      resource_type: 'Platform::Resource::Rule::Event',
      properties: { match_actions: [{ action: 'a.b' }], lambda: lambda.id },
    });
    expect((await remove(policy)).body.message).toContain('has children: 1 rule');
    expect((await remove(policy, '?force=true')).status).toBe(204);
    const { id } = await root.create('/root/users', { name: `user-${made++}`, properties: { password: 'x' } });
    const group = await root.create(`${place.org}/groups`, { name: 'group', properties: { users: [id] } });
    expect((await remove(group)).status).toBe(204);
    expect((await get({ id })).status).toBe(200);
  });
  it('DELETE /{fqon} and DELETE F/orgs/{id} are the same', async () => {
    const [one, other] = [await newPlace(), await newPlace()];
    expect((await root.delete(one.org)).status).toBe(409);
    expect((await root.delete(`/root/orgs/${other.organizationId}`)).status).toBe(409);
    expect((await root.delete(`${one.org}?force=true`)).status).toBe(204);
    expect((await root.delete(`/root/orgs/${other.organizationId}?force=true`)).status).toBe(204);
    expect((await root.get(one.org)).status).toBe(404);
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
    const place = await newPlace();
    const endpoint = await makeEndpoint(await makeApi(place), await makeLambda(place));
    expect((await send('GET', endpoint.properties.public_url)).status).toBe(200);
    expect((await root.delete(`${place.org}?force=true`)).status).toBe(204);
    expect((await send('GET', endpoint.properties.public_url)).status).toBe(404);
  });
  it('a big tree goes whole, and nothing of another', async () => {
    const [place, other] = [await newPlace(), await newPlace()];
    const kept = await makeLambda(other);
    for (let batch = 0; batch < 8; batch++) {
      await Promise.all(Array.from({ length: 25 }, () => makeVolume(place)));
    }
    expect((await root.delete(place.environment)).body.message).toContain('has children: 200 volumes');
    expect((await root.delete(`${place.org}?force=true`)).status).toBe(204);
    expect((await get(kept)).body).toEqual(kept);
  });
});

describe('workloads of a provider count like children (D-129)', () => {
  it('and go with it when forced, wherever they are', async () => {
    const [place, other] = [await newPlace(), await newPlace()];
    const engine = await makeProvider(place);
    const named = { provider: { id: engine.id } };
    const workloads = [
      await makeContainer(other, named),
      await makeVolume(other, engine.id),
      await makeSecret(other, engine.id),
      await root.create(`${other.environment}/jobs`, containerBody(other, 'job', named)),
    ];
    const { status, body } = await remove(engine);
    expect(status).toBe(409);
    for (const count of ['1 container', '1 volume', '1 secret', '1 job']) expect(body.message).toContain(count);
    expect((await remove(engine, '?force=true')).status).toBe(204);
    for (const one of workloads) expect((await get(one)).status).toBe(404);
    expect((await root.get(other.environment)).status).toBe(200);
  });
  it('lambdas and apis as well', async () => {
    const place = await newPlace();
    const provider = await makeProvider(place, 'Lambda');
    const lambda = await makeLambda(place, place.environment, { provider: { id: provider.id } });
    expect((await remove(provider)).body.message).toContain('1 lambda');
    const manager = await makeProvider(place, 'GatewayManager');
    const properties = { provider: { id: manager.id } };
    const api = await root.create(`${place.environment}/apis`, { name: `api-${made++}`, properties });
    const endpoint = await makeEndpoint(api, lambda);
    expect((await remove(manager)).body.message).toContain('1 api');
    expect((await remove(manager, '?force=true')).status).toBe(204);
    expect((await get(endpoint)).status).toBe(404);
    expect((await get(lambda)).status).toBe(200);
  });
  it('?deleteContainers=true removes just the containers', async () => {
    const place = await newPlace();
    const engine = await makeProvider(place);
    const container = await makeContainer(place, { provider: { id: engine.id } });
    const volume = await makeVolume(place, engine.id);
    expect((await remove(engine, '?deleteContainers=true')).body.message).toContain('has children: 1 volume;');
    expect((await get(container)).status).toBe(200);
    await remove(volume);
    expect((await remove(engine, '?deleteContainers=true')).status).toBe(204);
    expect((await get(container)).status).toBe(404);
  });
  it('which says nothing of anything but providers', async () => {
    const place = await newPlace();
    const container = await makeContainer(place);
    expect((await root.delete(`${place.environment}?deleteContainers=true`)).status).toBe(409);
    expect((await get(container)).status).toBe(200);
  });
  it('a deleted provider leaves the linked_providers of others', async () => {
    const place = await newPlace();
    const linked = await makeProvider(place, 'Logging');
    const other = await makeProvider(place, 'Logging');
    const linking = await makeProvider(place, 'Lambda', { linked_providers: [{ id: linked.id }, { id: other.id }] });
    expect((await remove(linked)).status).toBe(204);
    const { properties, modified } = (await get(linking)).body;
    expect(properties.linked_providers.map((one: Body) => one.id)).toEqual([other.id]);
    expect(modified.action).toBe('update');
  });
});

describe('what endpoints target may go (D-130)', () => {
  it('the endpoints stay and answer 503 until re-pointed', async () => {
    const place = await newPlace();
    const [lambda, next] = [await makeLambda(place), await makeLambda(place)];
    const endpoint = await makeEndpoint(await makeApi(place), lambda);
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
  it.each(['volumes', 'secrets'])('%s: 409 without force, with force the mount is removed', async (word) => {
    const place = await newPlace();
    const mounted = word === 'volumes' ? await makeVolume(place) : await makeSecret(place);
    const kept = word === 'volumes' ? await makeVolume(place) : await makeSecret(place);
    const mount = ({ id }: Body) =>
      word === 'volumes'
        ? { mount_path: `/${id}`, volume_id: id }
        : { mount_type: 'env', path: 'A', secret_id: id, secret_key: 'k' };
    const container = await makeContainer(place, { [word]: [mount(mounted), mount(kept)] });
    const reply = await remove(mounted);
    expect(reply.status).toBe(409);
    expect(reply.body.message).toContain('is mounted by 1 container;');
    expect((await remove(mounted, '?force=true')).status).toBe(204);
    const after = (await get(container)).body;
    expect(after.properties[word]).toEqual([mount(kept)]);
    expect(after.modified.action).toBe('update');
    expect((await root.put(`/root/containers/${container.id}`, after)).body).toEqual(after);
  });
  it('a whole environment goes with its containers and what they mount', async () => {
    const place = await newPlace();
    const volume = await makeVolume(place);
    const container = await makeContainer(place, { volumes: [{ mount_path: '/v', volume_id: volume.id }] });
    expect((await root.delete(`${place.environment}?force=true`)).status).toBe(204);
    for (const one of [volume, container]) expect((await get(one)).status).toBe(404);
  });
});

describe('a deleted user or group is mentioned nowhere (D-072)', () => {
  it('not in groups, entitlements and plugin lists', async () => {
    const place = await newPlace();
    const [user, other] = [await makeUser(platform, `gone-${made++}`), await makeUser(platform, `kept-${made++}`)];
    const group = await root.create(`${place.org}/groups`, { name: 'g', properties: { users: [user.id, other.id] } });
    const doomed = await root.create(`${place.org}/groups`, { name: 'd', properties: { users: [other.id] } });
    await grant(root, place.environment, 'lambda.view', user.id, doomed.id, other.id);
    const security = { enabled: true, users: [user.id, other.id], groups: [doomed.id] };
    const endpoint = await makeEndpoint(await makeApi(place), await makeLambda(place), {
      plugins: { platformSecurity: security },
    });
    const { modified } = (await root.get(place.environment)).body;
    expect((await remove(user)).status).toBe(204);
    expect((await remove(doomed)).status).toBe(204);
    expect((await get(group)).body.properties.users.map((one: Body) => one.id)).toEqual([other.id]);
    expect((await get(endpoint)).body.properties.plugins.platformSecurity).toEqual({
      enabled: true,
      users: [other.id],
      groups: [],
    });
    const identities = (await entitlementOf(root, place.environment, 'lambda.view')).properties.identities;
    expect(identities.map((one: Body) => one.id)).toContain(other.id);
    expect(JSON.stringify(identities)).not.toMatch(new RegExp(`${user.id}|${doomed.id}`));
    expect((await root.get(place.environment)).body.modified).toEqual(modified);
  });
  it('tokens and keys of a deleted user end', async () => {
    const name = `ending-${made++}`;
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
    expect((await user.voice.get('/users/self')).status).toBe(401);
    await expect(platform.as(name, `${name}-secret`)).rejects.toThrow('no token');
    const wrong = await send('GET', `${platform.emulator.metaUrl}/users/self`, { auth: bearer('nonsense') });
    expect(wrong.status).toBe(401);
  });
  it('what the user created stays, and still says who created it', async () => {
    const place = await newPlace();
    const user = await makeUser(platform, `creator-${made++}`);
    await grant(root, place.environment, 'lambda.create', user.id);
    const lambda = await user.voice.create(`${place.environment}/lambdas`, lambdaBody(place, 'left'));
    expect((await remove(user)).status).toBe(204);
    const { status, body } = await get(lambda);
    expect(status).toBe(200);
    expect(body.created.id).toBe(user.id);
    expect(body.owner.id).toBe(user.id);
    const { properties } = await entitlementOf(root, `/root/lambdas/${lambda.id}`, 'lambda.view');
    expect(properties.identities.map((one: Body) => one.id)).not.toContain(user.id);
  });
});

describe('a create whose parent is deleted meanwhile', () => {
  it('either comes first and goes along, or is refused; nothing is left without a parent', async () => {
    for (let round = 0; round < 5; round++) {
      const place = await newPlace();
      const creates = Array.from({ length: 10 }, (_, index) =>
        index % 2
          ? root.post(`${place.org}/users`, { name: `racer-${made++}`, properties: { password: 'x' } })
          : root.post(`${place.environment}/volumes`, {
              name: `v-${index}`,
              properties: { type: 'empty_dir', provider: { id: place.docker } },
            }),
      );
      const [removed, ...created] = await Promise.all([root.delete(`${place.org}?force=true`), ...creates]);
      expect(removed?.status).toBe(204);
      for (const reply of created) {
        expect([201, 404]).toContain(reply.status);
        if (reply.status === 201) expect((await get(reply.body)).status).toBe(404);
      }
    }
  });
});

describe('a forced deletion, by law', () => {
  /** What a client can know of a world: every record of every organization, by id. */
  const everything = async (): Promise<Map<string, Body>> => {
    const orgs: Body[] = (await root.get('/orgs?expand=true')).body;
    const lists = await Promise.all(
      orgs.map(async (org) => (await root.get(`/${org.properties.fqon}/resources?expand=true`)).body),
    );
    return new Map([...orgs, ...lists.flat()].map((one: Body) => [one.id, one]));
  };
  it('leaves no record whose parent is gone, no mention of a deleted user or group, and takes nothing else along', async () => {
    await fc.assert(
      fc.asyncProperty(fc.infiniteStream(fc.nat()), async (numbers) => {
        const next = (below: number) => numbers.next().value % below;
        const pick = <T>(list: readonly T[]): T => list[next(list.length)] as T; // callers give none that is empty
        const place = await newPlace();
        const deeper = await makePlace(root, `deeper-${made++}`);
        const users: string[] = [];
        const others: Body[] = [];
        for (let index = 0; index < 5; index++) {
          const at = pick([place.org, deeper.org, '/root']);
          const user = await root.create(`${at}/users`, { name: `u-${made++}`, properties: { password: 'x' } });
          users.push(user.id);
          others.push(user);
        }
        const groups: string[] = [];
        for (let index = 0; index < 3; index++) {
          const at = pick([place.org, deeper.org, '/root']);
          const properties = { users: [...new Set([pick(users), pick(users)])] };
          const group = await root.create(`${at}/groups`, { name: `g-${made++}`, properties });
          groups.push(group.id);
          others.push(group);
        }
        const lambdas = [await makeLambda(pick([place, deeper])), await makeLambda(place, place.org)];
        const engine = await makeProvider(pick([place, deeper]));
        for (const at of [place, deeper]) {
          await makeEndpoint(await makeApi(at), pick(lambdas), {
            plugins: { platformSecurity: { enabled: true, users: [pick(users)], groups: [pick(groups)] } },
          });
          const volume = await makeVolume(at, pick([engine.id, at.docker]));
          others.push(
            volume,
            await makeContainer(pick([place, deeper]), {
              provider: { id: pick([engine.id, at.docker]) },
              volumes: [{ mount_path: '/v', volume_id: volume.id }],
            }),
          );
          await grant(root, at.environment, 'lambda.view', pick(users), pick(groups));
        }
        const before = await everything();
        const victim = pick([
          { id: place.organizationId },
          { id: place.workspaceId },
          { id: deeper.environmentId },
          engine,
          ...lambdas,
          ...others,
        ]);
        expect((await remove(victim, '?force=true')).status).toBe(204);
        const after = await everything();
        const gone = [...before.keys()].filter((id) => !after.has(id));
        expect(gone).toContain(victim.id);
        for (const { properties } of after.values()) {
          if (properties.parent) expect(after.has(properties.parent.id)).toBe(true);
        }
        // What went was below the victim, or a workload of a provider that went.
        for (const id of gone) {
          const { properties } = before.get(id);
          const provider = typeof properties.provider === 'object' ? properties.provider.id : undefined;
          expect(id === victim.id || gone.includes(properties.parent?.id) || gone.includes(provider)).toBe(true);
        }
        const goneUsers = gone.filter((id) => users.includes(id) || groups.includes(id));
        for (const record of after.values()) {
          const { created, owner, modified, ...rest } = record;
          const text = JSON.stringify(rest);
          for (const id of goneUsers) expect(text).not.toContain(id);
        }
        for (const node of [place, deeper]) {
          if (!after.has(node.environmentId)) continue;
          const { properties } = await entitlementOf(root, node.environment, 'lambda.view');
          for (const id of goneUsers) expect(JSON.stringify(properties)).not.toContain(id);
        }
        for (const { id } of [{ id: place.organizationId }, { id: deeper.organizationId }]) {
          if (after.has(id)) await remove({ id }, '?force=true');
        }
        for (const id of [...users, ...groups]) await remove({ id });
      }),
      { numRuns: 8 },
    );
  });
});
