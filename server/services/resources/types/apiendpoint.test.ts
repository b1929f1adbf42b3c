import { beforeAll, describe, expect, it } from 'vitest';
import { refusal, sharedPlatform } from '../../../testing/platform.ts';
import {
  type Body,
  containerBody,
  createTenant,
  lambdaBody,
  type Tenant,
  withEnvironment,
} from '../../../testing/tenant.ts';

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';
const KONG = 'Platform::Configuration::Provider::Kong';
const MANAGER = 'Platform::Configuration::Provider::GatewayManager';

const platform = sharedPlatform();
const { root } = platform;
let tenant: Tenant;
let lambda: Body;
let container: Body;
beforeAll(async () => {
  tenant = await createTenant(root, 'acme');
  lambda = await root.create(`${tenant.environment}/lambdas`, lambdaBody(tenant, 'target'));
  const port_mappings = [
    { protocol: 'tcp', name: 'web', container_port: 80, lb_port: 8080, expose_endpoint: true },
    { protocol: 'tcp', name: 'inner', container_port: 81 },
  ];
  container = await root.create(`${tenant.environment}/containers`, containerBody(tenant, 'target', { port_mappings }));
});

let createdCount = 0;
/** An API of its own for each test, so that only meant conflicts happen. */
const makeApi = (name = `api-${createdCount++}`, properties: object = {}, at = tenant): Promise<Body> =>
  root.create(`${at.environment}/apis`, { name, properties });
const toLambda = (properties: object = {}) => ({
  resource: '/x',
  implementation_type: 'lambda',
  implementation_id: lambda.id,
  ...properties,
});
const post = (api: Body, properties: object, name = `endpoint-${createdCount++}`) =>
  root.post(`/acme/apis/${api.id}/apiendpoints`, { name, properties });
const create = (api: Body, properties: object, name = `endpoint-${createdCount++}`): Promise<Body> =>
  root.create(`/acme/apis/${api.id}/apiendpoints`, { name, properties });
const pathOf = ({ id }: Body) => `/acme/apiendpoints/${id}`;
const patch = (endpoint: Body, ...operations: object[]) => root.patch(pathOf(endpoint), operations);

