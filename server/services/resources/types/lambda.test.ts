import { beforeAll, describe, expect, it } from 'vitest';
import { refusal, sharedPlatform } from '../../../testing/platform.ts';
import { createTenant, lambdaBody, type Tenant, withEnvironment } from '../../../testing/tenant.ts';

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

const { root } = sharedPlatform();
let tenant: Tenant;
/** Path of the list in which lambdas are created. */
let lambdas: string;
beforeAll(async () => {
  tenant = await createTenant(root, 'acme');
  lambdas = `${tenant.environment}/lambdas`;
});

const create = (name: string, properties: object = {}) => root.create(lambdas, lambdaBody(tenant, name, properties));
const refused = (properties: object) => root.post(lambdas, lambdaBody(tenant, 'refused', properties));
const sentOf = ({ parent: _, ...writtenMembers }: Record<string, unknown>) => writtenMembers;

describe('the properties of a lambda (D-056)', () => {
  it('shows the sent values and no defaults', async () => {
    const body = lambdaBody(tenant, 'minimal');
    const lambda = await root.create(lambdas, body);
    expect(lambda.resource_type).toBe('Platform::Resource::Node::Lambda');
    expect(lambda.properties).toEqual({
      ...body.properties,
      parent: expect.objectContaining({ id: tenant.environmentId, name: 'env' }),
    });
    expect((await root.get(`/acme/lambdas/${lambda.id}`)).body).toEqual(lambda);
  });

  it('gives back every member as it was sent, in the letter case that was sent', async () => {
    const writtenProperties = {
      provider: { id: tenant.lambdas, locations: ['here'] },
      runtime: 'NodeJS 20',
      code_type: 'Inline',
      code: 'ZXhwb3J0cy5ydW4gPSAoKSA9PiAxOw==',
      package_url: 'https://example.com/a.zip',
      compressed: 'true',
      handler: 'run',
      public: false,
      memory: 256,
      cpus: 0.5,
      timeout: 500,
      env: { CRM_OID: '00D', 'a.b-c': '' },
      headers: { accept: 'text/html' },
      pre_warm: 0,
      isolate: true,
      secrets: [],
      gpu_support: { enabled: false, anything: [null] },
      periodic_info: { timezone: 'UTC' },
    };
    const { properties } = await create('everything', writtenProperties);
    expect(sentOf(properties)).toEqual(writtenProperties);
  });

  it.each(['code', 'CODE', 'inline', 'INLINE', 'Inline'])('takes code_type %s for inline code', async (code_type) => {
    expect((await create(`inline as ${code_type}`, { code_type })).properties.code_type).toBe(code_type);
    expect(await refused({ code_type, code: undefined })).toMatchObject(refusal(400, '/properties/code'));
  });

  it('takes a package by its address, without code', async () => {
    const writtenProperties = {
      code_type: 'Package',
      package_url: 'http://example.com/a.js',
      handler: 'a.run',
      compressed: false,
    };
    const { properties } = await create('packaged', { ...writtenProperties, code: undefined });
    expect(properties).toMatchObject(writtenProperties);
    expect(await refused({ code_type: 'package', package_url: null })).toMatchObject(
      refusal(400, '/properties/package_url'),
    );
  });

  it('keeps ids in lower case, whatever was sent (D-014)', async () => {
    const { properties } = await create('lower', { provider: { id: tenant.lambdas.toUpperCase() } });
    expect(properties.provider).toEqual({ id: tenant.lambdas });
  });

  it('stores a runtime that is not emulated', async () => {
    expect((await create('python', { runtime: 'python3' })).properties.runtime).toBe('python3');
  });

  it.each([
    ['/properties/provider', { provider: undefined }, 'is required'],
    ['/properties/provider/id', { provider: { name: 'default-lambda' } }],
    ['/properties/provider/id', { provider: { id: 'x' } }, 'must be a UUID'],
    ['/properties/runtime', { runtime: undefined }, 'is required'],
    ['/properties/runtime', { runtime: '' }],
    ['/properties/handler', { handler: undefined }, 'is required'],
    ['/properties/handler', { handler: null }],
    ['/properties/code_type', { code_type: 'binary' }, 'must be one of code, inline, package'],
    ['/properties/code', { code_type: 'Inline', code: '' }, 'is required for code_type Inline'],
    ['/properties/package_url', { code_type: 'package' }, 'is required for code_type package'],
    ['/properties/package_url', { code_type: 'package', package_url: 'ftp://x' }, 'must be an http'],
    ['/properties/timeout', { timeout: 0 }],
    ['/properties/timeout', { timeout: 501 }, 'must be at most 500'],
    ['/properties/timeout', { timeout: 1.5 }],
    ['/properties/timeout', { timeout: '30' }, 'must be a number'],
    ['/properties/memory', { memory: 0 }, 'must be greater than 0'],
    ['/properties/memory', { memory: 1.5 }, 'must be a whole number'],
    ['/properties/cpus', { cpus: 0 }, 'must be greater than 0'],
    ['/properties/pre_warm', { pre_warm: -1 }, 'must be at least 0'],
    ['/properties/env/A', { env: { A: 1 } }, 'must be a string'],
    ['/properties/headers/Accept', { headers: { Accept: 1 } }, 'must be a string'],
    ['/properties/headers/accept', { headers: { accept: `text/${'x'.repeat(4096)}` } }, 'at most 4096 characters'],
    ['/properties/headers/Accept', { headers: { Accept: 'text/plain\r\nX: y' } }, 'must be a header value'],
    ['/properties/compressed', { compressed: 'yes' }, 'must be true or false'],
    ['/properties/public', { public: 'yes' }, 'must be true or false'],
    ['/properties/apiendpoint', { apiendpoint: [] }, 'is not a known member'],
    [
      '/properties/secrets/0/mount_type',
      { secrets: [{ mount_type: 'directory', secret_id: UNKNOWN_ID, path: '/s' }] },
      'env, file',
    ],
    [
      '/properties/secrets/0/secret_id',
      { secrets: [{ mount_type: 'env', secret_id: UNKNOWN_ID, path: 'A', secret_key: 'a' }] },
      'is not the id of an existing secret',
    ],
  ])('refuses at %s: %j', async (pointer, properties, message?: string) => {
    expect(await refused(properties)).toMatchObject(refusal(400, pointer, message));
  });

  it('refuses a provider that is unknown with 404, and one that runs no lambdas with 400', async () => {
    expect(await refused({ provider: { id: UNKNOWN_ID } })).toMatchObject(refusal(404));
    expect(await refused({ provider: { id: tenant.docker } })).toMatchObject(refusal(400));
    const executors = (await root.get('/root/providers?type=Executor')).body;
    expect(await refused({ provider: { id: executors[0].id } })).toMatchObject(refusal(400));
  });

  it('needs a provider that serves the type of its environment, and needs no environment (D-054)', async () => {
    const provider = await root.create('/acme/providers', {
      name: 'production-only',
      resource_type: 'Platform::Configuration::Provider::Lambda',
      properties: { environment_types: ['production'] },
    });
    const body = lambdaBody(tenant, 'fitting', { provider: { id: provider.id } });
    const incompatible = await root.post(lambdas, body);
    expect(incompatible).toMatchObject(refusal(409));
    expect(incompatible.body.message).toContain('Incompatible Environment type');
    expect(incompatible.body.details).toEqual([
      { pointer: '/properties/provider/id', message: expect.stringContaining('serves environments of type') },
    ]);
    const production = await withEnvironment(root, tenant, 'production');
    const system = await withEnvironment(root, tenant, 'system');
    for (const under of [production.environment, system.environment, tenant.workspace, tenant.org]) {
      expect((await root.post(`${under}/lambdas`, body)).status, under).toBe(201);
    }
  });
});

