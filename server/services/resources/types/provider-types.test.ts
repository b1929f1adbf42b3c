import { beforeAll, describe, expect, it } from 'vitest';
import { refusal, sharedPlatform } from '../../../testing/platform.ts';
import { KONG, namesOf, PROVIDER, providersOf } from '../../../testing/sample-provider.ts';
import { createTenant, type Tenant } from '../../../testing/tenant.ts';

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';
const LOGGING = `${PROVIDER}::Logging`;
const LOGGING_ID = 'e1782fef-4b7c-4f75-b8b8-6e6e2ecd82b2';
/** D-081. */
const SUB_TYPES =
  'Logging CaaS::ECS Lambda::AWS GatewayManager::AWS StreamProvider Catalog Git CaaS CaaS::Docker CaaS::Kubernetes ' +
  'CaaS::DCOS CaaS::Swarm Lambda Lambda::Executor Lambda::Executor::NodeJS Lambda::Executor::JavaScript ' +
  'Lambda::Executor::Java Lambda::Executor::Python Lambda::Executor::Ruby Lambda::Executor::DotNet ' +
  'Lambda::Executor::GoLang Lambda::Executor::Bash GatewayManager Kong Policy Security Data Data::PostgreSQL Messaging ' +
  'Messaging::RabbitMQ ActionProvider';

const { root } = sharedPlatform();
let tenant: Tenant;
beforeAll(async () => {
  tenant = await createTenant(root, 'acme');
});

const { bodyOf, create, read, patch } = providersOf(() => root);

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
    ['an unknown id', UNKNOWN_ID],
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
    await at(tenant.workspace, 'of-workspace');
    await at(tenant.environment, 'of-environment');
    const providerNames = async (path: string) =>
      namesOf((await root.get(`${path}/providers`)).body).filter((name: string) => /^of-|^default-gateway$/.test(name));
    expect(await providerNames('/root')).toEqual(['default-gateway']);
    expect(await providerNames('/acme')).toEqual(['default-gateway', 'of-acme']);
    expect(await providerNames('/acme.sub')).toEqual(['default-gateway', 'of-acme', 'of-sub']);
    expect(await providerNames(tenant.workspace)).toEqual(['default-gateway', 'of-acme', 'of-workspace']);
    expect(await providerNames(tenant.environment)).toEqual([
      'default-gateway',
      'of-acme',
      'of-workspace',
      'of-environment',
    ]);
  });

  it('can be asked for by type: a trailing part of its name, the full name or the id; groups include what is in them', async () => {
    await root.create('/orgs', { name: 'typed' });
    for (const name of SUB_TYPES.split(' ')) {
      await root.create('/typed/providers', { name: `t ${name}`, resource_type: `${PROVIDER}::${name}` });
    }
    const providerTypes = async (type: string) => {
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
    for (const group of ['CaaS', 'Data', 'Messaging']) expect(await providerTypes(group), group).toEqual(within(group));
    expect(await providerTypes('Executor')).toEqual(within('Lambda::Executor'));
    expect(await providerTypes('Lambda')).toEqual(['Lambda', 'Lambda::AWS']);
    expect(await providerTypes('CaaS::Docker')).toEqual(['CaaS::Docker']);
    expect(await providerTypes('GatewayManager')).toEqual(['GatewayManager']);
    for (const typeName of ['Kong', 'Logging']) expect(await providerTypes(typeName)).toEqual([typeName]);
    expect(await providerTypes('Anything::Configuration::Provider::CaaS')).toEqual(within('CaaS'));
    expect(await providerTypes(LOGGING_ID)).toEqual(['Logging']);
    for (const type of ['Toaster', 'kong', '', 'Platform::Resource::Container', UNKNOWN_ID]) {
      expect(await root.get(`/typed/providers?type=${type}`), type).toMatchObject(refusal(400));
      expect(await root.get(`${tenant.environment}/providers?type=${type}`), type).toMatchObject(refusal(400));
    }
  });
});
