import { beforeAll, describe, expect, it } from 'vitest';
import { sharedPlatform } from '../../testing/platform.ts';
import { type Body, containerBody, createTenant, lambdaBody, type Tenant } from '../../testing/tenant.ts';

const { root } = sharedPlatform();
let tenant: Tenant;
beforeAll(async () => {
  tenant = await createTenant(root, 'replaced');
});

let createdCount = 0;
const create = (collection: string, properties: object, more: object = {}) =>
  root.create(`${tenant.environment}/${collection}`, { name: `one-${createdCount++}`, properties, ...more });
const makeContainer = (properties: object = {}, more: object = {}) =>
  create('containers', containerBody(tenant, '', properties).properties, more);
const makeSecret = (items: object[] = [{ key: 'k', value: 'v' }]) =>
  create('secrets', { provider: { id: tenant.docker }, items });
const makeVolume = (properties: object = {}) =>
  create('volumes', { type: 'empty_dir', provider: { id: tenant.docker }, ...properties });
const read = async (collection: string, { id }: Body): Promise<Body> =>
  (await root.get(`${tenant.org}/${collection}/${id}`)).body;
const put = (collection: string, { id }: Body, body: unknown) => root.put(`${tenant.org}/${collection}/${id}`, body);

describe('PUT of a container is a whole-record update (D-052)', () => {
  const web = { protocol: 'tcp', name: 'web', container_port: 80, expose_endpoint: true };

  it('putting back a read record changes nothing, including modified', async () => {
    const container = await makeContainer(
      { env: { A: '1' }, port_mappings: [web], cmd: 'run', health_checks: [{ protocol: 'TCP', port: 80 }] },
      { description: 'd', tags: ['t'], variables: { v: 'w' } },
    );
    const reply = await put('containers', container, container);
    expect(reply).toMatchObject({ status: 200, body: container });
    expect(await read('containers', container)).toEqual(container);
  });
  it('omitted optionals fall back to their defaults', async () => {
    const container = await makeContainer(
      { cpus: 2, env: { A: '1' }, labels: { l: '1' }, port_mappings: [web], cmd: 'run', num_instances: 3 },
      { description: 'd', tags: ['t'], variables: { v: 'w' } },
    );
    const reply = await put('containers', container, containerBody(tenant, container.name, { image: 'nginx:2' }));
    expect(reply.status).toBe(200);
    expect(reply.body.properties).toMatchObject({
      image: 'nginx:2',
      cpus: 1,
      env: {},
      labels: {},
      port_mappings: [],
      num_instances: 1,
    });
    expect(reply.body.properties).not.toHaveProperty('cmd');
    for (const member of ['description', 'tags', 'variables']) expect(reply.body).not.toHaveProperty(member);
    expect(reply.body).toMatchObject({ id: container.id, owner: container.owner, created: container.created });
    expect(reply.body.modified.action).toBe('update');
  });
  it('id, org, owner, created, modified, resource_type, resource_state and server properties are ignored', async () => {
    const container = await makeContainer();
    const reply = await put('containers', container, {
      ...container,
      id: 'no uuid',
      org: 'someone',
      owner: { id: 'other' },
      created: 1,
      modified: null,
      resource_type: 'Platform::Resource::Workspace',
      resource_state: 'Platform::Resource::State::Failed',
      properties: {
        ...container.properties,
        status: 'RUNNING',
        instances: [{}],
        parent: 'x',
        age: 1,
        tasks_running: 9,
      },
    });
    expect(reply).toMatchObject({ status: 200, body: container });
  });
  it('provider and external_id are kept as stored, sent or not', async () => {
    const container = await makeContainer();
    const { provider: _, ...withoutProvider } = container.properties;
    const other = { id: '00000000-0000-4000-8000-000000000000' };
    for (const properties of [
      withoutProvider,
      { ...withoutProvider, provider: other, external_id: '/elsewhere' },
      { ...withoutProvider, provider: 'nonsense' },
    ]) {
      const reply = await put('containers', container, { name: container.name, properties });
      expect(reply).toMatchObject({ status: 200, body: container });
    }
  });
  it('another name is 400', async () => {
    const container = await makeContainer();
    const reply = await put('containers', container, { ...container, name: 'other' });
    expect(reply).toMatchObject({ status: 400, body: { message: 'renaming containers is not supported' } });
    expect(reply.body.details[0].pointer).toBe('/name');
  });
  it('a missing name or image is 400', async () => {
    const container = await makeContainer();
    expect((await put('containers', container, { properties: container.properties })).status).toBe(400);
    const { image: _, ...properties } = container.properties;
    const reply = await put('containers', container, { ...container, properties });
    expect(reply).toMatchObject({ status: 400, body: { details: [{ pointer: '/properties/image' }] } });
  });
  it('clients scale by PUT', async () => {
    const container = await makeContainer();
    const properties = { ...container.properties, num_instances: 4 };
    const reply = await put('containers', container, { ...container, properties });
    expect(reply.body.properties.num_instances).toBe(4);
    const tooMany = { ...container.properties, num_instances: 17 };
    expect((await put('containers', container, { ...container, properties: tooMany })).status).toBe(400);
  });
  it('an inline volume in a PUT or PATCH is created once', async () => {
    const container = await makeContainer();
    const inline = (name: string) => ({
      mount_path: `/${name}`,
      volume_resource: { name, properties: { type: 'empty_dir', provider: { id: tenant.docker } } },
    });
    const properties = { ...container.properties, volumes: [inline('by-put')] };
    const first = await put('containers', container, { ...container, properties });
    expect(first.body.properties.volumes).toEqual([{ mount_path: '/by-put', volume_id: expect.any(String) }]);
    const again = await put('containers', container, first.body);
    expect(again.body).toEqual(first.body);
    const patched = await root.patch(`${tenant.org}/containers/${container.id}`, [
      { op: 'add', path: '/properties/volumes/-', value: inline('by-patch') },
    ]);
    expect(patched.body.properties.volumes).toHaveLength(2);
    const names = (await root.get(`${tenant.environment}/volumes`)).body.map((volume: Body) => volume.name);
    expect(names.filter((name: string) => name.startsWith('by-'))).toEqual(['by-put', 'by-patch']);
    const conflict = await root.patch(`${tenant.org}/containers/${container.id}`, [
      { op: 'add', path: '/properties/volumes/-', value: { ...inline('by-put'), mount_path: '/other' } },
    ]);
    expect(conflict.status).toBe(409);
    expect((await read('containers', container)).properties.volumes).toHaveLength(2);
  });
});

