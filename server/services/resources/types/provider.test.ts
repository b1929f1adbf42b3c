import { beforeAll, describe, expect, it } from 'vitest';
import { refusal, sharedPlatform } from '../../../testing/platform.ts';
import { KONG, PROVIDER, providersOf } from '../../../testing/sample-provider.ts';
import { createTenant, type Tenant, withEnvironment } from '../../../testing/tenant.ts';

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';
const LOGGING = `${PROVIDER}::Logging`;
const LOGGING_ID = 'e1782fef-4b7c-4f75-b8b8-6e6e2ecd82b2';

const platform = sharedPlatform();
const { root } = platform;
let tenant: Tenant;
beforeAll(async () => {
  tenant = await createTenant(root, 'acme');
});

const { bodyOf, create, pathOf, read, patch } = providersOf(() => root);

describe('the properties of a provider (D-063)', () => {
  it('gives back whatever it is sent, known or not, nulls within included (D-033)', async () => {
    const properties = {
      config: {
        env: { public: { A: '1' }, private: { B: '2' }, more: {} },
        networks: [{ name: 'default', id: 1 }],
        external_protocol: 'https',
        auth: { scheme: 'Basic' },
        anything: [null, { deep: null }],
      },
      environment_types: ['test', 'production'],
      linked_providers: [],
      services: [
        {
          init: { binding: 'eager', singleton: true },
          container_spec: { name: 'kong', properties: { provider: { id: UNKNOWN_ID } } },
        },
      ],
      environments: [UNKNOWN_ID],
      locations: [{ name: 'here', enabled: true }],
      data: 'text',
      schema: { any: 'thing' },
      colour: { of: 'mine' },
    };
    const provider = await create(properties);
    const { parent, ...visibleProperties } = provider.properties;
    expect(visibleProperties).toEqual(properties);
    expect(parent).toMatchObject({ name: 'acme' });
    expect(await read(provider)).toEqual(provider);
  });

  it.each([
    ['/properties/environment_types/0', { environment_types: ['staging'] }],
    ['/properties/environment_types/0', { environment_types: ['system'] }],
    ['/properties/environment_types', { environment_types: 'test' }],
    ['/properties/config', { config: 'x' }],
    ['/properties/config/env/public/A', { config: { env: { public: { A: 1 } } } }],
    ['/properties/linked_providers/0/id', { linked_providers: [{ name: 'x' }] }],
    ['/properties/services', { services: {} }],
    ['/properties/data', { data: 1 }],
  ])('refuses at %s: %j', async (pointer, properties) => {
    expect(await root.post('/acme/providers', bodyOf(properties))).toMatchObject(refusal(400, pointer));
  });

  it('fills in name, type and typeId of linked providers, and keeps the rest of a link', async () => {
    const logs = await create({}, { name: 'logs', resource_type: LOGGING });
    const wrong = { type: 'Other::Thing', typeId: UNKNOWN_ID };
    const provider = await create({ linked_providers: [{ id: logs.id, location: 'here', ...wrong }] });
    expect(provider.properties.linked_providers).toEqual([
      { id: logs.id, location: 'here', name: 'logs', type: LOGGING, typeId: LOGGING_ID },
    ]);
    const cleared = await patch(provider, { op: 'replace', path: '/properties/linked_providers', value: [] });
    expect(cleared.body.properties.linked_providers).toEqual([]);
  });

  it('rejects a link to a resource other than a provider with 422, on create and patch', async () => {
    for (const id of [UNKNOWN_ID, tenant.environmentId]) {
      const pointer = '/properties/linked_providers/0/id';
      expect(await root.post('/acme/providers', bodyOf({ linked_providers: [{ id }] }))).toMatchObject(
        refusal(422, pointer),
      );
      const provider = await create();
      const path = '/properties/linked_providers';
      expect(await patch(provider, { op: 'add', path, value: [{ id }] })).toMatchObject(refusal(422, pointer));
      expect(await read(provider)).toEqual(provider);
    }
  });

  it('lets replace create where the platform does (D-095)', async () => {
    const provider = await create();
    const { status, body } = await patch(
      provider,
      { op: 'replace', path: '/name', value: `${provider.name}-renamed` },
      { op: 'replace', path: '/properties/environment_types', value: ['test'] },
      { op: 'replace', path: '/properties/linked_providers', value: [{ id: tenant.docker }] },
    );
    expect(status).toBe(200);
    expect(body.name).toBe(`${provider.name}-renamed`);
    expect(body.properties).toMatchObject({
      environment_types: ['test'],
      linked_providers: [{ id: tenant.docker, name: 'default-docker', type: `${PROVIDER}::CaaS::Docker` }],
    });
    expect(await patch(provider, { op: 'replace', path: '/properties/data', value: 'x' })).toMatchObject(refusal(422));
  });

  it('exported and posted elsewhere is the same but for its place', async () => {
    const source = await create({ config: { a: [null] }, linked_providers: [{ id: tenant.docker, location: 'x' }] });
    const { id: _, ...exported } = await read(source);
    const copy = await root.create(`${tenant.workspace}/providers`, exported);
    expect({ ...copy.properties, parent: 0 }).toEqual({ ...source.properties, parent: 0 });
    expect(copy).toMatchObject({ name: source.name, resource_type: KONG });
  });
});

describe('redeploy and actions (D-069)', () => {
  it('redeploy is accepted without effect; an action is not emulated; a POST without one is malformed', async () => {
    const provider = await create();
    expect(await root.post(`${pathOf(provider)}/redeploy`)).toMatchObject({ status: 202, body: '' });
    expect(await read(provider)).toEqual(provider);
    expect(await root.post(`${pathOf(provider)}?action=x`)).toMatchObject(refusal(501));
    expect(await root.post(pathOf(provider))).toMatchObject(refusal(400));
    expect(await root.post(`/acme/providers/${UNKNOWN_ID}/redeploy`)).toMatchObject(refusal(404));
    expect(await root.post(`/acme/providers/${UNKNOWN_ID}?action=x`)).toMatchObject(refusal(404));
  });
});

describe('leftovers of a provider', () => {
  it('is no link of others once it is deleted (D-129)', async () => {
    const logs = await create({}, { resource_type: LOGGING });
    const remainingProvider = { id: tenant.docker };
    const provider = await create({ linked_providers: [{ id: logs.id }, remainingProvider] });
    expect((await root.delete(pathOf(logs))).status).toBe(204);
    expect((await read(provider)).properties.linked_providers).toMatchObject([remainingProvider]);
  });

  it('is in an organization, a workspace or an environment, and nowhere else', async () => {
    const test = await withEnvironment(root, tenant, 'test');
    for (const at of ['/acme', tenant.workspace, test.environment]) {
      expect((await root.post(`${at}/providers`, bodyOf())).status, at).toBe(201);
    }
    expect(await root.post(`/acme/providers/${tenant.docker}/providers`, bodyOf())).toMatchObject(refusal(404));
  });
});