describe('the properties of an endpoint (D-060)', () => {
  it('shows the sent values, no defaults, and server-set values', async () => {
    const api = await makeApi('plain');
    const endpoint = await create(api, toLambda(), 'a/b');
    expect(endpoint).toMatchObject({ name: 'a/b', resource_type: 'Platform::Resource::ApiEndpoint' });
    expect(endpoint.properties).toEqual({
      ...toLambda(),
      upstream_url: expect.stringContaining(lambda.id),
      public_url: `${platform.emulator.gatewayUrl}/plain/x`,
      parent: {
        typeId: 'df4bf8b5-170f-453e-9526-c37c898d96c9',
        id: api.id,
        name: 'plain',
        href: `${platform.emulator.metaUrl}/acme/apis/${api.id}`,
      },
    });
    expect((await root.get(pathOf(endpoint))).body).toEqual(endpoint);
    expect((await root.get(`/acme/apis/${api.id}/apiendpoints/${endpoint.id}`)).body).toEqual(endpoint);
  });

  it('gives back every member as it was sent, and an id in lower case (D-014)', async () => {
    const writtenProperties = {
      resource: '/with/slash/',
      methods: ['get', 'Post', 'OPTIONS'],
      synchronous: false,
      is_http_aware: true,
      plugins: {
        rateLimit: { enabled: true, perMinute: 60, more: 1 },
        cors: { enabled: false, origins: ['https://a.example'] },
        platformSecurity: { enabled: false, users: [UNKNOWN_ID], groups: [] },
        other: { a: null },
      },
      hosts: ['a.example', 'B.example:8080'],
      whitelist: ['127.0.0.1', '10.0.0.0/8', '::1'],
      auth_type: 'Required',
      http_method: 'GET',
    };
    const endpoint = await create(
      await makeApi(),
      toLambda({ ...writtenProperties, implementation_id: lambda.id.toUpperCase() }),
    );
    expect(endpoint.properties).toMatchObject({ ...writtenProperties, implementation_id: lambda.id });
  });

  it('copies the provider and the first location from its API', async () => {
    const provider = { id: tenant.gateways, locations: [UNKNOWN_ID, lambda.id], note: 'kept' };
    const api = await makeApi('located', { provider });
    const writtenProperties = { provider: { id: UNKNOWN_ID }, location_id: 'x', upstream_url: 'x', public_url: 'x' };
    const { properties } = await create(api, toLambda(writtenProperties));
    expect(properties).toMatchObject({ provider, location_id: UNKNOWN_ID });
    expect(properties.public_url).toMatch(/\/located\/x$/);
    expect(properties.upstream_url).not.toBe('x');
  });

  it('takes a container by an exposed port, as soon as it is created (D-061)', async () => {
    const api = await makeApi();
    const to = (container_port_name?: string) => ({
      resource: '/c',
      implementation_type: 'container',
      implementation_id: container.id,
      ...(container_port_name && { container_port_name }),
    });
    for (const name of [undefined, 'inner', 'none']) {
      expect(await post(api, to(name))).toMatchObject(refusal(400, '/properties/container_port_name'));
    }
    const endpoint = await create(api, to('web'));
    const [{ service_address }] = container.properties.port_mappings;
    expect(endpoint.properties.upstream_url).toContain(`${service_address.host}:8080`);
  });

  it.each([
    ['/properties/resource', { resource: 'x' }, 'must start with /'],
    ['/properties/resource', { resource: '' }],
    ['/properties/resource', { resource: null }],
    ['/properties/resource', { resource: '/a?b' }, 'must not contain ?, # or ..'],
    ['/properties/resource', { resource: '/a#b' }, 'must not contain ?, # or ..'],
    ['/properties/resource', { resource: '/a/../b' }, 'must not contain ?, # or ..'],
    ['/properties/resource', { resource: '/a/%2e%2e/b' }, 'must not contain ?, # or ..'],
    ['/properties/resource', { resource: '/%zz' }, 'must not contain ?, # or ..'],
    ['/properties/resource', { resource: undefined }, 'is required unless hosts'],
    ['/properties/resource', { resource: undefined, hosts: [] }, 'is required unless hosts'],
    ['/properties/implementation_type', { implementation_type: undefined }],
    ['/properties/implementation_type', { implementation_type: 'job' }, 'must be one of lambda, container'],
    ['/properties/implementation_id', { implementation_id: undefined }],
    ['/properties/implementation_id', { implementation_id: 'x' }],
    ['/properties/implementation_id', { implementation_id: UNKNOWN_ID }, 'is not the id of an existing lambda'],
    ['/properties/implementation_id', { implementation_type: 'container' }, 'is not the id of an existing container'],
    ['/properties/methods/1', { methods: ['GET', 'TRACE'] }, 'must be one of GET'],
    ['/properties/synchronous', { synchronous: 'false' }],
    ['/properties/plugins/rateLimit/perMinute', { plugins: { rateLimit: { enabled: true } } }, 'is required'],
    [
      '/properties/plugins/rateLimit/perMinute',
      { plugins: { rateLimit: { enabled: true, perMinute: 0 } } },
      'at least 1',
    ],
    [
      '/properties/plugins/rateLimit/perMinute',
      { plugins: { rateLimit: { enabled: false, perMinute: 1.5 } } },
      'whole',
    ],
    ['/properties/plugins/cors/origins', { plugins: { cors: { credentials: true } } }, 'must list the origins'],
    [
      '/properties/plugins/cors/origins',
      { plugins: { cors: { credentials: true, origins: ['*'] } } },
      'must list the origins',
    ],
    ['/properties/plugins/cors/origins', { plugins: { cors: { origins: 'x' } } }, 'must be an array'],
    [
      '/properties/plugins/platformSecurity/users/0',
      { plugins: { platformSecurity: { enabled: true, users: ['x'] } } },
      'must be a UUID',
    ],
    ['/properties/plugins/acmeSecurity/enabled', { plugins: { acmeSecurity: { users: [] } } }, 'is required'],
    ['/properties/whitelist/0', { whitelist: ['localhost'] }, 'must be an address or a CIDR range'],
    ['/properties/whitelist/0', { whitelist: ['10.0.0.300'] }, 'must be an address or a CIDR range'],
    ['/properties/hosts/0', { hosts: ['https://a.example/'] }],
    ['/properties/hosts/1', { hosts: ['a.example', '%zz'] }, 'must be a host name'],
    ['/properties/hosts/0', { hosts: ['?a=b#c'] }, 'must be a host name'],
    ['/properties/hosts/0', { hosts: ['user@a.example'] }, 'must be a host name'],
    ['/properties/hosts/0', { hosts: ['a.example:99999'] }, 'must be a host name'],
    ['/properties/hosts/0', { hosts: ['[1'] }, 'must be a host name'],
    ['/properties/hosts/0', { hosts: ['*.a.example'] }, 'must be a host name'],
    ['/properties/hosts/0', { hosts: ['a'.repeat(300)] }],
    ['/properties/colour', { colour: 'red' }, 'is not a known member'],
  ])('refuses at %s: %j', async (pointer, change, message?: string) => {
    expect(await post(await makeApi(), toLambda(change))).toMatchObject(refusal(400, pointer, message));
  });

  it.each([
    { plugins: { rateLimit: { enabled: false, perMinute: -5 } } },
    { plugins: { rateLimit: { enabled: false } } },
    { plugins: { acmeSecurity: { enabled: true, users: [], groups: [UNKNOWN_ID], note: 1 } } },
    { whitelist: ['10.0.0.1', 'fd00::/8'] },
    { methods: [] },
    { hosts: ['a.example:8080', 'b_c.example', '[2001:db8::1]', 'bücher.example'] },
    { resource: '/Ünïcode/%20' },
  ])('takes %j (D-083, D-155)', async (change) => {
    expect((await create(await makeApi(), toLambda(change))).properties).toMatchObject(change);
  });

  it('is created in an API: 422 in one that is unknown, no route elsewhere', async () => {
    const body = { name: 'stray', properties: toLambda() };
    expect(await root.post(`/acme/apis/${UNKNOWN_ID}/apiendpoints`, body)).toMatchObject(refusal(422));
    expect(await root.post(`/nowhere/apis/${UNKNOWN_ID}/apiendpoints`, body)).toMatchObject(refusal(404));
    expect(await root.post('/acme/apiendpoints', body)).toMatchObject(refusal(404));
    expect(await root.post(`/acme/lambdas/${lambda.id}/apiendpoints`, body)).toMatchObject(refusal(404));
  });

  it('exported and posted below another API is the same but for its place', async () => {
    const source = await create(
      await makeApi(),
      toLambda({ methods: ['POST'], plugins: { rateLimit: { enabled: false } } }),
    );
    const elsewhere = await makeApi('exported');
    const { id: _, ...exported } = (await root.get(pathOf(source))).body;
    const copy = await root.create(`/acme/apis/${elsewhere.id}/apiendpoints`, exported);
    expect(copy.properties).toEqual({
      ...source.properties,
      public_url: `${platform.emulator.gatewayUrl}/exported/x`,
      parent: expect.objectContaining({ name: 'exported' }),
    });
  });

  it('has no PUT', async () => {
    const endpoint = await create(await makeApi(), toLambda());
    expect(await root.put(pathOf(endpoint), endpoint)).toMatchObject(refusal(404));
  });
});

