import { beforeAll, describe, expect, it } from 'vitest';
import { refusal, sharedPlatform } from '../../../testing/platform.ts';
import { createTenant, lambdaBody, type Tenant, withEnvironment } from '../../../testing/tenant.ts';

const platform = sharedPlatform();
const { root } = platform;
let tenant: Tenant;
/** Path of the list in which environments are created. */
let environments: string;
beforeAll(async () => {
  tenant = await createTenant(root, 'acme');
  environments = `${tenant.workspace}/environments`;
});

describe('a workspace (D-042)', () => {
  it('has env and names its parents', async () => {
    const workspace = await root.create('/acme/workspaces', {
      name: 'Web Shop (new)',
      properties: { env: { A: '1' } },
    });
    expect(workspace).toMatchObject({
      name: 'Web Shop (new)',
      resource_type: 'Platform::Resource::Workspace',
      org: { properties: { fqon: 'acme' } },
    });
    expect(workspace.properties).toEqual({
      env: { A: '1' },
      parent: expect.objectContaining({ name: 'acme', properties: { fqon: 'acme' } }),
    });
  });

  it('takes no other property', async () => {
    const reply = await root.post('/acme/workspaces', { name: 'odd', properties: { workspace: 'x' } });
    expect(reply).toMatchObject(refusal(400, '/properties/workspace'));
  });

  it('can be exported and posted elsewhere', async () => {
    await root.create('/orgs', { name: 'elsewhere' });
    const { id, ...exported } = (await root.get(tenant.workspace)).body;
    const copy = await root.create('/elsewhere/workspaces', exported);
    expect(copy.id).not.toBe(id);
    expect(copy.name).toBe(exported.name);
    expect(copy.properties.parent).toMatchObject({ name: 'elsewhere' });
  });
});

describe('the type of an environment (D-043)', () => {
  it.each([
    ['development', 'development'],
    ['TEST', 'test'],
    ['Production', 'production'],
    ['system', 'system'],
  ])('%s is shown as %s', async (writtenType, canonicalType) => {
    const environment = await root.create(environments, {
      name: `by-${writtenType}`,
      properties: { environment_type: writtenType },
    });
    expect(environment.properties.environment_type).toBe(canonicalType);
  });

  it('may be sent as the id of the type, in any letter case', async () => {
    const types: { id: string; name: string }[] = (await root.get('/root/environmenttypes')).body;
    expect(types.map(({ name }) => name)).toEqual(['development', 'test', 'production', 'system']);
    for (const { id, name } of types) {
      const properties = { environment_type: id.toUpperCase() };
      const environment = await root.create(environments, { name: `by-id-of-${name}`, properties });
      expect(environment.properties.environment_type).toBe(name);
    }
  });

  it.each([
    ['missing', {}, 'is required'],
    ['null', { environment_type: null }],
    ['unknown', { environment_type: 'staging' }, 'must be one of development, test, production, system'],
    ['a number', { environment_type: 1 }, 'must be a string'],
    ['the id of something else', { environment_type: '28cbf0e0-2c48-4589-85d5-df97a3a1f318' }],
  ])('is refused when it is %s', async (_, properties, message?: string) => {
    const reply = await root.post(environments, { name: 'untyped', properties });
    expect(reply).toMatchObject(refusal(400, '/properties/environment_type', message));
  });

  it('may be patched by name or id', async () => {
    const { environment } = await withEnvironment(root, tenant, 'test', 'moving');
    const patch = (value: string) =>
      root.patch(environment, [{ op: 'replace', path: '/properties/environment_type', value }]);
    expect((await patch('PRODUCTION')).body.properties.environment_type).toBe('production');
    const [development] = (await root.get('/environmenttypes')).body;
    expect((await patch(development.id)).body.properties.environment_type).toBe('development');
    expect(await patch('staging')).toMatchObject(refusal(400, '/properties/environment_type'));
  });
});

describe('an environment (D-043, D-044)', () => {
  it('links its workspace, by name, whatever is sent for it', async () => {
    const properties = { environment_type: 'test', env: { A: '1' }, workspace: 'nonsense' };
    const environment = await root.create(environments, { name: 'linked', properties });
    const workspace = {
      typeId: 'fa17bae4-1294-42cc-93cc-c4ead7dc0343',
      id: tenant.workspaceId,
      name: 'ws',
      href: `${platform.emulator.metaUrl}${tenant.workspace}`,
    };
    expect(environment.properties).toEqual({ environment_type: 'test', env: { A: '1' }, workspace, parent: workspace });
  });

  it('takes no other property', async () => {
    const properties = { environment_type: 'test', colour: 'red' };
    expect(await root.post(environments, { name: 'odd', properties })).toMatchObject(
      refusal(400, '/properties/colour'),
    );
  });

  it('can be exported and posted into another workspace', async () => {
    const { id: other } = await root.create('/acme/workspaces', { name: 'other' });
    const { id: _, ...exported } = (await root.get(tenant.environment)).body;
    const copy = await root.create(`/acme/workspaces/${other}/environments`, exported);
    expect(copy.properties).toMatchObject({ environment_type: 'development', workspace: { id: other, name: 'other' } });
  });

  it('is created in a workspace only', async () => {
    const body = { name: 'stray', properties: { environment_type: 'test' } };
    for (const path of [
      '/acme/environments',
      `/root/orgs/${tenant.organizationId}/environments`,
      `/acme/resources/${tenant.organizationId}/environments`,
      `${tenant.environment}/environments`,
      `/acme/resources/${tenant.environmentId}/environments`,
    ]) {
      expect(await root.post(path, body), path).toMatchObject(refusal(404));
    }
    const names = (await root.get('/acme/environments')).body.map(({ name }: { name: string }) => name);
    expect(names).not.toContain('stray');
  });

  it('keeps its type while a provider in use does not serve another; system fits every provider', async () => {
    const testOnly = await root.create('/acme/providers', {
      name: 'test-only',
      resource_type: 'Platform::Configuration::Provider::Lambda',
      properties: { environment_types: ['test'] },
    });
    const { environment } = await withEnvironment(root, tenant, 'test', 'in-use');
    await root.create(`${environment}/lambdas`, lambdaBody(tenant, 'l', { provider: { id: testOnly.id } }));
    // A provider may hold anything, so also what looks like a workload's provider.
    await root.create(`${environment}/providers`, {
      name: 'open',
      resource_type: 'Platform::Configuration::Provider::Kong',
      properties: { provider: { id: '00000000-0000-4000-8000-000000000000' } },
    });
    const patch = (value: string) =>
      root.patch(environment, [{ op: 'add', path: '/properties/environment_type', value }]);
    expect(await patch('production')).toMatchObject(refusal(409, '/properties/environment_type'));
    expect((await root.get(environment)).body.properties.environment_type).toBe('test');
    expect((await patch('SYSTEM')).body.properties.environment_type).toBe('system');
  });
});
