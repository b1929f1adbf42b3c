import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { refusalOf, WorldForTests } from './world-for-tests.ts';

const NOBODY = '11111111-2222-4333-8444-555555555555';

function setting() {
  const world = new WorldForTests();
  const { workspace, environment, docker, lambdas } = world.withEnvironment();
  const lambda = world.create('lambdas', {
    under: environment,
    properties: { provider: { id: lambdas.id }, runtime: 'nodejs', code_type: 'inline', code: 'x', handler: 'run' },
  });
  const container = world.create('containers', {
    under: environment,
    name: 'web',
    properties: {
      container_type: 'DOCKER',
      image: 'nginx',
      provider: { id: docker.id },
      port_mappings: [
        { protocol: 'tcp', name: 'http', container_port: 80, expose_endpoint: true },
        { protocol: 'tcp', name: 'inner', container_port: 81 },
      ],
    },
  });
  const api = world.create('apis', { under: environment, name: 'forms' });
  const toLambda = { resource: '/lead', implementation_type: 'lambda', implementation_id: lambda.id };
  const create = (properties: JsonObject, under = api) =>
    world.create('apiendpoints', { under, properties: { ...toLambda, ...properties } });
  return { world, workspace, environment, lambda, container, api, toLambda, create };
}

test('what is sent is stored as sent, with the id in lower case (D-014, D-027)', () => {
  const { create, lambda, toLambda } = setting();
  const sent = { methods: ['post'], plugins: { rateLimit: { enabled: true, perMinute: 60 }, other: { a: null } } };
  const endpoint = create({ ...sent, implementation_id: lambda.id.toUpperCase() });
  expect(endpoint.properties).toEqual({ ...toLambda, ...sent });
});

test.each([
  [{ resource: 'lead' }, '/properties/resource', 'must start with /'],
  [{ resource: '/a?b' }, '/properties/resource', 'must hold no'],
  [{ resource: '/a#b' }, '/properties/resource', 'must hold no'],
  [{ resource: '/a/../b' }, '/properties/resource', 'must hold no'],
  [{ resource: '/a/%2e%2e/b' }, '/properties/resource', 'must hold no'],
  [{ resource: '/%zz' }, '/properties/resource', 'must hold no'],
  [{ resource: undefined }, '/properties/resource', 'is required unless hosts'],
  [{ resource: undefined, hosts: [] }, '/properties/resource', 'is required unless hosts'],
  [{ implementation_type: 'job' }, '/properties/implementation_type', 'must be one of lambda, container'],
  [{ implementation_id: NOBODY }, '/properties/implementation_id', 'names no lambda'],
  [{ implementation_type: 'container' }, '/properties/implementation_id', 'names no container'],
  [{ methods: ['FETCH'] }, '/properties/methods/0', 'must be one of GET'],
  [{ whitelist: ['10.0.0.300'] }, '/properties/whitelist/0', 'must be an address or a CIDR range'],
  [{ colour: 'red' }, '/properties/colour', 'is not a known member'],
  [{ plugins: { rateLimit: { enabled: true } } }, '/properties/plugins/rateLimit/perMinute', 'is required'],
  [
    { plugins: { rateLimit: { enabled: true, perMinute: 0 } } },
    '/properties/plugins/rateLimit/perMinute',
    'at least 1',
  ],
  [{ plugins: { cors: { credentials: true } } }, '/properties/plugins/cors/origins', 'must name the origins'],
  [
    { plugins: { cors: { credentials: true, origins: ['*'] } } },
    '/properties/plugins/cors/origins',
    'must name the origins',
  ],
  [{ plugins: { rateLimit: { enabled: false, perMinute: 1.5 } } }, '/properties/plugins/rateLimit/perMinute', 'whole'],
  [{ plugins: { cors: { origins: 'x' } } }, '/properties/plugins/cors/origins', 'must be an array'],
  [
    { plugins: { platformSecurity: { enabled: true, users: ['bob'] } } },
    '/properties/plugins/platformSecurity/users/0',
    'must be a UUID',
  ],
  [{ plugins: { acmeSecurity: { users: [] } } }, '/properties/plugins/acmeSecurity/enabled', 'is required'],
  [
    { plugins: { acmeSecurity: { enabled: true }, otherSecurity: { enabled: true } } },
    '/properties/plugins/otherSecurity',
    'means the same as acmeSecurity',
  ],
])('%j is refused at its place (D-060, D-083, D-155)', (change, pointer, message) => {
  const { world, api, toLambda } = setting();
  // A member that is undefined stands for one that is not sent.
  const properties = JSON.parse(JSON.stringify({ ...toLambda, ...change }));
  const refusal = refusalOf(() => world.create('apiendpoints', { under: api, properties }));
  expect(refusal).toMatchObject({ status: 400, pointer });
  expect(refusal.message).toContain(message);
});

