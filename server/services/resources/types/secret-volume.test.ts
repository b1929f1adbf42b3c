import { compare } from 'fast-json-patch';
import { beforeAll, describe, expect, it } from 'vitest';
import { send } from '../../../testing/checked-client.ts';
import { refusal, sharedPlatform } from '../../../testing/platform.ts';
import {
  type Body,
  containerBody,
  createTenant,
  lambdaBody,
  type Tenant,
  withEnvironment,
} from '../../../testing/tenant.ts';

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

const platform = sharedPlatform({ allowedHostPaths: ['/srv/data'] });
const { root } = platform;
let tenant: Tenant;
beforeAll(async () => {
  tenant = await createTenant(root, 'acme');
});

let createdCount = 0;
const fresh = () => `one-${createdCount++}`;
const provider = () => ({ provider: { id: tenant.docker } });
const items = [
  { key: 'user', value: 'Ym9i' },
  { key: 'pass', value: 'plain text' },
];
const createSecret = (properties: object = {}, name = fresh()): Promise<Body> =>
  root.create(`${tenant.environment}/secrets`, { name, properties: { ...provider(), items, ...properties } });
const postSecret = (properties: object, name = fresh()) =>
  root.post(`${tenant.environment}/secrets`, { name, properties: { ...provider(), items, ...properties } });
const createVolume = (properties: object = {}, name = fresh()): Promise<Body> =>
  root.create(`${tenant.environment}/volumes`, {
    name,
    properties: { type: 'persistent', ...provider(), ...properties },
  });
const postVolume = (properties: object, name = fresh()) =>
  root.post(`${tenant.environment}/volumes`, {
    name,
    properties: { type: 'persistent', ...provider(), ...properties },
  });
const createContainer = (properties: object): Promise<Body> =>
  root.create(`${tenant.environment}/containers`, containerBody(tenant, fresh(), properties));
const keysOf = (secret: Body) => secret.properties.items.map((item: Body) => item.key);

/** Resolves to the value that a lambda sees that mounts an item of the secret. */
const seenValue = async (secret: Body, secret_key: string): Promise<string> => {
  const code = 'exports.run = async (event) => process.env.SEEN;';
  const secrets = [{ mount_type: 'env', path: 'SEEN', secret_id: secret.id, secret_key }];
  const lambda = await root.create(`${tenant.environment}/lambdas`, lambdaBody(tenant, fresh(), { code, secrets }));
  const api = await root.create(`${tenant.environment}/apis`, { name: fresh() });
  const { properties } = await root.create(`/acme/apis/${api.id}/apiendpoints`, {
    name: 'seen',
    properties: { resource: '/seen', implementation_type: 'lambda', implementation_id: lambda.id },
  });
  return (await send('GET', properties.public_url)).body;
};