describe('names of lambdas (D-057, D-184)', () => {
  it('may hold slashes, and are unique among siblings', async () => {
    expect((await create('team/a function')).name).toBe('team/a function');
    expect(await root.post(lambdas, lambdaBody(tenant, 'team/a function'))).toMatchObject(refusal(409));
    expect((await root.post('/acme/lambdas', lambdaBody(tenant, 'team/a function'))).status).toBe(201);
  });
});

describe('a lambda in patches and copies', () => {
  it('takes a patch of any of its members, and is validated as a whole', async () => {
    const lambda = await create('patched');
    const path = `/acme/lambdas/${lambda.id}`;
    const patched = await root.patch(path, [
      { op: 'add', path: '/properties/env', value: { A: '1' } },
      { op: 'replace', path: '/properties/handler', value: 'go' },
      { op: 'add', path: '/properties/timeout', value: 5 },
      { op: 'replace', path: '/name', value: 'renamed/one' },
    ]);
    expect(patched).toMatchObject({
      status: 200,
      body: { name: 'renamed/one', properties: { env: { A: '1' }, handler: 'go', timeout: 5 } },
    });
    expect(await root.patch(path, [{ op: 'remove', path: '/properties/code' }])).toMatchObject(
      refusal(400, '/properties/code'),
    );
    expect((await root.get(path)).body).toEqual(patched.body);
  });

  it('exported and posted elsewhere is the same but for its place', async () => {
    const source = await create('exported', { env: { A: '1' }, public: false });
    const test = await withEnvironment(root, tenant, 'test');
    const { id: _, ...exported } = (await root.get(`/acme/lambdas/${source.id}`)).body;
    const copy = await root.create(`${test.environment}/lambdas`, exported);
    expect(sentOf(copy.properties)).toEqual(sentOf(source.properties));
  });

  it('ignores a status, which only the server sets', async () => {
    const writtenProperties = {
      status: 'MIGRATING',
      status_detail: { reason: 'from an export after a failed move (D-134)' },
    };
    const { properties } = await create('stated', writtenProperties);
    expect(properties).not.toHaveProperty('status');
    expect(properties).not.toHaveProperty('status_detail');
  });

  it('has no PUT', async () => {
    const lambda = await create('unput');
    expect(await root.put(`/acme/lambdas/${lambda.id}`, lambda)).toMatchObject(refusal(404));
  });
});

