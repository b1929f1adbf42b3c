import { beforeAll, describe, expect, it } from 'vitest';
import { refusal, sharedPlatform } from '../../../testing/platform.ts';
import { containersOf, web } from '../../../testing/sample-container.ts';
import { createTenant, type Tenant, withEnvironment } from '../../../testing/tenant.ts';

const { root } = sharedPlatform();
let tenant: Tenant;
/** Path of the list in which containers are created. */
let containers: string;
beforeAll(async () => {
  tenant = await createTenant(root, 'acme');
  containers = `${tenant.environment}/containers`;
});

const { create } = containersOf(() => ({ root, tenant }));

describe('PUT and PATCH (D-052)', () => {
  it('takes a record back as it was read, in either form of the path, and touches nothing', async () => {
    const container = await create('round', {
      env: { A: '1' },
      port_mappings: [web],
      health_checks: [{ protocol: 'TCP' }],
      volumes: [{ mount_path: '/v', volume_resource: { name: 'round', properties: { type: 'persistent' } } }],
    });
    for (const path of [`/acme/containers/${container.id}`, `${containers}/${container.id}`]) {
      const { body: read } = await root.get(path);
      expect(await root.put(path, read)).toMatchObject({ status: 200, body: container });
      expect(await root.patch(path, [])).toMatchObject({ status: 200, body: container });
    }
  });

  it('rejects what a create would reject, and changes nothing', async () => {
    const container = await create('strict');
    const path = `/acme/containers/${container.id}`;
    const put = await root.put(path, { ...container, properties: { ...container.properties, memory: 1 } });
    expect(put).toMatchObject(refusal(400, '/properties/memory'));
    const patch = await root.patch(path, [{ op: 'remove', path: '/properties/image' }]);
    expect(patch).toMatchObject(refusal(400, '/properties/image'));
    expect((await root.get(path)).body).toEqual(container);
  });

  it('lets an exported record be posted into another environment, where it is the same but for its place', async () => {
    const source = await create('exported', { env: { A: '1' }, port_mappings: [web], num_instances: 3 });
    const other = await withEnvironment(root, tenant, 'test', 'import');
    const { id: _, ...exported } = (await root.get(`/acme/containers/${source.id}`)).body;
    const copy = await create('exported', exported.properties, `${other.environment}/containers`);
    const placeless = ({ properties }: { properties: object }) =>
      JSON.parse(
        JSON.stringify({ ...properties, parent: 0, age: 0 }).replaceAll(tenant.environmentId, other.environmentId),
      );
    expect(placeless(copy)).toEqual(placeless(source));
  });
});

describe('scale (D-053)', () => {
  it('is accepted with the full record', async () => {
    const container = await create('scaled');
    const reply = await root.post(`/acme/containers/${container.id}/scale?numInstances=3`);
    expect(reply).toMatchObject({ status: 202, body: { id: container.id, properties: { num_instances: 3 } } });
    const none = await root.post(`/acme/containers/${container.id}/scale?numInstances=0`);
    expect(none).toMatchObject({ status: 202, body: { properties: { num_instances: 0, status: 'SUSPENDED' } } });
  });

  it.each(['', '?numInstances=', '?numInstances=-1', '?numInstances=17', '?numInstances=1.5', '?numInstances=x'])(
    'refuses %s',
    async (query) => {
      const { id } = await create(`scaled-${query.replace(/[^0-9a-z]/g, '')}0${query.length}`);
      expect(await root.post(`/acme/containers/${id}/scale${query}`)).toMatchObject(refusal(400));
      expect((await root.get(`/acme/containers/${id}`)).body.properties.num_instances).toBe(1);
    },
  );
});

describe('without an engine (D-050)', () => {
  it('stores, changes and deletes all the same, and says LOST and why', async () => {
    const container = await create('engineless');
    const lost = { status: 'LOST', status_detail: { reason: expect.any(String) }, tasks_running: 0 };
    expect(container).toMatchObject({ resource_state: 'Platform::Resource::State::Active', properties: lost });
    const path = `/acme/containers/${container.id}`;
    const patched = await root.patch(path, [{ op: 'replace', path: '/properties/image', value: 'nginx:2' }]);
    expect(patched).toMatchObject({ status: 200, body: { properties: lost } });
    expect((await root.delete(path)).status).toBe(204);
    expect(await root.get(path)).toMatchObject(refusal(404));
    expect(await root.delete(path)).toMatchObject(refusal(404));
  });

  it('cannot promote a container: 503 with Retry-After, and nothing is changed', async () => {
    const container = await create('unmoved');
    const target = await withEnvironment(root, tenant, 'production');
    const path = `/acme/containers/${container.id}`;
    const reply = await root.post(`${path}/promote?target=${target.environmentId}`);
    expect(reply).toMatchObject(refusal(503));
    expect(reply.headers.get('retry-after')).toBe('5');
    expect((await root.get(path)).body).toEqual(container);
    expect((await root.get(`${target.environment}/containers`)).body).toEqual([]);
  });
});