test.each([
  { plugins: { rateLimit: { enabled: false, perMinute: -5 } } },
  { plugins: { rateLimit: { enabled: false } } },
  { plugins: { acmeSecurity: { enabled: true, users: [], groups: [NOBODY], note: 1 } } },
  { whitelist: ['10.0.0.1', '10.0.0.0/8', '::1', 'fd00::/8'] },
  { methods: [] },
  { resource: '/Ünïcode/%20' },
])('%j is accepted as sent (D-060, D-083, D-155)', (change) => {
  const { create } = setting();
  expect(create(change).properties).toMatchObject(change);
});

test('a container is addressed by an exposed port (D-060)', () => {
  const { world, create, container, environment } = setting();
  const toPort = (name?: string) => () =>
    create({
      implementation_type: 'container',
      implementation_id: container.id,
      ...(name !== undefined && { container_port_name: name }),
    });
  for (const name of [undefined, 'inner', 'nothing']) {
    expect(refusalOf(toPort(name))).toMatchObject({ status: 400, pointer: '/properties/container_port_name' });
  }
  expect(world.shown(toPort('http')())).toMatchObject({
    upstream_url: `http://web.${environment.id}.svc.cluster.local:80`,
  });
});

describe('two endpoints of APIs of one name (D-061)', () => {
  test.each([
    [{ methods: ['GET'] }, { methods: ['get', 'POST'] }],
    [{}, { methods: ['DELETE'] }],
    [{ methods: [] }, { methods: ['DELETE'] }],
    [{ resource: '/lead' }, { resource: '/lead/' }],
    [{ resource: '/l%65ad' }, { resource: '/lead' }],
    [{ hosts: ['a.example'] }, { hosts: ['b.example'] }],
  ])('conflict when they are %j and %j', (one, other) => {
    const { create } = setting();
    create(one);
    expect(refusalOf(() => create(other))).toMatchObject({ status: 409 });
  });

  test.each([
    [{ methods: ['GET'] }, { methods: ['POST'] }],
    [{ resource: '/lead' }, { resource: '/leads' }],
    [{ resource: '/lead' }, { resource: '/Lead' }],
  ])('live together when they are %j and %j', (one, other) => {
    const { create } = setting();
    create(one);
    expect(create(other)).toBeDefined();
  });

  test('are compared by their hosts when they have no resource', () => {
    const { world, api, toLambda } = setting();
    const { resource: _, ...rest } = toLambda;
    const create = (...hosts: string[]) => world.create('apiendpoints', { under: api, properties: { ...rest, hosts } });
    create('a.example', 'b.example');
    expect(refusalOf(() => create('B.example'))).toMatchObject({ status: 409 });
    expect(create('c.example')).toBeDefined();
  });

  test('are compared across environments, and when an API is renamed', () => {
    const { world, workspace, create } = setting();
    const production = world.create('environments', {
      under: workspace,
      properties: { environment_type: 'production' },
    });
    const [same, other] = ['forms', 'other'].map((name) => world.create('apis', { under: production, name }));
    if (!same || !other) throw new Error('two names make two APIs');
    const first = create({});
    expect(refusalOf(() => create({}, same))).toMatchObject({ status: 409 });
    create({}, other);
    expect(refusalOf(() => world.update(other, {}, 'forms'))).toMatchObject({ status: 409 });
    expect(world.update(other, {}, 'free').name).toBe('free');
    expect(world.update(first, first.properties)).toEqual(first);
  });
});

