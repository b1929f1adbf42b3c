import { beforeAll, describe, expect, it } from 'vitest';
import { refusal, sharedPlatform } from '../../../testing/platform.ts';
import { PROVIDER, providersOf } from '../../../testing/sample-provider.ts';
import { containerBody, createTenant, grant, makeUser, type Tenant } from '../../../testing/tenant.ts';

const platform = sharedPlatform();
const { root } = platform;
let tenant: Tenant;
beforeAll(async () => {
  tenant = await createTenant(root, 'acme');
});

const { create, pathOf, read, patch } = providersOf(() => root);

describe('credentials (D-066)', () => {
  const config = {
    auth: { scheme: 'Basic', username: 'bob', password: 'shown', credentials: { token: 's3cret' } },
    env: { private: { SECRET: 'shown as well' } },
    credentials: 'not those',
  };
  const masked = { ...config, auth: { ...config.auth, credentials: '****' } };

  it('are masked wherever the provider is shown, and nothing else is', async () => {
    const provider = await create({ config });
    expect(provider.properties.config).toEqual(masked);
    expect((await read(provider)).properties.config).toEqual(masked);
    const container = await root.create(
      `${tenant.environment}/containers`,
      containerBody(tenant, 'embedding', {
        provider: { id: (await create({ config }, { resource_type: `${PROVIDER}::CaaS::Docker` })).id },
      }),
    );
    const [listed, compact, embedded, patched] = [
      await root.get(`/acme/providers?expand=true&name=${provider.name}`),
      await root.get(`/acme/providers?compact=true&name=${provider.name}`),
      await root.get(`/acme/containers/${container.id}?embed=provider`),
      await patch(provider, { op: 'add', path: '/description', value: 'x' }),
    ];
    expect(listed.body[0].properties.config).toEqual(masked);
    expect(compact.body[0].properties.config).toEqual(masked);
    expect(embedded.body.properties.provider.properties.config).toEqual(masked);
    expect(patched.body.properties.config).toEqual(masked);
    for (const { body } of [listed, compact, embedded, patched]) expect(JSON.stringify(body)).not.toContain('s3cret');
  });

  it('are shown with showcredentials=true only to users who may update the provider', async () => {
    const provider = await create({ config });
    expect((await read(provider, '?showcredentials=true')).properties.config).toEqual(config);
    expect((await read(provider, '?showcredentials=false')).properties.config).toEqual(masked);
    const list = await root.get(`/acme/providers?expand=true&showcredentials=true&name=${provider.name}`);
    expect(list.body[0].properties.config).toEqual(config);
    expect(await root.get(`${pathOf(provider)}?showcredentials=yes`)).toMatchObject(refusal(400));

    const viewer = await makeUser(platform, 'viewer');
    await grant(root, pathOf(provider), 'provider.view', viewer.id);
    const reply = await viewer.client.get(`${pathOf(provider)}?showcredentials=true`);
    expect(reply).toMatchObject({ status: 200, body: { properties: { config: masked } } });
    await grant(root, pathOf(provider), 'provider.update', viewer.id);
    const trusted = await viewer.client.get(`${pathOf(provider)}?showcredentials=true`);
    expect(trusted.body.properties.config).toEqual(config);
  });

  it('are kept when the mask is sent for them, and replaced by anything else', async () => {
    const provider = await create({ config });
    const credentials = '/properties/config/auth/credentials';
    const stored = async () => (await read(provider, '?showcredentials=true')).properties.config;
    await patch(provider, { op: 'replace', path: '/properties/config', value: masked });
    expect(await stored()).toEqual(config);
    const unchanged = await patch(provider, { op: 'replace', path: credentials, value: '****' });
    expect(unchanged.body).toEqual(provider);
    expect(await stored()).toEqual(config);
    await patch(provider, { op: 'replace', path: credentials, value: 'fresh' });
    expect((await stored()).auth.credentials).toBe('fresh');
    await patch(provider, { op: 'remove', path: credentials });
    expect((await read(provider)).properties.config.auth).not.toHaveProperty('credentials');
  });
});