describe('a secret (D-078)', () => {
  it('shows the keys of its items and never a value, whichever way it is read', async () => {
    const secret = await createSecret({}, 'hushed');
    expect(secret.resource_type).toBe('Platform::Resource::Secret');
    expect(secret.properties).toEqual({
      ...provider(),
      items: [{ key: 'user' }, { key: 'pass' }],
      parent: expect.objectContaining({ id: tenant.environmentId }),
    });
    const replies = await Promise.all([
      root.get(`/acme/secrets/${secret.id}`),
      root.get('/acme/secrets?expand=true'),
      root.get(`${tenant.environment}/secrets?compact=true`),
      root.get('/acme/resourcetypes/98d8a6d6-e3db-488f-b32d-8b00b3fce472/resources?expand=true'),
      root.patch(`/acme/secrets/${secret.id}`, [{ op: 'add', path: '/description', value: 'x' }]),
    ]);
    for (const { status, body } of replies) {
      expect(status).toBe(200);
      expect(JSON.stringify(body)).toContain('"pass"');
      expect(JSON.stringify(body)).not.toMatch(/Ym9i|plain text/);
    }
  });

  it.each([
    [400, '/properties/provider', { provider: undefined }],
    [400, '/properties/provider/id', { provider: {} }],
    [404, undefined, { provider: { id: UNKNOWN_ID } }],
    [400, '/properties/items', { items: undefined }],
    [400, '/properties/items/0/key', { items: [{ value: 'x' }] }],
    [400, '/properties/items/0/value', { items: [{ key: 'x' }] }],
    [400, '/properties/items/0/value', { items: [{ key: 'x', value: 1 }] }],
    [400, '/properties/items/1/key', { items: ['1', '2'].map((value) => ({ key: 'x', value })) }],
    [400, '/properties/colour', { colour: 'red' }],
  ])('is refused with %i at %s: %j', async (status, pointer, properties) => {
    expect(await postSecret(properties)).toMatchObject(refusal(status, pointer));
  });

  it('is put back as it was read, without values, and is not touched', async () => {
    const secret = await createSecret();
    const path = `/acme/secrets/${secret.id}`;
    expect(await root.put(path, (await root.get(path)).body)).toMatchObject({ status: 200, body: secret });
    expect((await root.get(path)).body).toEqual(secret);
  });

  it('keeps by PUT the values of items that come without one, and forgets items that do not come', async () => {
    const secret = await createSecret();
    const path = `/acme/secrets/${secret.id}`;
    const put = (list: object[]) => root.put(path, { ...secret, properties: { ...secret.properties, items: list } });
    expect(keysOf((await put([{ key: 'pass' }, { key: 'more', value: 'eA==' }])).body)).toEqual(['pass', 'more']);
    expect(await put([{ key: 'user' }])).toMatchObject(refusal(400, '/properties/items/0/value'));
    expect(keysOf((await root.get(path)).body)).toEqual(['pass', 'more']);
  });

  it('takes a patch of its items, which can be written but not read', async () => {
    const secret = await createSecret();
    const patch = (...operations: object[]) => root.patch(`/acme/secrets/${secret.id}`, operations);
    const added = await patch({ op: 'add', path: '/properties/items/-', value: { key: 'third', value: 'x' } });
    expect(keysOf(added.body)).toEqual(['user', 'pass', 'third']);
    const removed = await patch({ op: 'remove', path: '/properties/items/0' });
    expect(keysOf(removed.body)).toEqual(['pass', 'third']);
    const test = { op: 'test', path: '/properties/items/0/value', value: 'plain text' };
    expect(await patch(test)).toMatchObject(refusal(422, test.path));
    const copy = { op: 'copy', from: '/properties/items/0/value', path: '/description' };
    expect(await patch(copy)).toMatchObject(refusal(422));
  });

  it('keeps each value under its key when records are compared by position', async () => {
    const secret = await createSecret();
    const target = structuredClone(secret);
    target.properties.items.shift();
    const reply = await root.patch(`/acme/secrets/${secret.id}`, compare(secret, target));
    expect(keysOf(reply.body)).toEqual(['pass']);
    expect(await seenValue(secret, 'pass')).toBe('plain text');
    const replace = { op: 'replace', path: '/properties/items/0/value', value: 'new' };
    expect((await root.patch(`/acme/secrets/${secret.id}`, [replace])).status).toBe(200);
    expect(await seenValue(secret, 'pass')).toBe('new');
    const unknown = { op: 'replace', path: '/properties/items/1/value', value: 'new' };
    expect(await root.patch(`/acme/secrets/${secret.id}`, [unknown])).toMatchObject(refusal(422, unknown.path));
  });

  it('cannot be posted again as it was exported: the values are missing', async () => {
    const { id: _, ...exported } = await createSecret();
    const elsewhere = await withEnvironment(root, tenant, 'test', 'secrets');
    const reply = await root.post(`${elsewhere.environment}/secrets`, exported);
    expect(reply).toMatchObject(refusal(400, '/properties/items/0/value'));
  });
});

