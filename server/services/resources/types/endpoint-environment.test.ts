import { beforeAll, describe, expect, it } from 'vitest';
import { refusal, sharedPlatform } from '../../../testing/platform.ts';
import { type Body, createTenant, lambdaBody, type Tenant } from '../../../testing/tenant.ts';

const platform = sharedPlatform({ allowedHosts: ['Jar.example'], publicGatewayUrl: 'https://gate.example:8443' });
const { root } = platform;
const tenants: Record<string, { tenant: Tenant; lambda: Body }> = {};
beforeAll(async () => {
  for (const org of ['acme', 'birch']) {
    const tenant = await createTenant(root, org);
    tenants[org] = {
      tenant,
      lambda: await root.create(`${tenant.environment}/lambdas`, lambdaBody(tenant, 'target')),
    };
  }
});

let count = 0;
const api = (org: string, name: string): Promise<Body> =>
  root.create(`${tenants[org]?.tenant.environment}/apis`, { name, properties: {} });
const post = (org: string, to: Body, properties: object, name: string) =>
  root.post(`/${org}/apis/${to.id}/apiendpoints`, {
    name,
    properties: { implementation_type: 'lambda', implementation_id: tenants[org]?.lambda.id, ...properties },
  });

describe('the hosts of an endpoint (D-151)', () => {
  it.each([
    ...['localhost', 'LOCALHOST.', '127.0.0.1', '127.1', '0x7f.0.0.1', '2130706433', '[::1]', '::1', '0.0.0.0'],
    ...['terrarium.localhost', 'Terrarium.LocalHost.:80', 'jar.example', 'JAR.example.', 'gate.example'],
  ])('are not the platform’s own: %s', async (host) => {
    const ownApi = await api('acme', `own-${count++}`);
    const answer = await post('acme', ownApi, { resource: '/x', hosts: ['free.example', host] }, 'taken');
    expect(answer).toMatchObject({ status: 400, body: { details: [{ pointer: '/properties/hosts/1' }] } });
    const created = await post('acme', ownApi, { resource: '/x' }, 'without');
    const hosts = [{ op: 'add', path: '/properties/hosts', value: [host] }];
    expect((await root.patch(`/acme/apiendpoints/${created.body.id}`, hosts)).status).toBe(400);
  });

  it('are other names below localhost, and other unused names', async () => {
    const ownApi = await api('acme', 'names');
    const hosts = ['shop.localhost', 'localhost.example', '10.0.0.1'];
    expect((await post('acme', ownApi, { resource: '/x', hosts }, 'free')).status).toBe(201);
  });

  it('are not those of another organization’s endpoint, but may be shared with one’s own', async () => {
    const [ownApi, otherApi] = [await api('acme', 'ours'), await api('birch', 'theirs')];
    expect((await post('acme', ownApi, { hosts: ['shop.example'] }, 'whole')).status).toBe(201);
    expect((await post('acme', ownApi, { resource: '/x', hosts: ['shop.example'] }, 'part')).status).toBe(201);
    for (const host of ['shop.example', 'SHOP.example.:8080']) {
      expect(await post('birch', otherApi, { resource: '/x', hosts: [host] }, 'x')).toMatchObject(refusal(409));
    }
    const other = await post('birch', otherApi, { resource: '/x' }, 'x');
    const hosts = [{ op: 'add', path: '/properties/hosts', value: ['shop.example'] }];
    expect(await root.patch(`/birch/apiendpoints/${other.body.id}`, hosts)).toMatchObject(refusal(409));
  });
});

it.each(['whole.example', 'WHOLE.example.', 'whole.example:8080'])(
  'the hosts of two endpoints without resource are compared however they are spelled: %s',
  async (host) => {
    const ownApi = await api('acme', `spelled-${count++}`);
    expect((await post('acme', ownApi, { hosts: ['whole.example'] }, 'first')).status).toBe(201);
    expect(await post('acme', ownApi, { hosts: [host] }, 'second')).toMatchObject(refusal(409));
  },
);

describe('the path of an endpoint (D-151)', () => {
  it('is not at or below one of another organization’s, by whatever name its API comes there', async () => {
    const [ownApi, otherApi] = [await api('acme', 'web'), await api('birch', 'web')];
    expect((await post('acme', ownApi, { resource: '/shop' }, 'shop')).status).toBe(201);
    for (const resource of ['/shop', '/shop/', '/shop/cart', '/sh%6fp/a/b']) {
      expect(await post('birch', otherApi, { resource }, 'below')).toMatchObject(refusal(409));
    }
    expect((await post('birch', otherApi, { resource: '/shopping' }, 'beside')).status).toBe(201);
    expect((await post('acme', ownApi, { resource: '/shop/cart' }, 'own')).status).toBe(201);
    expect((await post('acme', await api('acme', 'store'), { resource: '/shop' }, 'shop')).status).toBe(201);
    const renamed = await api('birch', 'other');
    expect((await post('birch', renamed, { resource: '/shop/till' }, 'till')).status).toBe(201);
    const rename = [{ op: 'replace', path: '/name', value: 'store' }];
    const answer = await root.patch(`/birch/apis/${renamed.id}`, rename);
    expect(answer).toMatchObject(refusal(409));
    expect(answer.body.message).toContain('of another organization');
  });

  it('may come below another organization’s later, and then stays as its endpoint changes (D-096)', async () => {
    const [ownApi, otherApi] = [await api('acme', 'late'), await api('birch', 'late')];
    const { body: below } = await post('birch', otherApi, { resource: '/shop/cart' }, 'cart');
    expect((await post('acme', ownApi, { resource: '/shop' }, 'shop')).status).toBe(201);
    const change = (pointer: string, value: unknown) =>
      root.patch(`/birch/apiendpoints/${below.id}`, [{ op: 'add', path: pointer, value }]);
    expect((await change('/description', 'kept')).status).toBe(200);
    expect(await change('/properties/resource', '/shop/till')).toMatchObject(refusal(409));
  });

  it('may be anything on hosts that lead to the one alone', async () => {
    const [ownApi, otherApi] = [await api('acme', 'both'), await api('birch', 'both')];
    expect((await post('acme', ownApi, { resource: '/a', hosts: ['a.example'] }, 'a')).status).toBe(201);
    expect((await post('birch', otherApi, { resource: '/a/b', hosts: ['b.example'] }, 'b')).status).toBe(201);
    // Any host leads there, that of the first among them.
    expect(await post('birch', otherApi, { resource: '/a/c' }, 'c')).toMatchObject(refusal(409));
  });
});