describe('PUT of others (D-099)', () => {
  it('a secret keeps the value of an item that has none (D-078)', async () => {
    const secret = await makeSecret([
      { key: 'a', value: '1' },
      { key: 'b', value: '2' },
    ]);
    expect(secret.properties.items).toEqual([{ key: 'a' }, { key: 'b' }]);
    expect(await put('secrets', secret, secret)).toMatchObject({ status: 200, body: secret });
    const changed = { ...secret, properties: { items: [{ key: 'a' }, { key: 'c', value: '3' }] } };
    const reply = await put('secrets', secret, changed);
    expect(reply.body.properties).toMatchObject({
      items: [{ key: 'a' }, { key: 'c' }],
      provider: { id: tenant.docker },
    });
    const unknown = { ...secret, properties: { items: [{ key: 'b' }] } };
    expect((await put('secrets', secret, unknown)).status).toBe(400);
    expect((await put('secrets', secret, { ...secret, name: 'other' })).body.message).toBe(
      'renaming secrets is not supported',
    );
  });
  it('a volume keeps provider and external_id; its optionals fall away', async () => {
    const volume = await makeVolume({ external_id: 'kept', size: 5, access_mode: 'ReadWriteOnce' });
    expect(await put('volumes', volume, volume)).toMatchObject({ status: 200, body: volume });
    const reply = await put('volumes', volume, {
      name: volume.name,
      properties: { type: 'persistent', external_id: 'other' },
    });
    expect(reply.body.properties).toMatchObject({
      type: 'persistent',
      external_id: 'kept',
      provider: { id: tenant.docker },
    });
    expect(reply.body.properties).not.toHaveProperty('size');
    expect((await put('volumes', volume, { ...volume, name: 'other' })).status).toBe(400);
  });
  it('a job is put like a container (D-213)', async () => {
    const job = await create('jobs', containerBody(tenant, '').properties);
    expect(await put('jobs', job, job)).toMatchObject({ status: 200, body: job });
  });
  it('works in the second-level form', async () => {
    const volume = await makeVolume();
    const changed = { ...volume, description: 'new' };
    const reply = await root.put(`${tenant.environment}/volumes/${volume.id}`, changed);
    expect(reply).toMatchObject({ status: 200, body: { id: volume.id, description: 'new' } });
    expect((await root.put(`${tenant.workspace}/volumes/${volume.id}`, changed)).status).toBe(404);
  });
  it('another type has no such route', async () => {
    const lambda = await root.create(`${tenant.environment}/lambdas`, lambdaBody(tenant, 'unput'));
    for (const path of [tenant.org, tenant.workspace, tenant.environment, `${tenant.org}/lambdas/${lambda.id}`]) {
      const reply = await root.put(path, {});
      expect(reply).toMatchObject({ status: 404, body: { message: expect.stringMatching(/^no route: PUT /) } });
    }
  });
  it('a body that is no record is 400', async () => {
    const volume = await makeVolume();
    for (const body of [undefined, [], 'text', null]) {
      const reply = await root.send('PUT', `${tenant.org}/volumes/${volume.id}`, {
        body: JSON.stringify(body),
        headers: { 'Content-Type': 'application/json' },
      });
      expect(reply.status).toBe(400);
    }
  });
});

describe('POST F/containers/{id}/scale (D-053)', () => {
  it('answers 202 with the record', async () => {
    const container = await makeContainer();
    const reply = await root.post(`${tenant.org}/containers/${container.id}/scale?numInstances=0`);
    expect(reply).toMatchObject({ status: 202, body: { id: container.id, properties: { num_instances: 0 } } });
    expect(reply.body.properties.status).toBe('SUSPENDED');
  });
  it.each(['', '?numInstances=', '?numInstances=-1', '?numInstances=17', '?numInstances=1.5', '?numInstances=x'])(
    'scale%s is 400',
    async (query) => {
      const container = await makeContainer();
      const reply = await root.post(`${tenant.org}/containers/${container.id}/scale${query}`);
      expect(reply.status).toBe(400);
      expect(await read('containers', container)).toEqual(container);
    },
  );
  it('scaling to the present number changes nothing, including modified', async () => {
    const container = await makeContainer();
    const reply = await root.post(`${tenant.org}/containers/${container.id}/scale?numInstances=1`);
    expect(reply).toMatchObject({ status: 202, body: container });
  });
  it('unknown containers are 404, and so are jobs and lambdas', async () => {
    const anonymous = '00000000-0000-4000-8000-000000000000';
    const job = await create('jobs', containerBody(tenant, '').properties);
    for (const path of [`containers/${anonymous}`, `jobs/${job.id}`, `containers/${job.id}`]) {
      expect((await root.post(`${tenant.org}/${path}/scale?numInstances=2`)).status).toBe(404);
    }
  });
});
