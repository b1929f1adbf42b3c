import { afterEach, beforeEach, expect, test } from 'vitest';
import { TestSecurityService } from '../../testing/security-service.ts';

let service: TestSecurityService;
let root: string;
beforeEach(async () => {
  service = await TestSecurityService.start();
  root = await service.bearer(service.world.rootUser);
});
afterEach(() => service.stop());

test('health is open to everybody', async () => {
  expect(await service.ask('GET /health')).toMatchObject({ status: 200, body: { status: 'healthy' } });
});

test('info and init respond to any authenticated user', async () => {
  expect((await service.ask('GET /info', { auth: root })).body).toEqual({
    status: 'healthy',
    url: service.url,
    time: '2026-01-01T00:00:00.000Z',
    version: '1.2.3',
  });
  expect((await service.ask('GET /init', { auth: root })).body).toEqual({ initialized: true });
  expect((await service.ask('POST /init', { auth: root })).status).toBe(409);
});

test.each([
  'GET /info',
  'GET /init',
  'POST /init',
  'GET /accounts/self',
  'GET /accounts/nonsense',
  'GET /groups/nonsense',
  'GET /orgs',
  'GET /orgs/current',
  'GET /directories/nonsense/accounts',
  'GET /directories/nonsense/groups',
  'DELETE /apiKeys/nonsense',
  'DELETE /accessTokens/nonsense',
  'POST /oauth/inspect',
  'POST /auth',
])('%s is 401 before anything else is looked at', async (route) => {
  for (const options of [{}, { auth: 'Bearer nonsense' }]) {
    const answer = await service.ask(route, options);
    expect(answer.status).toBe(401);
    expect(answer.body).toEqual({
      code: 401,
      reason: 'unauthenticated',
      message: 'Authentication required',
      resource: `/security${route.split(' ')[1]}`,
      developerMessage: expect.any(String),
    });
    const fault = 'auth' in options ? ', error="invalid_token", error_description="the credentials are wrong"' : '';
    expect(answer.headers.get('www-authenticate')).toBe(
      `Bearer realm="${service.url}/root/oauth/issue"${fault}, Basic realm="${service.url}"`,
    );
  }
});

test.each(['', '/accounts', '/groups', '/directories', '/accountStores'])(
  'GET /{fqon}%s is 401, with the realm of that organization',
  async (path) => {
    const answer = await service.ask(`GET /acme.labs${path}`);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toContain(`realm="${service.url}/acme.labs/oauth/issue"`);
  },
);

test('an organization that could not be one does not get into a header', async () => {
  const answer = await service.ask('GET /%22%0d%0ax');
  expect(answer.headers.get('www-authenticate')).toContain('/root/oauth/issue"');
});

test('an unknown route is 404, whatever the verb', async () => {
  const answer = await service.ask('PUT /accounts/self?x=1', { auth: root });
  expect(answer.status).toBe(404);
  expect(answer.body).toMatchObject({ code: 404, message: 'no route: PUT /security/accounts/self' });
  expect((await service.ask('GET /oauth/issue/x', { auth: root })).status).toBe(404);
  expect((await service.ask('GET /ACCOUNTS/self', { auth: root })).status).toBe(404);
});

test('a path that is no percent-encoding is 400', async () => {
  expect((await service.ask('GET /%zz/accounts', { auth: root })).body).toMatchObject({ code: 400 });
  expect(service.faults).toEqual([]);
});

test('a fault of the emulator is reported to its owner and tells the client nothing', async () => {
  service.world.all = () => {
    throw new Error('disk on fire');
  };
  const answer = await service.ask('GET /orgs', { auth: root });
  expect(answer.status).toBe(500);
  expect(answer.body).toMatchObject({ code: 500, message: 'internal error' });
  expect(JSON.stringify(answer.body)).not.toContain('fire');
  expect(service.faults).toHaveLength(1);
});
