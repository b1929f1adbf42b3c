import { beforeAll, describe, expect, it } from 'vitest';
import { makeAccount, rootPairOf } from '../server/testing/account.ts';
import { basic, send } from '../server/testing/checked-client.ts';
import { refusal, sharedPlatform } from '../server/testing/platform.ts';
import { type ResourceFactory, resourceFactoryFor } from '../server/testing/resource-factory.ts';
import {
  type Body,
  createTenant,
  entitlementOf,
  grant,
  type Tenant,
  withEnvironment,
} from '../server/testing/tenant.ts';

const platform = sharedPlatform();
const { root } = platform;
let acme: Tenant;
let make: ResourceFactory;
let first: Body;
let second: Body;
let rootPair: string;

beforeAll(async () => {
  make = resourceFactoryFor(root);
  acme = await createTenant(root, 'acme');
  [first, second] = [await make.lambda(acme), await make.lambda(acme)];
  rootPair = rootPairOf(platform);
});

const call = (path: string, options?: Parameters<typeof send>[2], method = 'GET') =>
  send(method, platform.emulator.gatewayUrl + path, options);

/** Creates an endpoint `/e` of a new API. */
async function publish(properties: object = {}, lambda = first) {
  const api = await make.api(acme);
  const endpoint = await make.endpoint(api, lambda, properties);
  const set = async (path: string, value: unknown) => {
    const { status } = await root.patch(`/acme/apiendpoints/${endpoint.id}`, [{ op: 'add', path, value }]);
    expect(status).toBe(200);
  };
  return {
    api,
    endpoint,
    path: `/${api.name}/e`,
    set: (name: string, value: unknown) => set(`/properties/${name}`, value),
  };
}

const account = (name: string) => makeAccount(platform, name);

describe('routes follow the world at once (D-098, D-151, D-152)', () => {
  it('an endpoint that is patched answers at its new path, with its new methods, from its new target', async () => {
    const { api, path, set } = await publish();
    expect(await call(path)).toMatchObject({ status: 200, body: first.name });
    await set('resource', '/moved');
    expect(await call(path)).toMatchObject({
      status: 404,
      body: { code: 404, reason: 'no_endpoint', message: 'no API found with those values' },
    });
    const moved = `/${api.name}/moved`;
    await set('methods', ['POST']);
    const refused = await call(moved);
    expect(refused).toMatchObject(refusal(405));
    expect(refused.headers.get('allow')).toBe('POST');
    await set('implementation_id', second.id);
    expect(await call(moved, {}, 'POST')).toMatchObject({ status: 200, body: second.name });
    await set('synchronous', false);
    expect((await call(moved, {}, 'POST')).body).toEqual({ lambdaId: expect.any(String) });
  });

  it('a renamed API takes its endpoints with it', async () => {
    const { api, path } = await publish();
    const renamed = make.fresh('renamed');
    const { status } = await root.patch(`/acme/apis/${api.id}`, [{ op: 'replace', path: '/name', value: renamed }]);
    expect(status).toBe(200);
    expect((await call(path)).status).toBe(404);
    expect(await call(`/${renamed}/e`)).toMatchObject({ status: 200, body: first.name });
    const { body } = await root.get(`/acme/apis/${api.id}/apiendpoints?expand=true`);
    expect(body[0].properties.public_url).toBe(`${platform.emulator.gatewayUrl}/${renamed}/e`);
  });

  it.each(['/sp ace', '/%C3%BC/ü', '/a[b]|c', '/100%25'])(
    'the public URL of %s is one that clients can call',
    async (resource) => {
      const { endpoint } = await publish({ resource });
      const url: string = endpoint.properties.public_url;
      expect(url).toMatch(/^[!-~]+$/);
      expect(new URL(url).href).toBe(url);
      expect(await call(url.slice(platform.emulator.gatewayUrl.length))).toMatchObject({ status: 200 });
    },
  );

  it('a deleted endpoint is withdrawn, and with force those of an API and an environment', async () => {
    const single = await publish();
    await root.delete(`/acme/apiendpoints/${single.endpoint.id}`);
    expect((await call(single.path)).status).toBe(404);
    const publication = await publish();
    await root.delete(`/acme/apis/${publication.api.id}?force=true`);
    expect((await call(publication.path)).status).toBe(404);
    const test = await withEnvironment(root, acme, 'test');
    const api = await make.api(test);
    await make.endpoint(api, await make.lambda(test));
    expect((await call(`/${api.name}/e`)).status).toBe(200);
    expect((await root.delete(`/acme/environments/${test.environmentId}?force=true`)).status).toBe(204);
    expect((await call(`/${api.name}/e`)).status).toBe(404);
  });

  it('APIs of one name in two environments share the prefix (D-059)', async () => {
    const production = await withEnvironment(root, acme, 'production');
    const { api, path } = await publish();
    const twin = await root.create(`${production.environment}/apis`, { name: api.name });
    const properties = { resource: '/other', implementation_type: 'lambda', implementation_id: second.id };
    await root.create(`/acme/apis/${twin.id}/apiendpoints`, { name: 'other', properties });
    expect((await call(path)).body).toBe(first.name);
    expect((await call(`/${api.name}/other/deeper`)).body).toBe(second.name);
  });
});