describe('a volume (D-079)', () => {
  it('returns the value as sent', async () => {
    const writtenProperties = {
      type: 'external',
      provider: { id: tenant.docker, locations: [] },
      config: { any: { thing: null } },
      size: 10,
      access_mode: 'ReadOnlyMany',
      reclamation_policy: 'Delete',
      external_id: 'vol-1',
      mount_path: '/data',
    };
    const volume = await createVolume(writtenProperties);
    expect(volume.resource_type).toBe('Platform::Resource::Volume');
    expect(volume.properties).toEqual({
      ...writtenProperties,
      parent: expect.objectContaining({ id: tenant.environmentId }),
    });
    expect((await root.get(`/acme/volumes/${volume.id}`)).body).toEqual(volume);
  });

  it.each(['persistent', 'external', 'dynamic', 'empty_dir'])('can be of type %s', async (type) => {
    expect((await createVolume({ type })).properties.type).toBe(type);
  });

  it('can be a folder of this machine that the configuration allows', async () => {
    for (const host_path of ['/srv/data', '/srv/data/', '/srv/data/a//b']) {
      const config = { host_path };
      expect((await createVolume({ type: 'host_path', config })).properties.config).toEqual(config);
    }
    const otherPaths = ['/etc', '/srv', '/', '/srv/database', 'srv/data/a', '/srv/data/../../etc', ''];
    for (const bad of [...otherPaths.map((host_path) => ({ host_path })), {}, undefined]) {
      expect(await postVolume({ type: 'host_path', config: bad }), JSON.stringify(bad)).toMatchObject(
        refusal(400, '/properties/config/host_path'),
      );
    }
    const volume_resource = { name: fresh(), properties: { type: 'host_path', config: { host_path: '/etc' } } };
    const inline = containerBody(tenant, fresh(), { volumes: [{ mount_path: '/x', volume_resource }] });
    expect(await root.post(`${tenant.environment}/containers`, inline)).toMatchObject(refusal(400));
    const volume = await createVolume();
    expect(
      await root.patch(`/acme/volumes/${volume.id}`, [
        { op: 'replace', path: '/properties/type', value: 'host_path' },
        { op: 'add', path: '/properties/config', value: { host_path: '/' } },
      ]),
    ).toMatchObject(refusal(400, '/properties/config/host_path'));
  });

  it.each([
    [400, '/properties/type', { type: undefined }],
    [400, '/properties/type', { type: 'Persistent' }],
    [400, '/properties/provider', { provider: undefined }],
    [404, undefined, { provider: { id: UNKNOWN_ID } }],
    [400, '/properties/size', { size: 0.5 }],
    [400, '/properties/size', { size: '10' }],
    [400, '/properties/config', { config: 'x' }],
    [400, '/properties/access_mode', { access_mode: 'ReadWrite' }],
    [400, '/properties/colour', { colour: 'red' }],
  ])('is refused with %i at %s: %j', async (status, pointer, properties) => {
    expect(await postVolume(properties)).toMatchObject(refusal(status, pointer));
  });

  it('links the container while it is mounted, and embeds it on demand', async () => {
    const volume = await createVolume({ container: 'ignored' });
    const path = `/acme/volumes/${volume.id}`;
    expect(volume.properties).not.toHaveProperty('container');
    const container = await createContainer({ volumes: [{ mount_path: '/v', volume_id: volume.id }] });
    const mounted = (await root.get(path)).body;
    expect(mounted.properties.container).toEqual({
      typeId: '28cbf0e0-2c48-4589-85d5-df97a3a1f318',
      id: container.id,
      name: container.name,
      href: `${platform.emulator.metaUrl}/acme/containers/${container.id}`,
    });
    expect(await root.put(path, mounted)).toMatchObject({ status: 200, body: mounted });
    const embedded = (await root.get(`${path}?embed=container`)).body;
    expect(embedded.properties.container).toEqual((await root.get(`/acme/containers/${container.id}`)).body);
    expect(await root.get(`${path}?embed=provider`)).toMatchObject(refusal(400));
    await root.delete(`/acme/containers/${container.id}`);
    expect((await root.get(path)).body.properties).not.toHaveProperty('container');
    expect((await root.get(`${path}?embed=container`)).body.properties).not.toHaveProperty('container');
  });

  it('exported and posted elsewhere is the same but for its place', async () => {
    const source = await createVolume({ size: 5, config: { a: 1 } });
    const elsewhere = await withEnvironment(root, tenant, 'test', 'volumes');
    const { id: _, ...exported } = (await root.get(`/acme/volumes/${source.id}`)).body;
    const copy = await root.create(`${elsewhere.environment}/volumes`, exported);
    expect({ ...copy.properties, parent: 0 }).toEqual({ ...source.properties, parent: 0 });
  });

  it('is replaced as a whole by PUT', async () => {
    const volume = await createVolume({ size: 5, mount_path: '/x' });
    const body = { name: volume.name, properties: { type: 'persistent' } };
    const { status, body: after } = await root.put(`/acme/volumes/${volume.id}`, body);
    expect(status).toBe(200);
    expect(after.properties).toEqual({ type: 'persistent', ...provider(), parent: expect.anything() });
  });
});

