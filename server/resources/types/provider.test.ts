import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Body,
  containerBody,
  grant,
  makePlace,
  makeUser,
  otherEnvironment,
  type Place,
} from '../../../e2e/place.ts';
import { type Platform, refusal, startPlatform, type Voice } from '../../../e2e/platform.ts';

const NOBODY = '00000000-0000-4000-8000-000000000000';
const PROVIDER = 'Platform::Configuration::Provider';
const KONG = `${PROVIDER}::Kong`;
const LOGGING = `${PROVIDER}::Logging`;
const LOGGING_ID = 'e1782fef-4b7c-4f75-b8b8-6e6e2ecd82b2';
/** D-081. */
const SUB_TYPES =
  'Logging CaaS::ECS Lambda::AWS GatewayManager::AWS StreamProvider Catalog Git CaaS CaaS::Docker CaaS::Kubernetes ' +
  'CaaS::DCOS CaaS::Swarm Lambda Lambda::Executor Lambda::Executor::NodeJS Lambda::Executor::JavaScript ' +
  'Lambda::Executor::Java Lambda::Executor::Python Lambda::Executor::Ruby Lambda::Executor::DotNet ' +
  'Lambda::Executor::GoLang Lambda::Executor::Bash GatewayManager Kong Policy Security Data Data::PostgreSQL Messaging ' +
  'Messaging::RabbitMQ ActionProvider';

let platform: Platform;
let root: Voice;
let place: Place;
beforeAll(async () => {
  platform = await startPlatform();
  root = platform.root;
  place = await makePlace(root, 'acme');
});
afterAll(() => platform?.stop());

let made = 0;
const bodyOf = (properties: object = {}, more: object = {}) => ({
  name: `provider-${made++}`,
  resource_type: KONG,
  properties,
  ...more,
});
const create = (properties: object = {}, more: object = {}): Promise<Body> =>
  root.create('/acme/providers', bodyOf(properties, more));
const pathOf = ({ id }: Body) => `/acme/providers/${id}`;
const read = async (provider: Body, query = ''): Promise<Body> => (await root.get(pathOf(provider) + query)).body;
const patch = (provider: Body, ...operations: object[]) => root.patch(pathOf(provider), operations);
const namesOf = (list: Body) => list.map(({ name }: { name: string }) => name);

describe('what a provider holds (D-063)', () => {
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
          container_spec: { name: 'kong', properties: { provider: { id: NOBODY } } },
        },
      ],
      environments: [NOBODY],
      locations: [{ name: 'here', enabled: true }],
      data: 'text',
      schema: { any: 'thing' },
      colour: { of: 'mine' },
    };
    const provider = await create(properties);
    const { parent, ...shown } = provider.properties;
    expect(shown).toEqual(properties);
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
    const wrong = { type: 'Other::Thing', typeId: NOBODY };
    const provider = await create({ linked_providers: [{ id: logs.id, location: 'here', ...wrong }] });
    expect(provider.properties.linked_providers).toEqual([
      { id: logs.id, location: 'here', name: 'logs', type: LOGGING, typeId: LOGGING_ID },
    ]);
    const cleared = await patch(provider, { op: 'replace', path: '/properties/linked_providers', value: [] });
    expect(cleared.body.properties.linked_providers).toEqual([]);
  });

  it('refuses a link to what is no provider with 422, in a create as in a patch', async () => {
    for (const id of [NOBODY, place.environmentId]) {
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
      { op: 'replace', path: '/properties/linked_providers', value: [{ id: place.docker }] },
    );
    expect(status).toBe(200);
    expect(body.name).toBe(`${provider.name}-renamed`);
    expect(body.properties).toMatchObject({
      environment_types: ['test'],
      linked_providers: [{ id: place.docker, name: 'default-docker', type: `${PROVIDER}::CaaS::Docker` }],
    });
    expect(await patch(provider, { op: 'replace', path: '/properties/data', value: 'x' })).toMatchObject(refusal(422));
  });

  it('exported and posted elsewhere is the same but for its place', async () => {
    const source = await create({ config: { a: [null] }, linked_providers: [{ id: place.docker, location: 'x' }] });
    const { id: _, ...exported } = await read(source);
    const copy = await root.create(`${place.workspace}/providers`, exported);
    expect({ ...copy.properties, parent: 0 }).toEqual({ ...source.properties, parent: 0 });
    expect(copy).toMatchObject({ name: source.name, resource_type: KONG });
  });
});