describe('an endpoint in patches (D-098)', () => {
  it('is re-pointed, with its upstream_url recomputed', async () => {
    const endpoint = await create(await makeApi(), toLambda());
    const other = await root.create(`${tenant.environment}/lambdas`, lambdaBody(tenant, 'other target'));
    const { status, body } = await patch(endpoint, {
      op: 'replace',
      path: '/properties/implementation_id',
      value: other.id,
    });
    expect(status).toBe(200);
    expect(body.properties.upstream_url).toContain(other.id);
  });

  it('is checked as a create is', async () => {
    const endpoint = await create(await makeApi(), toLambda());
    expect(await patch(endpoint, { op: 'remove', path: '/properties/resource' })).toMatchObject(
      refusal(400, '/properties/resource'),
    );
    expect(await patch(endpoint, { op: 'replace', path: '/properties/public_url', value: 'x' })).toMatchObject(
      refusal(422, '/properties/public_url'),
    );
    expect((await root.get(pathOf(endpoint))).body).toEqual(endpoint);
  });

  it('stays when its target is deleted, and can still be read, re-pointed and left as it is (D-130)', async () => {
    const doomed = await root.create(`${tenant.environment}/lambdas`, lambdaBody(tenant, 'doomed'));
    const endpoint = await create(await makeApi(), toLambda({ implementation_id: doomed.id }));
    expect((await root.delete(`/acme/lambdas/${doomed.id}`)).status).toBe(204);
    const { status, body } = await root.get(pathOf(endpoint));
    expect(status).toBe(200);
    expect(body.properties.implementation_id).toBe(doomed.id);
    expect(body.properties).not.toHaveProperty('upstream_url');
    expect(await root.patch(pathOf(endpoint), [])).toMatchObject({ status: 200, body });
    const repointed = await patch(endpoint, {
      op: 'replace',
      path: '/properties/implementation_id',
      value: lambda.id,
    });
    expect(repointed.status).toBe(200);
  });
});

