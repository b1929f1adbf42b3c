import { beforeAll, describe, expect, it } from 'vitest';
import { typeWords } from '../../model/registry.ts';
import { WORKSPACE } from '../../model/rules/hierarchy.ts';
import { typeIdOf } from '../../model/type-names.ts';
import { makeSamples, recordsOf, type Samples } from '../../testing/make-samples.ts';
import { refusal, sharedPlatform } from '../../testing/platform.ts';
import { createTenant, type Tenant } from '../../testing/tenant.ts';

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

const platform = sharedPlatform();
const { root } = platform;
let tenant: Tenant;
let samples: Samples;
beforeAll(async () => {
  tenant = await createTenant(root, 'acme');
  samples = await makeSamples(root, tenant, (await root.get('/users/self')).body.id);
});

const { bodyOf, make, pathOf } = recordsOf(() => ({ root, samples }));

describe('names (D-031, D-184)', () => {
  it('may be any text of 1 to 255 characters where no table is stricter', async () => {
    for (const name of ['a', 'a'.repeat(255), 'Übung № 1 / “x”', ' spaced ', '..', '<script>', "Robert'); --", '数']) {
      expect((await make('workspaces', { name })).name).toBe(name);
    }
  });

  it('are compared by letter case, and only with siblings of the same type', async () => {
    for (const name of ['Case', 'case']) await make('workspaces', { name });
    await make('groups', { name: 'Case' });
    await root.create('/root/workspaces', { name: 'Case' });
  });

  it('of providers are unique whatever the sub-type, of users on the whole platform', async () => {
    const { name } = await make('providers');
    const other = { name, resource_type: 'Platform::Configuration::Provider::Kong' };
    expect((await root.post('/acme/providers', other)).status).toBe(409);
    await root.create('/root/providers', other);
    const user = await make('users');
    expect((await root.post('/root/users', { name: user.name, properties: { password: 'x' } })).status).toBe(409);
  });

  it('are reported with the pointer of the operation', async () => {
    const [first, two] = [await make('workspaces'), await make('workspaces')];
    const rename = (value: unknown) =>
      root.patch(pathOf('workspaces', first), [{ op: 'replace', path: '/name', value }]);
    expect(await rename(two.name)).toMatchObject({ status: 409 });
    expect(await rename('')).toMatchObject(refusal(400, '/name'));
    expect(await rename('free')).toMatchObject({ status: 200, body: { name: 'free' } });
  });
});

describe('the type in a body (D-032, D-080)', () => {
  it('may be a full name with any first segment, or the id of the type', async () => {
    for (const resource_type of ['Platform::Resource::Workspace', 'Acme::Resource::Workspace', typeIdOf(WORKSPACE)]) {
      expect((await make('workspaces', { resource_type })).resource_type).toBe('Platform::Resource::Workspace');
    }
    expect((await make('workspaces', { resource_type: typeIdOf(WORKSPACE).toUpperCase() })).name).toBeDefined();
  });

  it.each([
    'Resource::Workspace',
    'Platform::Resource::workspace',
    'Platform::Resource::User',
    'workspace',
    '',
    UNKNOWN_ID,
  ])('is not %j for a workspace', async (resource_type) => {
    const reply = await root.post('/acme/workspaces', { name: 'refused', resource_type });
    expect(reply).toMatchObject(refusal(400, '/resource_type'));
  });

  it('has to be given for providers (400) and rules (422)', async () => {
    const { resource_type: _, ...provider } = bodyOf('providers');
    expect(await root.post('/acme/providers', provider)).toMatchObject({ status: 400 });
    const abstract = { ...provider, resource_type: 'Platform::Configuration::Provider' };
    expect(await root.post('/acme/providers', abstract)).toMatchObject(refusal(400, '/resource_type'));
    const { resource_type: __, ...rule } = bodyOf('rules');
    expect(await root.post(samples.rules.at, rule)).toMatchObject({ status: 422 });
  });
});

describe('property names that no table has (D-033)', () => {
  const closed = typeWords.filter((collection) => !['containers', 'jobs', 'providers'].includes(collection));
  it.each(closed)('are refused by %s with their pointer', async (collection) => {
    const body = bodyOf(collection);
    const properties = { ...body.properties, colour: 'green', 'a/b~c': 1 };
    const reply = await root.post(samples[collection].at, { ...body, properties });
    expect(reply).toMatchObject({ status: 400 });
    expect(reply.body.details.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
      '/properties/colour',
      '/properties/a~1b~0c',
    ]);
  });

  it('are kept by providers and open objects', async () => {
    expect((await make('providers')).properties).toMatchObject({ level: 'debug' });
    const config = { networks: [{ name: 'a', range: '10/8' }], region: { zone: 1 }, nothing: null };
    const properties = { config, colour: 'green' };
    expect((await make('providers', { properties })).properties).toMatchObject(properties);
  });

  it.each(['containers', 'jobs'] as const)('are dropped silently by %s', async (collection) => {
    const body = bodyOf(collection);
    const record = await root.create(samples[collection].at, {
      ...body,
      properties: { ...body.properties, colour: 'green' },
    });
    expect(record.properties).not.toHaveProperty('colour');
  });
});

describe('numbers and times (D-014)', () => {
  let createdCount = 0;
  it('128.0 is 128, and other fractions are not whole numbers', async () => {
    const body = (memory: string) =>
      `{"name":"n-${++createdCount}","properties":{"runtime":"nodejs","code_type":"code","code":"x","handler":"run",` +
      `"provider":{"id":"${tenant.lambdas}"},"memory":${memory}}}`;
    const post = (memory: string) =>
      root.send('POST', `${tenant.environment}/lambdas`, {
        body: body(memory),
        headers: { 'Content-Type': 'application/json' },
      });
    expect((await post('128.0')).body.properties.memory).toBe(128);
    expect((await post('1.28e2')).body.properties.memory).toBe(128);
    expect(await post('128.5')).toMatchObject(refusal(400, '/properties/memory'));
    expect(await post('"128"')).toMatchObject(refusal(400, '/properties/memory'));
  });
});
