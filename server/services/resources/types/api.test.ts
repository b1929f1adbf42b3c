import { beforeAll, describe, expect, it } from 'vitest';
import { refusal, sharedPlatform, startPlatform } from '../../../testing/platform.ts';
import { createTenant, type Tenant, withEnvironment } from '../../../testing/tenant.ts';

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

const { root } = sharedPlatform();
let tenant: Tenant;
beforeAll(async () => {
  tenant = await createTenant(root, 'acme');
});

const post = (name: string, properties?: object, at = tenant) =>
  root.post(`${at.environment}/apis`, { name, ...(properties && { properties }) });

describe('an API (D-058)', () => {
  it('needs no provider, and shows none that was not sent', async () => {
    const { status, body } = await post('bare');
    expect(status).toBe(201);
    expect(body.resource_type).toBe('Platform::Resource::Api');
    expect(body.properties).toEqual({ parent: expect.objectContaining({ id: tenant.environmentId }) });
  });

  it('shows the provider as it was sent', async () => {
    const provider = { id: tenant.gateways, locations: [UNKNOWN_ID], more: true };
    expect((await post('full', { provider })).body.properties.provider).toEqual(provider);
    expect((await post('half', { provider: { locations: [] } })).body.properties.provider).toEqual({ locations: [] });
  });

  it('refuses a provider that is no gateway manager, known or not, with 404', async () => {
    expect(await post('refused', { provider: { id: UNKNOWN_ID } })).toMatchObject(refusal(404));
    expect(await post('refused', { provider: { id: tenant.docker } })).toMatchObject(refusal(404));
    expect(await post('refused', { provider: { id: tenant.environmentId } })).toMatchObject(refusal(404));
    expect(await post('refused', { provider: { id: 'x' } })).toMatchObject(refusal(400, '/properties/provider/id'));
    expect(await post('refused', { colour: 'red' })).toMatchObject(refusal(400, '/properties/colour'));
  });

  it('needs a gateway manager that serves the type of its environment (D-054)', async () => {
    const provider = await root.create('/acme/providers', {
      name: 'test-only',
      resource_type: 'Platform::Configuration::Provider::GatewayManager',
      properties: { environment_types: ['test'] },
    });
    expect(await post('fitting', { provider: { id: provider.id } })).toMatchObject(refusal(409));
    const test = await withEnvironment(root, tenant, 'test', 'fitting');
    const { status, body } = await post('fitting', { provider: { id: provider.id } }, test);
    expect(status).toBe(201);
    // One that no longer serves this type stays with the API (D-096).
    await root.patch(`/acme/providers/${provider.id}`, [
      { op: 'replace', path: '/properties/environment_types', value: ['production'] },
    ]);
    const change = [{ op: 'add', path: '/description', value: 'kept' }];
    expect((await root.patch(`/acme/apis/${body.id}`, change)).status).toBe(200);
  });

  it('is created in an environment: 422 in one that is unknown, no route elsewhere', async () => {
    const body = { name: 'stray' };
    expect(await root.post(`/acme/environments/${UNKNOWN_ID}/apis`, body)).toMatchObject(refusal(422));
    expect(await root.post(`/nowhere/environments/${tenant.environmentId}/apis`, body)).toMatchObject(refusal(404));
    expect(await root.post('/acme/environments/x/apis', body)).toMatchObject(refusal(400));
    expect(await root.post('/acme/apis', body)).toMatchObject(refusal(404));
    expect(await root.post(`${tenant.workspace}/apis`, body)).toMatchObject(refusal(404));
  });

  it('is created without any gateway manager at all', async () => {
    const alone = await startPlatform();
    try {
      const tenantAlone = await createTenant(alone.root, 'acme');
      for (const { id } of (await alone.root.get('/root/providers')).body) {
        await alone.root.delete(`/root/providers/${id}?force=true`);
      }
      const api = await alone.root.create(`${tenantAlone.environment}/apis`, { name: 'alone' });
      const lambda = { resource: '/x', implementation_type: 'lambda', implementation_id: UNKNOWN_ID };
      expect(
        await alone.root.post(`/acme/apis/${api.id}/apiendpoints`, { name: 'e', properties: lambda }),
      ).toMatchObject(refusal(400, '/properties/implementation_id'));
    } finally {
      await alone.stop();
    }
  });

  it('exported and posted elsewhere is the same but for its place', async () => {
    const { body: source } = await post('exported', { provider: { id: tenant.gateways, locations: ['x'] } });
    const production = await withEnvironment(root, tenant, 'production');
    const { id: _, ...exported } = (await root.get(`/acme/apis/${source.id}`)).body;
    const { body: copy } = await post('exported', exported.properties, production);
    expect(copy.properties).toMatchObject({ provider: source.properties.provider, parent: { name: 'production' } });
  });
});

describe('the name of an API (D-059)', () => {
  it.each(['-a', '.a', '_a', 'a b', 'a/b', 'é', 'a%20b', '..'])('cannot be %s', async (name) => {
    expect(await post(name)).toMatchObject(refusal(400, '/name'));
  });

  it.each(['a', '0', 'A.b_c-d', 'api', 'Results'])('can be %s', async (name) => {
    expect((await post(name)).status).toBe(201);
  });

  it('cannot be results, which is a path of the gateway', async () => {
    expect(await post('results')).toMatchObject(refusal(400, '/name'));
    const { body } = await post('renamed');
    const rename = (value: string) => root.patch(`/acme/apis/${body.id}`, [{ op: 'replace', path: '/name', value }]);
    expect(await rename('results')).toMatchObject(refusal(400, '/name'));
    expect(await rename('a b')).toMatchObject(refusal(400, '/name'));
    expect(await rename('renamed-once')).toMatchObject({ status: 200, body: { name: 'renamed-once' } });
  });

  it('is unique in its environment, and free in every other', async () => {
    expect((await post('twice')).status).toBe(201);
    expect(await post('twice')).toMatchObject(refusal(409));
    expect((await post('twice', undefined, await withEnvironment(root, tenant, 'test', 'names'))).status).toBe(201);
  });
});
