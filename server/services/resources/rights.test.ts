import { beforeAll, describe, expect, it } from 'vitest';
import {
  type Body,
  containerBody,
  entitlementOf,
  grant,
  lambdaBody,
  makePlace,
  makeUser,
  type Place,
} from '../../testing/place.ts';
import { sharedPlatform } from '../../testing/platform.ts';

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

const platform = sharedPlatform();
const { root } = platform;
let place: Place;
beforeAll(async () => {
  place = await makePlace(root, 'righted');
});

let made = 0;
const user = () => makeUser(platform, `user-${made++}`);
const group = async (under: string, ...users: string[]): Promise<string> =>
  (await root.create(`${under}/groups`, { name: `group-${made++}`, properties: { users } })).id;
const makeLambda = (under = place.environment, voice = root) =>
  voice.create(`${under}/lambdas`, lambdaBody(place, `lambda-${made++}`));
const entitlement = (node: string, action: string) => entitlementOf(root, node, action);
const at = ({ id }: Body) => `${place.org}/entitlements/${id}`;
const put = ({ id, name, properties }: Body, identities: unknown[], voice = root) =>
  voice.put(`${place.org}/entitlements/${id}`, { id, name, properties: { action: properties.action, identities } });
const forbids = (action: string) => ({
  status: 403,
  body: { code: 403, message: `You do not have permission to perform this action. Failed: '${action}'` },
});

describe('who may act (D-117, D-118)', () => {
  it('no user without the permission: 403 on one, omitted in lists, 404 only for what does not exist', async () => {
    const { voice } = await user();
    const lambda = await makeLambda();
    const path = `${place.org}/lambdas/${lambda.id}`;
    expect(await voice.get(path)).toMatchObject(forbids('lambda.view'));
    expect(await voice.patch(path, [])).toMatchObject(forbids('lambda.update'));
    expect(await voice.delete(path)).toMatchObject(forbids('lambda.delete'));
    expect(await voice.post(`${path}/promote?target=${place.environmentId}`)).toMatchObject(forbids('lambda.promote'));
    expect(await voice.post(`${place.environment}/lambdas`, lambdaBody(place, 'x'))).toMatchObject(
      forbids('lambda.create'),
    );
    expect((await voice.get(`${place.org}/lambdas`)).body).toEqual([]);
    expect((await voice.get('/orgs')).body).toEqual([]);
    expect((await voice.get(`${place.org}/lambdas/${UNKNOWN_ID}`)).status).toBe(404);
    expect((await voice.get('/users/self')).status).toBe(200);
  });
  it('the creator of a resource, and of its ancestors', async () => {
    const { id, voice } = await user();
    await grant(root, place.org, 'workspace.create', id);
    const workspace = await voice.create(`${place.org}/workspaces`, { name: `ws-${id}` });
    const path = `${place.org}/workspaces/${workspace.id}`;
    expect(workspace.owner.id).toBe(id);
    const environment = await voice.create(`${path}/environments`, {
      name: 'e',
      properties: { environment_type: 'test' },
    });
    const byRoot = await makeLambda(`${place.org}/environments/${environment.id}`);
    expect((await voice.patch(`${place.org}/lambdas/${byRoot.id}`, [])).status).toBe(200);
    expect((await voice.get(`${place.org}/workspaces`)).body.map((one: Body) => one.id)).toEqual([workspace.id]);
    expect((await voice.delete(`${path}?force=true`)).status).toBe(204);
  });
  it('a creator keeps the right on the resource whatever the entitlement says', async () => {
    const { id, voice } = await user();
    await grant(root, place.environment, 'lambda.create', id);
    const lambda = await makeLambda(place.environment, voice);
    const path = `${place.org}/lambdas/${lambda.id}`;
    expect((await put(await entitlement(path, 'lambda.view'), [])).body.properties.identities).toEqual([]);
    expect((await voice.get(path)).status).toBe(200);
  });
  it('a member of a group that has the permission two organizations up', async () => {
    const { id, voice } = await user();
    const deep = await root.create('/righted', { name: 'one' });
    await root.create('/righted.one', { name: 'two' });
    const lambda = await root.create('/righted.one.two/lambdas', lambdaBody(place, 'deep'));
    const groupId = await group(place.org, id);
    await grant(root, place.org, 'lambda.view', groupId);
    expect((await voice.get(`/righted.one.two/lambdas/${lambda.id}`)).status).toBe(200);
    expect((await voice.get('/righted.one.two/lambdas')).body).toHaveLength(1);
    await root.delete(`${place.org}/groups/${groupId}/users?id=${id}`);
    expect((await voice.get(`/righted.one.two/lambdas/${lambda.id}`)).status).toBe(403);
    expect((await root.delete(`/righted/orgs/${deep.id}?force=true`)).status).toBe(204);
  });
  it('create is checked on the parent', async () => {
    const { id, voice } = await user();
    await grant(root, place.workspace, 'lambda.create', id);
    expect((await voice.post(`${place.environment}/lambdas`, lambdaBody(place, 'mine'))).status).toBe(201);
    expect((await voice.post(`${place.org}/lambdas`, lambdaBody(place, 'mine'))).status).toBe(403);
  });
  it('a container brings its inline volume only with the right to create one', async () => {
    const { id, voice } = await user();
    await grant(root, place.environment, 'container.create', id);
    const volume_resource = { name: `inline-${id}`, properties: { type: 'empty_dir' } };
    const body = containerBody(place, `c-${id}`, { volumes: [{ mount_path: '/v', volume_resource }] });
    expect(await voice.post(`${place.environment}/containers`, body)).toMatchObject(forbids('volume.create'));
    await grant(root, place.environment, 'volume.create', id);
    expect((await voice.post(`${place.environment}/containers`, body)).status).toBe(201);
  });
  it('scale, migrate and promote are rights of their own', async () => {
    const { id, voice } = await user();
    const container = await root.create(`${place.environment}/containers`, containerBody(place, `c-${id}`));
    const path = `${place.org}/containers/${container.id}`;
    await grant(root, place.environment, 'container.update', id);
    expect(await voice.post(`${path}/scale?numInstances=2`)).toMatchObject(forbids('container.scale'));
    await grant(root, path, 'container.scale', id);
    expect((await voice.post(`${path}/scale?numInstances=2`)).status).toBe(202);
    await grant(root, path, 'container.promote', id);
    expect(await voice.post(`${path}/promote?target=${place.environmentId}`)).toMatchObject(
      forbids('container.create'),
    );
  });
  it('entitlements have rights of their own', async () => {
    const { id, voice } = await user();
    const one = await entitlement(place.environment, 'lambda.view');
    expect((await voice.get(`${place.environment}/entitlements`)).body).toEqual([]);
    expect(await voice.get(at(one))).toMatchObject(forbids('entitlement.view'));
    expect(await put(one, [id], voice)).toMatchObject(forbids('entitlement.update'));
    expect(await voice.patch(at(one), [])).toMatchObject(forbids('entitlement.update'));
    expect(await voice.delete(at(one))).toMatchObject(forbids('entitlement.delete'));
    expect(await voice.post(`${place.environment}/entitlements`, {})).toMatchObject(forbids('entitlement.create'));
    await grant(root, place.environment, 'entitlement.view', id);
    expect((await voice.get(at(one))).status).toBe(200);
    expect((await voice.get(`${place.environment}/entitlements`)).body.length).toBeGreaterThan(10);
  });
});
