import { beforeAll, describe, expect, it } from 'vitest';
import { send } from '../../testing/checked-client.ts';
import { refusal, sharedPlatform } from '../../testing/platform.ts';
import {
  type Body,
  containerBody,
  createTenant,
  grant,
  lambdaBody,
  makeUser,
  type Tenant,
} from '../../testing/tenant.ts';

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

const platform = sharedPlatform();
const { root } = platform;
let acme: Tenant;
let lambda: Body;
beforeAll(async () => {
  acme = await createTenant(root, 'acme');
  lambda = await root.create(`${acme.environment}/lambdas`, lambdaBody(acme, 'sum'));
});

const anonymous = (method: string, path: string, headers: Record<string, string> = {}) =>
  send(method, `${platform.emulator.metaUrl}${path}`, { headers });

describe('who does not say who they are (D-181)', () => {
  it.each([
    undefined,
    '',
    'Bearer',
    'Bearer no-such-token',
    'Basic',
    'Basic !!!',
    `Basic ${Buffer.from('no-colon').toString('base64')}`,
    `Basic ${Buffer.from('root:terrarium').toString('base64')}`,
    'Digest username="root"',
    'Negotiate abc',
  ])('gets the address for a token: Authorization %j', async (authorization) => {
    const reply = await anonymous('GET', '/acme', authorization === undefined ? {} : { Authorization: authorization });
    expect(reply).toMatchObject({
      status: 401,
      body: { code: 401, reason: 'unauthenticated', message: 'Authentication required' },
    });
    expect(Object.keys(reply.body)).toEqual(['code', 'reason', 'message']);
    const fault = ', error="invalid_token", error_description="the credentials are wrong"';
    expect(reply.headers.get('www-authenticate')).toBe(
      `Bearer realm="${platform.emulator.securityUrl}/acme/oauth/issue"${authorization === undefined ? '' : fault}, ` +
        `Basic realm="${platform.emulator.securityUrl}"`,
    );
  });

  it.each(['/nowhere', '/nowhere/users', '/orgs', '/users/self', '/top/lambdas/x', '/resourcetypes', '/ROOT"x'])(
    'is sent to root for %s',
    async (path) => {
      const reply = await anonymous('GET', path);
      expect(reply.status).toBe(401);
      expect(reply.headers.get('www-authenticate')).toBe(
        `Bearer realm="${platform.emulator.securityUrl}/root/oauth/issue", Basic realm="${platform.emulator.securityUrl}"`,
      );
    },
  );

  it.each([
    ['GET', '/acme/gadgets'],
    ['GET', '/acme/workspaces/42'],
    ['GET', `/acme/workspaces/${UNKNOWN_ID}`],
    ['GET', '/orgs?expand=maybe'],
    ['POST', '/acme'],
    ['PATCH', '/acme/users'],
    ['DELETE', `/acme/workspaces/${UNKNOWN_ID}`],
    ['POST', `/acme/lambdas/${UNKNOWN_ID}/migrate`],
    ['POST', '/sync'],
    ['POST', '/root/providers/initialize'],
    ['HEAD', '/acme'],
  ])('learns nothing of what exists on a known route: %s %s', async (method, path) => {
    expect(await anonymous(method, path)).toMatchObject({ status: 401 });
  });

  it.each([
    [
      'no Basic authentication in a browser',
      false,
      { 'Sec-Fetch-Mode': 'navigate', 'User-Agent': 'Mozilla/5.0 Firefox/140.0' },
    ],
    ['no Basic authentication in a browser over plain HTTP', false, { 'User-Agent': 'Mozilla/5.0 Firefox/140.0' }],
    ['no Basic authentication without a name of the browser', false, { 'Sec-Fetch-Mode': 'cors', 'User-Agent': '' }],
    ['Basic authentication in PowerShell', true, { 'User-Agent': 'Mozilla/5.0 (Windows NT 10.0) PowerShell/7.5.0' }],
    ["Basic authentication in Node's fetch", true, { 'Sec-Fetch-Mode': 'cors', 'User-Agent': 'node' }],
  ])('is offered %s', async (_, isOffered, headers) => {
    for (const path of ['/meta/acme', '/security/acme', '/inspect/leads']) {
      const reply = await send('GET', `${platform.emulator.baseUrl}${path}`, { headers });
      expect([path, reply.status]).toEqual([path, 401]);
      expect([path, reply.headers.get('www-authenticate')?.includes('Basic')]).toEqual([path, isOffered]);
    }
  });

  it('learns that there is no such route', async () => {
    expect(await anonymous('PUT', '/acme')).toMatchObject({ status: 404 });
    expect(await anonymous('GET', '/a/b/c/d/e/f/g')).toMatchObject({ status: 404 });
  });
});