describe('the type of a provider (D-064, D-082)', () => {
  it('can be any of the table', async () => {
    for (const name of SUB_TYPES.split(' ')) {
      const resource_type = `${PROVIDER}::${name}`;
      const provider = await create({}, { resource_type });
      expect(provider.resource_type).toBe(resource_type);
      const patched = await patch(provider, { op: 'add', path: '/properties/config', value: { a: 1 } });
      expect(patched, name).toMatchObject({ status: 200, body: { resource_type, properties: { config: { a: 1 } } } });
      expect(await read(provider)).toEqual(patched.body);
    }
  });

  it.each([
    ['missing', undefined],
    ['null', null],
    ['abstract', PROVIDER],
    ['unknown', `${PROVIDER}::Toaster`],
    ['in another letter case', `${PROVIDER}::kong`],
    ['of another resource', 'Platform::Resource::Container'],
    ['an unknown id', NOBODY],
  ])('is refused when it is %s', async (_, resource_type) => {
    expect(await root.post('/acme/providers', bodyOf({}, { resource_type }))).toMatchObject(
      refusal(400, '/resource_type'),
    );
  });

  it('is no part of the name’s uniqueness', async () => {
    const { name } = await create();
    expect(await root.post('/acme/providers', { name, resource_type: LOGGING })).toMatchObject(refusal(409));
    expect((await root.post('/root/providers', { name, resource_type: LOGGING })).status).toBe(201);
    const other = await create();
    expect(await patch(other, { op: 'replace', path: '/name', value: name })).toMatchObject(refusal(409));
  });
});

