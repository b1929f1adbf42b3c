import { afterAll, beforeAll, expect, it } from 'vitest';
import { grant, makePlace, makeUser, type Place } from '../../e2e/place.ts';
import { type Platform, refusal, startPlatform } from '../../e2e/platform.ts';

let platform: Platform;
let acme: Place;
beforeAll(async () => {
  platform = await startPlatform();
  acme = await makePlace(platform.root, 'acme');
});
afterAll(() => platform?.stop());

const body = (name: string, config: object | undefined, type = 'CaaS::Docker') => ({
  name,
  resource_type: `Platform::Configuration::Provider::${type}`,
  properties: { ...(config && { config }) },
});
const ADDRESS = '/properties/config/url';

it('only root says where a container engine is: it is reached with the keys of whoever runs the emulator', async () => {
  const { id, voice } = await makeUser(platform, 'builder');
  for (const right of ['create', 'view', 'update']) await grant(platform.root, acme.org, `provider.${right}`, id);
  const path = `${acme.org}/providers`;

  for (const type of ['CaaS::Docker', 'CaaS::Swarm']) {
    for (const url of ['unix:///var/run/docker.sock', 'tcp://10.0.0.1:2375', '']) {
      expect(await voice.post(path, body('far', { url }, type))).toMatchObject(refusal(403, ADDRESS));
    }
  }
  const own = await voice.create(path, body('own', { env: { public: { A: '1' } } }));
  expect(
    await voice.patch(`${path}/${own.id}`, [{ op: 'add', path: ADDRESS, value: 'tcp://10.0.0.1:2375' }]),
  ).toMatchObject(refusal(403, ADDRESS));
  const away = { op: 'replace', path: '/properties/config', value: { url: 'tcp://10.0.0.1:2375' } };
  expect(await voice.patch(`${path}/${own.id}`, [away])).toMatchObject(refusal(403, ADDRESS));
  const tls = { op: 'add', path: '/properties/config/tls', value: { ca: 'x' } };
  expect(await voice.patch(`${path}/${own.id}`, [tls])).toMatchObject(refusal(403, '/properties/config/tls'));
  expect((await platform.root.get(`${path}/${own.id}`)).body.properties.config).toEqual({
    env: { public: { A: '1' } },
  });

  const far = await platform.root.create(path, body('far', { url: 'tcp://127.0.0.1:1' }));
  const removal = [{ op: 'remove', path: ADDRESS }];
  expect(await voice.patch(`${path}/${far.id}`, removal)).toMatchObject(refusal(403, ADDRESS));
  expect(await voice.put(`${path}/${far.id}`, body('far', {}))).toMatchObject({
    status: expect.toSatisfy((status) => status >= 400),
  });
  const described = [{ op: 'add', path: '/description', value: 'elsewhere' }];
  expect((await voice.patch(`${path}/${far.id}`, described)).status).toBe(200);
  expect((await platform.root.patch(`${path}/${far.id}`, removal)).status).toBe(200);

  // What no engine is reached by is for anybody with the right.
  expect((await voice.post(path, body('logs', { url: 'http://logs.example.com' }, 'Logging'))).status).toBe(201);
});
