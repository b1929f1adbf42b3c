import { beforeAll, describe, expect, it } from 'vitest';
import { refusal, sharedPlatform } from '../../../testing/platform.ts';
import { containerBody, createTenant, type Tenant, withEnvironment } from '../../../testing/tenant.ts';

const web = { protocol: 'tcp', name: 'web', container_port: 80, expose_endpoint: true };

const { root } = sharedPlatform();
let tenant: Tenant;
beforeAll(async () => {
  tenant = await createTenant(root, 'acme');
});

const create = (name: string, properties: object = {}) =>
  root.create(`${tenant.environment}/jobs`, containerBody(tenant, name, properties));

describe('a job (D-213)', () => {
  it('has the properties of a container, defaults included, and its own type', async () => {
    const job = await create('same');
    const container = await root.create(`${tenant.environment}/containers`, containerBody(tenant, 'same'));
    expect(job.resource_type).toBe('Platform::Resource::Job');
    const { age: _age, external_id: _id, ...jobProperties } = job.properties;
    const { age: _otherAge, external_id: _otherId, ...expected } = container.properties;
    expect(jobProperties).toEqual(expected);
    expect(job.properties.status).toEqual(expect.any(String));
  });

  it('has no service address, though a port is exposed', async () => {
    const { properties } = await create('portless', { port_mappings: [web] });
    expect(properties.port_mappings[0]).not.toHaveProperty('service_address');
  });

  it('is no target of an endpoint', async () => {
    const job = await create('target', { port_mappings: [web] });
    const api = await root.create(`${tenant.environment}/apis`, { name: 'jobs' });
    const properties = { resource: '/', implementation_type: 'container', container_port_name: 'web' };
    const endpoint = { name: 'e', properties: { ...properties, implementation_id: job.id } };
    expect(await root.post(`/acme/apis/${api.id}/apiendpoints`, endpoint)).toMatchObject(
      refusal(400, '/properties/implementation_id'),
    );
  });

  it('is put back as it was read without being touched, keeps its name, and falls back to defaults', async () => {
    const job = await create('put', { env: { A: '1' } });
    const path = `/acme/jobs/${job.id}`;
    expect(await root.put(path, (await root.get(path)).body)).toMatchObject({ status: 200, body: job });
    expect(await root.put(path, { ...job, name: 'other' })).toMatchObject(refusal(400, '/name'));
    const { body } = await root.put(path, containerBody(tenant, 'put'));
    expect(body.properties.env).toEqual({});
  });

  it('is patched and deleted', async () => {
    const { id } = await create('gone');
    const path = `${tenant.environment}/jobs/${id}`;
    const patch = [{ op: 'replace', path: '/properties/image', value: 'busybox:1' }];
    expect(await root.patch(path, patch)).toMatchObject({ status: 200, body: { properties: { image: 'busybox:1' } } });
    expect((await root.delete(path)).status).toBe(204);
    expect(await root.get(path)).toMatchObject(refusal(404));
  });

  it('is neither scaled nor moved', async () => {
    const { id } = await create('still');
    const production = await withEnvironment(root, tenant, 'production');
    for (const action of [
      'scale?numInstances=2',
      `migrate?provider=${tenant.docker}`,
      `promote?target=${production.environmentId}`,
    ]) {
      expect(await root.post(`/acme/jobs/${id}/${action}`), action).toMatchObject(refusal(404));
    }
  });

  it('may have the name of a container, but not of another job', async () => {
    await root.create(`${tenant.environment}/containers`, containerBody(tenant, 'shared-name'));
    await create('shared-name');
    expect(await root.post(`${tenant.environment}/jobs`, containerBody(tenant, 'shared-name'))).toMatchObject(
      refusal(409),
    );
    expect(await root.post(`${tenant.environment}/jobs`, containerBody(tenant, 'Not_DNS'))).toMatchObject(
      refusal(400, '/name'),
    );
  });

  it('keeps its provider from being deleted, as every workload does', async () => {
    const { id } = await root.create('/acme/providers', {
      name: 'engine',
      resource_type: 'Platform::Configuration::Provider::CaaS::Docker',
    });
    const job = await create('holding', { provider: { id } });
    expect((await root.get(`/acme/providers/${id}/containers`)).body).toEqual([]);
    const reply = await root.delete(`/acme/providers/${id}`);
    expect(reply).toMatchObject(refusal(409));
    expect(reply.body.message).toContain('1 job');
    expect(await root.delete(`/acme/providers/${id}?deleteContainers=true`)).toMatchObject(refusal(409));
    expect((await root.delete(`/acme/providers/${id}?force=true`)).status).toBe(204);
    expect(await root.get(`/acme/jobs/${job.id}`)).toMatchObject(refusal(404));
  });

  it('is created in an environment only', async () => {
    expect(await root.post('/acme/jobs', containerBody(tenant, 'stray'))).toMatchObject(refusal(404));
    expect(await root.post(`${tenant.workspace}/jobs`, containerBody(tenant, 'stray'))).toMatchObject(refusal(404));
  });
});