describe('the public URL (D-150)', () => {
  const gateway = (world: WorldForTests, vhost: string) =>
    world.create('providers', {
      type: 'Configuration::Provider::Kong',
      properties: { config: { external_protocol: 'https', env: { public: { PUBLIC_URL_VHOST_0: vhost } } } },
    });

  test('is that of the gateway listener when no gateway provider says otherwise', () => {
    const { world, create } = setting();
    expect(world.shown(create({})).public_url).toBe('http://127.0.0.1:4701/forms/lead');
    world.create('providers', { type: 'Configuration::Provider::Kong' });
    expect(world.shown(create({ resource: '/' })).public_url).toBe('http://127.0.0.1:4701/forms/');
  });

  test('is made from the first gateway visible, the one its manager links, or the one it names (D-058)', () => {
    const { world, create, environment } = setting();
    const [, second, third] = ['one', 'two', 'three'].map((name) => gateway(world, `${name}.example`));
    if (!second || !third) throw new Error('three names make three gateways');
    const endpoint = create({});
    const url = () => world.shown(endpoint).public_url;
    expect(url()).toBe('https://one.example/forms/lead');

    const manager = world.create('providers', {
      type: 'Configuration::Provider::GatewayManager',
      properties: { linked_providers: [{ id: second.id }] },
    });
    expect(url()).toBe('https://two.example/forms/lead');

    const provider = { id: manager.id, locations: [third.id] };
    const named = world.create('apis', { under: environment, name: 'named', properties: { provider } });
    expect(world.shown(create({}, named))).toMatchObject({
      public_url: 'https://three.example/named/lead',
      provider,
      location_id: third.id,
    });
  });

  test('begins with the first host, and is nothing but the host without a resource', () => {
    const { world, create, api, toLambda } = setting();
    const { resource: _, ...rest } = toLambda;
    const hosts = ['forms.example', 'other.example'];
    expect(world.shown(create({ hosts })).public_url).toBe('http://forms.example/forms/lead');
    const bare = world.create('apiendpoints', { under: api, properties: { ...rest, hosts } });
    expect(world.shown(bare).public_url).toBe('http://forms.example');
  });
});

test('an endpoint keeps naming a deleted target, and can still be shown (D-130)', () => {
  const { world, create, lambda } = setting();
  const endpoint = create({});
  expect(world.view.referrers(lambda.id)).toEqual([endpoint]);
  expect(world.forget(endpoint, lambda)).toBeUndefined();
  world.remove(lambda);
  expect(world.shown(endpoint)).toMatchObject({ implementation_id: lambda.id });
  expect(world.shown(endpoint)).not.toHaveProperty('upstream_url');
});

test("a deleted user or group leaves the security plugin's lists, under any brand's key (D-072, D-083)", () => {
  const { world, create } = setting();
  const someone = world.create('users', { properties: { password: 'x' } });
  const staff = world.create('groups');
  const acmeSecurity = { enabled: true, users: [someone.id, NOBODY], groups: [staff.id], note: 1 };
  const endpoint = create({ plugins: { acmeSecurity, cors: {} } });

  expect(world.view.referrers(someone.id)).toEqual([endpoint]);
  expect(world.forget(endpoint, someone)?.plugins).toEqual({
    acmeSecurity: { ...acmeSecurity, users: [NOBODY] },
    cors: {},
  });
  expect(world.forget(endpoint, staff)?.plugins).toEqual({ acmeSecurity: { ...acmeSecurity, groups: [] }, cors: {} });
  expect(world.forget(endpoint, world.root)).toBeUndefined();
});