describe('the statuses (D-182)', () => {
  it('400: malformed, or against a schema, each violation with its pointer', async () => {
    const properties = { runtime: 7, code_type: 'cobol', memory: 0, env: { 'A B': 'x' }, colour: 'green' };
    const reply = await root.post(`${acme.environment}/lambdas`, { name: 'bad', properties });
    expect(reply).toMatchObject({ status: 400, body: { code: 400, message: expect.any(String) } });
    expect(reply.body.details.map(({ pointer }: Body) => pointer).sort()).toEqual(
      ['code_type', 'colour', 'env/A B', 'handler', 'memory', 'provider', 'runtime'].map(
        (name) => `/properties/${name}`,
      ),
    );
    for (const { message } of reply.body.details) expect(message).toMatch(/^(must|is|has)\b/);
  });

  it('400: a path that is not valid percent-encoding', async () => {
    for (const path of ['/%zz', '/acme/lambdas/%', '/../security/%zz/accounts']) {
      expect([path, await root.get(path)]).toMatchObject([path, { status: 400, body: { reason: 'invalid_url' } }]);
    }
  });

  it('403: the right is missing, and it says which', async () => {
    const { id, client } = await makeUser(platform, 'eve');
    const failed = (action: string) => ({
      status: 403,
      body: {
        code: 403,
        reason: 'forbidden',
        message: `You do not have permission to perform this action. Failed: '${action}'`,
      },
    });
    const path = `/acme/lambdas/${lambda.id}`;
    expect(await client.get(path)).toMatchObject(failed('lambda.view'));
    // Hidden resources are named only by their id (D-118).
    expect((await client.get(path)).body.details).toEqual([
      { pointer: `/resources/${lambda.id}`, message: `lambda ${lambda.id}` },
    ]);
    expect(await client.post('/sync')).toMatchObject({
      status: 403,
      body: { details: [{ message: expect.stringContaining('only the root user') }] },
    });
    expect(await client.get('/acme')).toMatchObject(failed('org.view'));
    expect(await client.patch(path, [])).toMatchObject(failed('lambda.update'));
    expect(await client.delete(path)).toMatchObject(failed('lambda.delete'));
    expect(await client.post('/acme', { name: 'x' })).toMatchObject(failed('org.create'));
    expect(await client.post('/acme/workspaces', { name: 'x' })).toMatchObject(failed('workspace.create'));
    expect(await client.get(`${path}/context`)).toMatchObject(failed('lambda.view'));
    expect(await client.get(`/top/lambdas/${lambda.id}`)).toMatchObject(failed('lambda.view'));
    expect(await client.get(`/root/resources/${lambda.id}`)).toMatchObject(failed('lambda.view'));
    expect(await client.get(`${acme.environment}/lambdas/${lambda.id}`)).toMatchObject(failed('lambda.view'));
    expect(await client.get(`/acme/lambdas/${UNKNOWN_ID}`)).toMatchObject({ status: 404 });
    await grant(root, '/acme', 'lambda.view', id);
    expect(await client.get(path)).toMatchObject({ status: 200 });
  });

  it('409: name taken, id taken, children, incompatible environment type', async () => {
    expect(await root.post('/acme/workspaces', { name: 'ws' })).toMatchObject({ status: 409 });
    expect(await root.post('/acme/workspaces', { name: 'x', id: lambda.id })).toMatchObject({ status: 409 });
    expect(await root.delete(acme.workspace)).toMatchObject({
      status: 409,
      body: { code: 409, reason: 'in_use', message: expect.stringContaining('1 environment') },
    });
    const [{ id }] = (await root.get('/acme/providers?type=CaaS')).body;
    const copy = await root.create('/acme/providers', {
      name: 'live-only',
      resource_type: 'Platform::Configuration::Provider::CaaS::Docker',
      properties: { environment_types: ['production'], linked_providers: [{ id }] },
    });
    const body = containerBody({ ...acme, docker: copy.id }, 'web');
    expect(await root.post(`${acme.environment}/containers`, body)).toMatchObject({
      status: 409,
      body: { message: 'Incompatible Environment type' },
    });
  });

  it('422: patch not applicable, unknown parent of api or endpoint, unknown linked provider, rule type', async () => {
    const path = `/acme/lambdas/${lambda.id}`;
    expect(await root.patch(path, [{ op: 'remove', path: '/properties/env' }])).toMatchObject({ status: 422 });
    expect(await root.post(`/acme/environments/${UNKNOWN_ID}/apis`, { name: 'x' })).toMatchObject({ status: 422 });
    expect(await root.post(`/acme/apis/${UNKNOWN_ID}/apiendpoints`, { name: 'x' })).toMatchObject({ status: 422 });
    expect(await root.post(`/acme/apis/${lambda.id}/apiendpoints`, { name: 'x' })).toMatchObject({ status: 422 });
    expect(await root.post('/acme/apis/42/apiendpoints', { name: 'x' })).toMatchObject({ status: 400 });
    const provider = {
      name: 'linked',
      resource_type: 'Platform::Configuration::Provider::Logging',
      properties: { linked_providers: [{ id: UNKNOWN_ID }] },
    };
    expect(await root.post('/acme/providers', provider)).toMatchObject(
      refusal(422, '/properties/linked_providers/0/id'),
    );
    const policy = await root.create('/acme/policies', { name: 'p' });
    expect(await root.post(`/acme/policies/${policy.id}/rules`, { name: 'r' })).toMatchObject({ status: 422 });
    expect(await root.post(`/acme/policies/${UNKNOWN_ID}/rules`, { name: 'r' })).toMatchObject({ status: 404 });
  });

  it('501: not emulated, and it says so (D-069, D-210, D-211, D-212)', async () => {
    for (const [method, path] of [
      ['POST', `${acme.environment}/containers?action=import`],
      ['POST', '/acme/lambdas?action=import'],
      ['POST', `/acme/providers/${acme.docker}?action=restart`],
      ['POST', '/acme/licenses'],
      ['POST', '/acme/resourcetypes'],
    ] as const) {
      expect(await root.send(method, path, { body: {} }), path).toMatchObject({
        status: 501,
        body: { code: 501, reason: 'not_supported', message: expect.stringContaining('not emulated') },
      });
    }
    expect(await root.post(`/acme/providers/${acme.docker}`)).toMatchObject({ status: 400 });
    expect(await root.post(`/acme/providers/${UNKNOWN_ID}?action=restart`)).toMatchObject({ status: 404 });
  });

  it('503: the container engine’s answer is needed and there is none, with Retry-After (D-050, D-183)', async () => {
    const container = await root.create(`${acme.environment}/containers`, containerBody(acme, 'web'));
    const docker = await root.create('/acme/providers', {
      name: 'other-docker',
      resource_type: 'Platform::Configuration::Provider::CaaS::Docker',
    });
    const reply = await root.post(`/acme/containers/${container.id}/migrate?provider=${docker.id}`);
    expect(reply).toMatchObject({ status: 503, body: { code: 503, message: expect.stringContaining('engine') } });
    expect(reply.headers.get('retry-after')).toBe('5');
    expect((await root.get(`/acme/containers/${container.id}`)).body).toEqual(container);
    expect(await root.post(`/acme/containers/${container.id}/scale?numInstances=2`)).toMatchObject({ status: 202 });
  });
});