describe('secrets and volumes alike', () => {
  const collections = [
    ['secrets', () => ({ ...provider(), items: [] })],
    ['volumes', () => ({ ...provider(), type: 'empty_dir' })],
  ] as const;

  it.each(collections)('%s have DNS-style names, unique in their environment', async (collection, properties) => {
    const post = (name: string) => root.post(`${tenant.environment}/${collection}`, { name, properties: properties() });
    for (const name of ['Upper', 'a_b', '-a', 'a-', 'a.b', 'a'.repeat(64)]) {
      expect(await post(name), name).toMatchObject(refusal(400, '/name'));
    }
    expect((await post('a'.repeat(63))).status).toBe(201);
    expect(await post('a'.repeat(63))).toMatchObject(refusal(409));
  });

  it.each(collections)('%s are created in an environment only', async (collection, properties) => {
    const body = { name: 'stray', properties: properties() };
    expect(await root.post(`/acme/${collection}`, body)).toMatchObject(refusal(404));
    expect(await root.post(`${tenant.workspace}/${collection}`, body)).toMatchObject(refusal(404));
    expect(await root.post(`/acme/environments/${UNKNOWN_ID}/${collection}`, body)).toMatchObject(refusal(404));
  });

  it.each(collections)('%s keep their name by PUT, and may be renamed by PATCH', async (collection, properties) => {
    const record = await root.create(`${tenant.environment}/${collection}`, {
      name: fresh(),
      properties: properties(),
    });
    const path = `${tenant.environment}/${collection}/${record.id}`;
    expect(await root.put(path, { ...record, name: 'other' })).toMatchObject(refusal(400, '/name'));
    expect(await root.patch(path, [{ op: 'replace', path: '/name', value: 'Not DNS' }])).toMatchObject(
      refusal(400, '/name'),
    );
    const renamed = fresh();
    expect(await root.patch(path, [{ op: 'replace', path: '/name', value: renamed }])).toMatchObject({
      status: 200,
      body: { name: renamed },
    });
  });

  it('in use cannot be deleted without force; with force the mount is removed', async () => {
    const [secret, volume] = [await createSecret(), await createVolume()];
    const mount = { mount_type: 'env', secret_id: secret.id, secret_key: 'user', path: 'USER' };
    const container = await createContainer({
      secrets: [mount, { mount_type: 'directory', secret_id: secret.id, path: '/s' }],
      volumes: [{ mount_path: '/v', volume_id: volume.id }],
    });
    const lambda = await root.create(
      `${tenant.environment}/lambdas`,
      lambdaBody(tenant, 'mounting', { secrets: [{ ...mount, mount_type: 'file', path: '/s' }] }),
    );
    for (const path of [`/acme/secrets/${secret.id}`, `/acme/volumes/${volume.id}`]) {
      expect(await root.delete(path)).toMatchObject(refusal(409));
      expect((await root.delete(`${path}?force=true`)).status).toBe(204);
      expect(await root.get(path)).toMatchObject(refusal(404));
    }
    const containerReply = await root.get(`/acme/containers/${container.id}`);
    expect(containerReply).toMatchObject({ status: 200, body: { properties: { secrets: [], volumes: [] } } });
    expect((await root.get(`/acme/lambdas/${lambda.id}`)).body.properties.secrets).toEqual([]);
  });
});