describe('targets that are gone (D-130, D-139, D-050)', () => {
  it('the endpoint of a deleted lambda answers 503 until it is pointed at another', async () => {
    const lambda = await make.lambda(acme);
    const { path, set } = await publish({}, lambda);
    expect((await call(path)).status).toBe(200);
    expect((await root.delete(`/acme/lambdas/${lambda.id}`)).status).toBe(204);
    expect(await call(path)).toMatchObject(refusal(503));
    await set('implementation_id', second.id);
    expect(await call(path)).toMatchObject({ status: 200, body: second.name });
  });

  it('a lambda that comes back under its id answers again', async () => {
    const lambda = await make.lambda(acme);
    const { path } = await publish({}, lambda);
    await call(path);
    await root.delete(`/acme/lambdas/${lambda.id}`);
    const { status } = await root.post(`${acme.environment}/lambdas`, { ...lambda, name: 'back-again' });
    expect(status).toBe(201);
    expect(await call(path)).toMatchObject({ status: 200, body: lambda.name });
  });

  it('the endpoint of a container answers 503 as long as no engine runs it, and when it was deleted', async () => {
    const mapping = { protocol: 'tcp', name: 'web', container_port: 80, expose_endpoint: true };
    const container = await make.container(acme, { port_mappings: [mapping] });
    const target = { implementation_type: 'container', implementation_id: container.id, container_port_name: 'web' };
    const { path } = await publish(target);
    expect(await call(path)).toMatchObject(refusal(503));
    await root.delete(`/acme/containers/${container.id}`);
    expect(await call(path)).toMatchObject(refusal(503));
  });
});

describe('the rate limit (D-155, D-156)', () => {
  const readRemaining = async (path: string) => {
    const { status, headers } = await call(path);
    return [status, headers.get('x-ratelimit-limit-minute'), headers.get('x-ratelimit-remaining-minute')];
  };

  it('lets so many calls through, and starts again only when it is changed or enabled again', async () => {
    const { path, set } = await publish({ plugins: { rateLimit: { enabled: true, perMinute: 2 } } });
    expect(await readRemaining(path)).toEqual([200, '2', '1']);
    expect(await readRemaining(path)).toEqual([200, '2', '0']);
    expect(await readRemaining(path)).toEqual([429, '2', '0']);
    const { headers, body } = await call(path);
    expect(body).toEqual({ code: 429, reason: 'rate_limited', message: 'API rate limit exceeded' });
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    await set('implementation_id', second.id);
    expect(await readRemaining(path)).toEqual([429, '2', '0']);
    await set('plugins/rateLimit/perMinute', 3);
    expect(await readRemaining(path)).toEqual([200, '3', '2']);
    await set('plugins/rateLimit/enabled', false);
    expect(await readRemaining(path)).toEqual([200, null, null]);
    await set('plugins/rateLimit/enabled', true);
    expect(await readRemaining(path)).toEqual([200, '3', '2']);
  });

  it('counts neither preflights nor requests that were rejected earlier', async () => {
    const rateLimit = { enabled: true, perMinute: 1 };
    const { path } = await publish({ methods: ['GET'], plugins: { rateLimit, platformSecurity: { enabled: true } } });
    const { bearer } = await account('stranger');
    expect((await call(path)).status).toBe(401);
    expect((await call(path, { auth: bearer })).status).toBe(403);
    expect((await call(path, {}, 'POST')).status).toBe(405);
    const asking = { Origin: 'https://site.example', 'Access-Control-Request-Method': 'GET' };
    const preflight = await call(path, { headers: asking }, 'OPTIONS');
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-methods')).toContain('GET');
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
    expect((await call(path, { auth: rootPair })).status).toBe(200);
    expect((await call(path, { auth: rootPair })).status).toBe(429);
  });
});

