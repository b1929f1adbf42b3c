import { beforeAll, expect, it } from 'vitest';
import { refusal, sharedPlatform } from '../../testing/platform.ts';
import { createTenant, grant, makeUser, type Tenant } from '../../testing/tenant.ts';

const platform = sharedPlatform();
let acme: Tenant;
beforeAll(async () => {
  acme = await createTenant(platform.root, 'acme');
});

const body = (name: string, config: object | undefined, type = 'CaaS::Docker') => ({
  name,
  resource_type: `Platform::Configuration::Provider::${type}`,
  properties: { ...(config && { config }) },
});
const ADDRESS = '/properties/config/url';

it('only root may set the address of a container engine, because the connection uses the keys of the platform’s user', async () => {
  const { id, client } = await makeUser(platform, 'builder');
  for (const right of ['create', 'view', 'update']) await grant(platform.root, acme.org, `provider.${right}`, id);
  const path = `${acme.org}/providers`;

  for (const type of ['CaaS::Docker', 'CaaS::Swarm']) {
    for (const url of ['unix:///var/run/docker.sock', 'tcp://10.0.0.1:2375', '']) {
      expect(await client.post(path, body('far', { url }, type))).toMatchObject(refusal(403, ADDRESS));
    }
  }
  const ownProvider = await client.create(path, body('own', { env: { public: { A: '1' } } }));
  expect(
    await client.patch(`${path}/${ownProvider.id}`, [{ op: 'add', path: ADDRESS, value: 'tcp://10.0.0.1:2375' }]),
  ).toMatchObject(refusal(403, ADDRESS));
  const away = { op: 'replace', path: '/properties/config', value: { url: 'tcp://10.0.0.1:2375' } };
  expect(await client.patch(`${path}/${ownProvider.id}`, [away])).toMatchObject(refusal(403, ADDRESS));
  const tls = { op: 'add', path: '/properties/config/tls', value: { ca: 'x' } };
  expect(await client.patch(`${path}/${ownProvider.id}`, [tls])).toMatchObject(refusal(403, '/properties/config/tls'));
  expect((await platform.root.get(`${path}/${ownProvider.id}`)).body.properties.config).toEqual({
    env: { public: { A: '1' } },
  });

  const far = await platform.root.create(path, body('far', { url: 'tcp://127.0.0.1:1' }));
  const removal = [{ op: 'remove', path: ADDRESS }];
  expect(await client.patch(`${path}/${far.id}`, removal)).toMatchObject(refusal(403, ADDRESS));
  expect(await client.put(`${path}/${far.id}`, body('far', {}))).toMatchObject({
    status: expect.toSatisfy((status) => status >= 400),
  });
  const described = [{ op: 'add', path: '/description', value: 'elsewhere' }];
  expect((await client.patch(`${path}/${far.id}`, described)).status).toBe(200);
  expect((await platform.root.patch(`${path}/${far.id}`, removal)).status).toBe(200);

  // Providers without an engine address can be changed by every user with the permission.
  expect((await client.post(path, body('logs', { url: 'http://logs.example.com' }, 'Logging'))).status).toBe(201);
});