describe('the providers that a place sees (D-065)', () => {
  it('are its own and those of all above', async () => {
    const at = async (path: string, name: string) => root.create(`${path}/providers`, { name, resource_type: KONG });
    await root.create('/acme', { name: 'sub' });
    await at('/acme', 'of-acme');
    await at('/acme.sub', 'of-sub');
    await at(place.workspace, 'of-workspace');
    await at(place.environment, 'of-environment');
    const seen = async (path: string) =>
      namesOf((await root.get(`${path}/providers`)).body).filter((name: string) => /^of-|^default-gateway$/.test(name));
    expect(await seen('/root')).toEqual(['default-gateway']);
    expect(await seen('/acme')).toEqual(['default-gateway', 'of-acme']);
    expect(await seen('/acme.sub')).toEqual(['default-gateway', 'of-acme', 'of-sub']);
    expect(await seen(place.workspace)).toEqual(['default-gateway', 'of-acme', 'of-workspace']);
    expect(await seen(place.environment)).toEqual(['default-gateway', 'of-acme', 'of-workspace', 'of-environment']);
  });

  it('can be asked for by type: a trailing part of its name, the full name or the id; groups include what is in them', async () => {
    await root.create('/orgs', { name: 'typed' });
    for (const name of SUB_TYPES.split(' ')) {
      await root.create('/typed/providers', { name: `t ${name}`, resource_type: `${PROVIDER}::${name}` });
    }
    const asked = async (type: string) => {
      const { status, body } = await root.get(`/typed/providers?type=${encodeURIComponent(type)}`);
      expect(status, type).toBe(200);
      return namesOf(body)
        .filter((name: string) => name.startsWith('t '))
        .map((name: string) => name.slice(2))
        .sort();
    };
    const within = (...groups: string[]) =>
      SUB_TYPES.split(' ')
        .filter((name) => groups.some((group) => name === group || name.startsWith(`${group}::`)))
        .sort();
    for (const group of ['CaaS', 'Data', 'Messaging']) expect(await asked(group), group).toEqual(within(group));
    expect(await asked('Executor')).toEqual(within('Lambda::Executor'));
    expect(await asked('Lambda')).toEqual(['Lambda', 'Lambda::AWS']);
    expect(await asked('CaaS::Docker')).toEqual(['CaaS::Docker']);
    expect(await asked('GatewayManager')).toEqual(['GatewayManager']);
    for (const one of ['Kong', 'Logging']) expect(await asked(one)).toEqual([one]);
    expect(await asked('Anything::Configuration::Provider::CaaS')).toEqual(within('CaaS'));
    expect(await asked(LOGGING_ID)).toEqual(['Logging']);
    for (const type of ['Toaster', 'kong', '', 'Platform::Resource::Container', NOBODY]) {
      expect(await root.get(`/typed/providers?type=${type}`), type).toMatchObject(refusal(400));
      expect(await root.get(`${place.environment}/providers?type=${type}`), type).toMatchObject(refusal(400));
    }
  });
});

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
      `${place.environment}/containers`,
      containerBody(place, 'embedding', {
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

  it('are shown with showcredentials=true to whoever may update the provider, and to nobody else', async () => {
    const provider = await create({ config });
    expect((await read(provider, '?showcredentials=true')).properties.config).toEqual(config);
    expect((await read(provider, '?showcredentials=false')).properties.config).toEqual(masked);
    const list = await root.get(`/acme/providers?expand=true&showcredentials=true&name=${provider.name}`);
    expect(list.body[0].properties.config).toEqual(config);
    expect(await root.get(`${pathOf(provider)}?showcredentials=yes`)).toMatchObject(refusal(400));

    const viewer = await makeUser(platform, 'viewer');
    await grant(root, pathOf(provider), 'provider.view', viewer.id);
    const seen = await viewer.voice.get(`${pathOf(provider)}?showcredentials=true`);
    expect(seen).toMatchObject({ status: 200, body: { properties: { config: masked } } });
    await grant(root, pathOf(provider), 'provider.update', viewer.id);
    const trusted = await viewer.voice.get(`${pathOf(provider)}?showcredentials=true`);
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

describe('initialize (D-067, D-068)', () => {
  const initialize = () => root.post('/root/providers/initialize');
  const DEFAULTS: Record<string, [type: string, ...linked: string[]]> = {
    'default-docker': ['CaaS::Docker', 'default-logging'],
    'default-lambda': ['Lambda', 'default-logging', 'nodejs-executor'],
    'nodejs-executor': ['Lambda::Executor::NodeJS'],
    'default-gateway': ['Kong'],
    'default-gateway-manager': ['GatewayManager', 'default-gateway'],
    'default-logging': ['Logging'],
  };

  it('answers with links of all defaults, and creates nothing twice', async () => {
    const before = (await root.get('/root/providers?expand=true')).body;
    const { status, body } = await initialize();
    expect(status).toBe(200);
    expect(body.status).toBe('initialized');
    expect(namesOf(body.providers).sort()).toEqual(Object.keys(DEFAULTS).sort());
    for (const link of body.providers) {
      expect(link).toEqual({
        typeId: expect.any(String),
        id: expect.any(String),
        name: expect.any(String),
        href: `${platform.emulator.metaUrl}/root/providers/${link.id}`,
      });
    }
    expect((await root.get('/root/providers?expand=true')).body).toEqual(before);
  });

  it('makes each of its type, for all types of environments, linked as it has to be', async () => {
    for (const [name, [type, ...linked]] of Object.entries(DEFAULTS)) {
      const [found] = (await root.get(`/root/providers?expand=true&name=${name}`)).body;
      expect(found.resource_type, name).toBe(`${PROVIDER}::${type}`);
      expect(found.properties.environment_types, name).toEqual(['development', 'test', 'production']);
      expect(namesOf(found.properties.linked_providers).sort(), name).toEqual(linked.sort());
    }
    const configOf = async (name: string) =>
      (await root.get(`/root/providers?expand=true&name=${name}`)).body[0].properties.config;
    const { protocol, host } = new URL(platform.emulator.gatewayUrl);
    expect(await configOf('nodejs-executor')).toMatchObject({ env: { public: { RUNTIME: 'nodejs' } } });
    expect(await configOf('default-docker')).toEqual({ networks: [{ name: 'default' }] });
    expect(await configOf('default-gateway')).toMatchObject({
      external_protocol: protocol.slice(0, -1),
      env: { public: { PUBLIC_URL_VHOST_0: host } },
    });
  });

  it('leaves a default that was renamed or patched, and creates a deleted one again with the same id', async () => {
    const [logging] = (await root.get('/root/providers?name=default-logging')).body;
    const path = `/root/providers/${logging.id}`;
    await root.patch(path, [
      { op: 'replace', path: '/name', value: 'my-logs' },
      { op: 'add', path: '/properties/config', value: { a: 1 } },
    ]);
    const patched = (await root.get(path)).body;
    expect(namesOf((await initialize()).body.providers)).toContain('my-logs');
    expect((await root.get(path)).body).toEqual(patched);
    expect((await root.get('/root/providers?name=default-logging')).body).toEqual([]);

    expect((await root.delete(path)).status).toBe(204);
    await initialize();
    expect((await root.get(path)).body).toMatchObject({ id: logging.id, name: 'default-logging' });
  });

  it('takes another provider of the same name and type as present', async () => {
    const [executor] = (await root.get('/root/providers?name=nodejs-executor')).body;
    await root.delete(`/root/providers/${executor.id}`);
    const body = { name: 'nodejs-executor', resource_type: `${PROVIDER}::Lambda::Executor::NodeJS` };
    const own = await root.create('/root/providers', body);
    const { status, body: answer } = await initialize();
    expect(status).toBe(200);
    expect(answer.providers.map(({ id }: { id: string }) => id)).toContain(own.id);
    expect((await root.get('/root/providers?name=nodejs-executor')).body).toHaveLength(1);
  });

  it('is a conflict, and creates nothing, when a name is taken by another type', async () => {
    const [logging] = (await root.get('/root/providers?name=default-logging')).body;
    const [executor] = (await root.get('/root/providers?name=nodejs-executor')).body;
    for (const { id } of [logging, executor]) await root.delete(`/root/providers/${id}`);
    const taken = await root.create('/root/providers', { name: 'nodejs-executor', resource_type: KONG });
    expect(await initialize()).toMatchObject(refusal(409));
    expect((await root.get('/root/providers?name=default-logging')).body).toEqual([]);
    await root.delete(`/root/providers/${taken.id}`);
    expect((await initialize()).status).toBe(200);
  });

  it('is root’s alone, and only at root', async () => {
    const { voice } = await makeUser(platform, 'nobody');
    expect(await voice.post('/root/providers/initialize')).toMatchObject(refusal(403));
    expect(await root.post('/acme/providers/initialize')).toMatchObject(refusal(400));
  });
});

describe('redeploy and actions (D-069)', () => {
  it('redeploy is accepted without effect; an action is not emulated; a POST without one is malformed', async () => {
    const provider = await create();
    expect(await root.post(`${pathOf(provider)}/redeploy`)).toMatchObject({ status: 202, body: '' });
    expect(await read(provider)).toEqual(provider);
    expect(await root.post(`${pathOf(provider)}?action=x`)).toMatchObject(refusal(501));
    expect(await root.post(pathOf(provider))).toMatchObject(refusal(400));
    expect(await root.post(`/acme/providers/${NOBODY}/redeploy`)).toMatchObject(refusal(404));
    expect(await root.post(`/acme/providers/${NOBODY}?action=x`)).toMatchObject(refusal(404));
  });
});

describe('what a provider leaves behind', () => {
  it('is no link of others once it is deleted (D-129)', async () => {
    const logs = await create({}, { resource_type: LOGGING });
    const kept = { id: place.docker };
    const provider = await create({ linked_providers: [{ id: logs.id }, kept] });
    expect((await root.delete(pathOf(logs))).status).toBe(204);
    expect((await read(provider)).properties.linked_providers).toMatchObject([kept]);
  });

  it('stands in an organization, a workspace or an environment, and nowhere else', async () => {
    const test = await otherEnvironment(root, place, 'test');
    for (const at of ['/acme', place.workspace, test.environment]) {
      expect((await root.post(`${at}/providers`, bodyOf())).status, at).toBe(201);
    }
    expect(await root.post(`/acme/providers/${place.docker}/providers`, bodyOf())).toMatchObject(refusal(404));
  });
});