describe('an endpoint with platformSecurity (D-163, D-120)', () => {
  it('asks for credentials, in a way that pages can read too', async () => {
    const { path } = await publish({ plugins: { platformSecurity: { enabled: true } } });
    for (const auth of [undefined, 'Bearer 00000000-0000-4000-8000-000000000000', basic('no', 'body')]) {
      const { status, headers, body } = await call(path, { auth });
      expect({ status, body }).toEqual({
        status: 401,
        body: { code: 401, reason: 'unauthenticated', message: 'Authentication required' },
      });
      expect(headers.get('www-authenticate')).toMatch(/^Bearer realm="[^"]+".*, Basic realm="[^"]+"$/);
      expect(headers.get('access-control-allow-origin')).toBe('*');
    }
    expect((await call(path, { auth: rootPair })).status).toBe(200);
  });

  it('lets through listed users, members of listed groups and holders of apiendpoint.invoke, as long as they are', async () => {
    const [listed, member, holder, other] = [
      await account('listed'),
      await account('member'),
      await account('holder'),
      await account('other'),
    ];
    const group = await make.group('/root', [member.id]);
    const { path, endpoint, set } = await publish({ plugins: { platformSecurity: { enabled: true } } });
    // First, because a change of this entitlement rewrites the lists.
    await grant(root, `/acme/apiendpoints/${endpoint.id}`, 'apiendpoint.invoke', holder.id);
    await set('plugins/platformSecurity/users', [listed.id.toUpperCase()]);
    await set('plugins/platformSecurity/groups', [group.id]);
    for (const { bearer, basic } of [listed, member, holder]) {
      expect((await call(path, { auth: bearer })).status).toBe(200);
      expect((await call(path, { auth: basic })).status).toBe(200);
    }
    const refused = await call(path, { auth: other.bearer });
    expect(refused).toMatchObject({ status: 403, body: { message: expect.stringContaining('apiendpoint.invoke') } });

    await root.delete(`/root/groups/${group.id}/users?id=${member.id}`);
    expect((await call(path, { auth: member.basic })).status).toBe(403);
    await root.delete(`/root/users/${listed.id}`);
    expect((await call(path, { auth: listed.bearer })).status).toBe(401);
    await set('plugins/platformSecurity/enabled', false);
    expect((await call(path)).status).toBe(200);
  });

  it('takes its lists from a PUT of its entitlement, and inherits who may invoke above', async () => {
    const [allowedAccount, removedAccount, inheritedAccount] = [
      await account('kept'),
      await account('dropped'),
      await account('above'),
    ];
    const { path, endpoint } = await publish({
      plugins: { platformSecurity: { enabled: true, users: [removedAccount.id] } },
    });
    const node = `/acme/apiendpoints/${endpoint.id}`;
    const { id, name } = await entitlementOf(root, node, 'apiendpoint.invoke');
    const properties = { action: 'apiendpoint.invoke', identities: [allowedAccount.id] };
    expect((await root.put(`/acme/entitlements/${id}`, { id, name, properties })).status).toBe(200);
    expect((await root.get(node)).body.properties.plugins.platformSecurity).toMatchObject({
      users: [allowedAccount.id],
    });
    expect((await call(path, { auth: allowedAccount.bearer })).status).toBe(200);
    expect((await call(path, { auth: removedAccount.bearer })).status).toBe(403);
    expect((await call(path, { auth: inheritedAccount.bearer })).status).toBe(403);
    await grant(root, '/acme', 'apiendpoint.invoke', inheritedAccount.id);
    expect((await call(path, { auth: inheritedAccount.bearer })).status).toBe(200);
  });
});

describe('a lambda that is not public (D-141)', () => {
  it('is for holders of lambda.invoke, through endpoints and through /api/async, whatever the endpoint says', async () => {
    const lambda = await make.lambda(acme, { public: false });
    const { path } = await publish({}, lambda);
    const insider = await account('insider');
    const requests = [
      (auth?: string) => call(path, { auth }),
      (auth?: string) => call('/api/async', { auth, body: { lambdaId: lambda.id } }, 'POST'),
    ];
    for (const request of requests) {
      expect((await request()).status).toBe(401);
      expect(await request(insider.bearer)).toMatchObject({
        status: 403,
        body: { message: expect.stringContaining('lambda.invoke') },
      });
    }
    await grant(root, `/acme/lambdas/${lambda.id}`, 'lambda.invoke', insider.id);
    for (const request of requests) {
      expect((await request(insider.bearer)).status).toBe(200);
      expect((await request(insider.basic)).status).toBe(200);
    }
    await root.patch(`/acme/lambdas/${lambda.id}`, [{ op: 'replace', path: '/properties/public', value: true }]);
    for (const request of requests) expect((await request('Bearer wrong')).status).toBe(200);
  });
});