describe('two endpoints that would answer the same request (D-061)', () => {
  it('are a conflict: same API name, same path, overlapping methods, whatever the hosts', async () => {
    const api = await makeApi();
    await create(api, toLambda({ resource: '/a', methods: ['GET', 'POST'] }));
    for (const other of [
      { resource: '/a', methods: ['post'] },
      { resource: '/a/', methods: ['GET'] },
      { resource: '/a' },
      { resource: '/a', methods: [] },
      { resource: '/%61', methods: ['GET'] },
      { resource: '/a', methods: ['GET'], hosts: ['a.example'] },
    ]) {
      expect(await post(api, toLambda(other)), JSON.stringify(other)).toMatchObject(refusal(409));
    }
    for (const other of [
      { resource: '/a', methods: ['PUT'] },
      { resource: '/A', methods: ['GET'] },
      { resource: '/a/b', methods: ['GET'] },
      { resource: '/', methods: ['GET'] },
    ]) {
      expect((await post(api, toLambda(other))).status, JSON.stringify(other)).toBe(201);
    }
  });

  it('are compared by their hosts when they have no resource', async () => {
    const api = await makeApi();
    await create(api, toLambda({ resource: undefined, hosts: ['a.example', 'b.example'] }));
    expect(await post(api, toLambda({ resource: undefined, hosts: ['B.example'] }))).toMatchObject(refusal(409));
    expect((await post(api, toLambda({ resource: undefined, hosts: ['c.example'] }))).status).toBe(201);
  });

  it('are compared among all APIs of that name, and when an API or an endpoint changes', async () => {
    const first = await makeApi('shared');
    await create(first, toLambda());
    const test = await withEnvironment(root, tenant, 'test');
    const second = await makeApi('shared', {}, test);
    expect(await post(second, toLambda())).toMatchObject(refusal(409));
    const other = await create(second, toLambda({ resource: '/y' }));
    expect(await patch(other, { op: 'replace', path: '/properties/resource', value: '/x' })).toMatchObject(
      refusal(409),
    );
    const third = await makeApi('apart', {}, test);
    await create(third, toLambda());
    const rename = (value: string) => root.patch(`/acme/apis/${third.id}`, [{ op: 'replace', path: '/name', value }]);
    expect(await rename('shared')).toMatchObject(refusal(409));
    expect((await rename('apart-still')).status).toBe(200);
    expect((await root.get(`/acme/apis/${third.id}/apiendpoints?expand=true`)).body[0].properties.public_url).toBe(
      `${platform.emulator.gatewayUrl}/apart-still/x`,
    );
  });

  it('have different names in one API, or are a conflict too (D-184)', async () => {
    const api = await makeApi();
    await create(api, toLambda({ resource: '/1' }), 'same');
    expect(await post(api, toLambda({ resource: '/2' }), 'same')).toMatchObject(refusal(409));
    expect((await post(await makeApi(), toLambda({ resource: '/2' }), 'same')).status).toBe(201);
  });
});