describe('what points to a lambda (D-037, D-062)', () => {
  it('is listed below it, found by its id, and embedded on demand only', async () => {
    const lambda = await create('target');
    const api = await root.create(`${tenant.environment}/apis`, { name: 'pointing' });
    const endpoint = await root.create(`/acme/apis/${api.id}/apiendpoints`, {
      name: 'e',
      properties: { resource: '/e', implementation_type: 'lambda', implementation_id: lambda.id },
    });
    const path = `/acme/lambdas/${lambda.id}`;
    const [link] = (await root.get(`${path}/apiendpoints`)).body;
    expect(link).toMatchObject({ id: endpoint.id, name: 'e' });
    expect(link).not.toHaveProperty('resource_type');
    expect((await root.get(`${path}/apiendpoints?expand=true`)).body).toEqual([endpoint]);
    expect((await root.get(`/acme/apiendpoints?implementation_id=${lambda.id}&expand=true`)).body).toEqual([endpoint]);
    expect((await root.get(`/acme/apiendpoints?implementation_id=${UNKNOWN_ID}`)).body).toEqual([]);

    expect((await root.get(path)).body.properties).not.toHaveProperty('apiendpoints');
    const embedded = (await root.get(`${path}?embed=apiendpoints&embed=provider`)).body.properties;
    expect(embedded.apiendpoints).toEqual([endpoint]);
    expect(embedded.provider).toEqual((await root.get(`/root/providers/${tenant.lambdas}`)).body);
    expect(await root.get(`${path}?embed=volumes`)).toMatchObject(refusal(400));
    expect(await root.get(`${tenant.environment}?embed=provider`)).toMatchObject(refusal(400));
  });
});