describe('any brand’s key for the security plugin (D-083)', () => {
  it('means the same, and is echoed and patched under the key that was sent', async () => {
    const endpoint = await create(
      await makeApi(),
      toLambda({ plugins: { acmeSecurity: { enabled: true, users: [], groups: [] } } }),
    );
    expect(endpoint.properties.plugins).toEqual({ acmeSecurity: { enabled: true, users: [], groups: [] } });
    const patched = await patch(endpoint, {
      op: 'add',
      path: '/properties/plugins/acmeSecurity/users/-',
      value: UNKNOWN_ID,
    });
    expect(patched.body.properties.plugins.acmeSecurity.users).toEqual([UNKNOWN_ID]);
    expect(
      await patch(endpoint, { op: 'replace', path: '/properties/plugins/platformSecurity/enabled', value: false }),
    ).toMatchObject(refusal(422));
    expect(
      await patch(endpoint, { op: 'add', path: '/properties/plugins/platformSecurity', value: { enabled: true } }),
    ).toMatchObject(refusal(400));
  });

  it('is refused twice in one object, or malformed', async () => {
    const api = await makeApi();
    const twice = { acmeSecurity: { enabled: true }, otherSecurity: { enabled: true } };
    expect(await post(api, toLambda({ plugins: twice }))).toMatchObject(
      refusal(400, '/properties/plugins/otherSecurity', 'means the same as acmeSecurity'),
    );
    expect(await post(api, toLambda({ plugins: { acmeSecurity: { enabled: 'yes' } } }))).toMatchObject(
      refusal(400, '/properties/plugins/acmeSecurity/enabled'),
    );
  });
});

describe('the public URL (D-150)', () => {
  const publicUrl = async (api: Body, properties: object = {}) => {
    const endpoint = await create(api, toLambda(properties));
    return endpoint.properties.public_url;
  };
  const makeGateway = (name: string, config: object) =>
    root.create('/acme/providers', { name, resource_type: KONG, properties: { config } });

  it('is that of the gateway the API names, with its protocol and host', async () => {
    const gateway = await makeGateway('public', {
      external_protocol: 'https',
      env: { public: { PUBLIC_URL_VHOST_0: 'api.acme.example' } },
    });
    const api = await makeApi('vhosted', { provider: { id: tenant.gateways, locations: [gateway.id] } });
    expect(await publicUrl(api, { resource: '/a' })).toBe('https://api.acme.example/vhosted/a');
    expect(await publicUrl(api, { resource: '/b', hosts: ['shop.example', 'x.example'] })).toBe(
      'https://shop.example/vhosted/b',
    );
    expect(await publicUrl(api, { resource: undefined, hosts: ['shop.example'] })).toBe('https://shop.example');

    await root.patch(`/acme/providers/${gateway.id}`, [
      { op: 'replace', path: '/properties/config/external_protocol', value: 'http' },
    ]);
    const [first] = (await root.get(`/acme/apis/${api.id}/apiendpoints?expand=true`)).body;
    expect(first.properties.public_url).toBe('http://api.acme.example/vhosted/a');
  });

  it('is that of the gateway that its manager links, or else of the nearest (D-058)', async () => {
    const config = (vhost: string) => ({ env: { public: { PUBLIC_URL_VHOST_0: vhost } } });
    const makeManager = (name: string, linked_providers: object[]) =>
      root.create('/acme/providers', { name, resource_type: MANAGER, properties: { linked_providers } });
    const linked = await makeGateway('linked', config('linked.example'));
    const linking = await makeManager('linking', [{ id: tenant.docker }, { id: linked.id }]);
    expect(await publicUrl(await makeApi('by-link', { provider: { id: linking.id } }))).toBe(
      'http://linked.example/by-link/x',
    );
    const near = await withEnvironment(root, tenant, 'test', 'near');
    const properties = { config: config('near.example') };
    await root.create(`${near.environment}/providers`, { name: 'near', resource_type: KONG, properties });
    const silent = await makeManager('linking-none', []);
    expect(await publicUrl(await makeApi('by-place', { provider: { id: silent.id } }, near))).toBe(
      'http://near.example/by-place/x',
    );
  });

  it('is that of the gateway listener where a gateway gives no address, or the location is none', async () => {
    const silent = await makeGateway('silent', {});
    for (const locations of [[silent.id], [UNKNOWN_ID], []]) {
      const api = await makeApi(undefined, { provider: { id: tenant.gateways, locations } });
      expect(await publicUrl(api)).toBe(`${platform.emulator.gatewayUrl}/${api.name}/x`);
    }
  });
});
