import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PASSWORD, TestSecurityService } from '../../testing/security-service.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const rootLogin = { grant_type: 'password', username: 'root', password: PASSWORD };

let service: TestSecurityService;
beforeEach(async () => {
  service = await TestSecurityService.start({ tokenRequestsPerMinute: 5 });
});
afterEach(async () => {
  expect(service.faults).toEqual([]);
  await service.stop();
});

describe('the password grant', () => {
  test('gives a token that is good as a Bearer', async () => {
    const { status, body, headers } = await service.ask('POST /root/oauth/issue', { form: rootLogin });
    expect(status).toBe(200);
    expect(body).toEqual({
      access_token: expect.stringMatching(UUID),
      token_type: 'bearer',
      expires_in: 28_800,
      platform_access_token_href: '',
    });
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    const self = await service.ask('GET /accounts/self', { auth: `bEARER ${body.access_token}` });
    expect(self.body.username).toBe('root');
  });

  test('finds a user in the named organization or one above, and nowhere else', async () => {
    const { world } = service;
    const above = world.add('orgs', world.root, { name: 'above' });
    world.add('orgs', above, { name: 'below' });
    world.add('orgs', world.root, { name: 'beside' });
    await service.addUser('ada', above);
    const form = { ...rootLogin, username: 'ada' };
    const statuses: Record<string, number> = {};
    for (const fqon of ['above', 'above.below', 'root', 'beside']) {
      statuses[fqon] = (await service.ask(`POST /${fqon}/oauth/issue`, { form })).status;
    }
    expect(statuses).toEqual({ above: 200, 'above.below': 200, root: 400, beside: 400 });
  });

  test('does not reveal whether the name, the password or the account was wrong', async () => {
    const ada = await service.addUser('ada');
    service.world.change(ada.id, { properties: { ...ada.properties, disabled: true } });
    const wrong = await service.ask('POST /root/oauth/issue', { form: { ...rootLogin, password: 'wrong' } });
    const unknown = await service.ask('POST /root/oauth/issue', { form: { ...rootLogin, username: 'unknown' } });
    const disabled = await service.ask('POST /root/oauth/issue', { form: { ...rootLogin, username: 'ada' } });
    expect(wrong.status).toBe(400);
    expect(wrong.body).toEqual({ error: 'invalid_grant', error_description: expect.any(String), code: 400 });
    expect([unknown.body, disabled.body]).toEqual([wrong.body, wrong.body]);
    expect(wrong.headers.get('cache-control')).toBe('no-store');
  });

  test('a client that also identifies itself by Basic is not asked who it is', async () => {
    const auth = `Basic ${btoa('some-client:some-secret')}`;
    expect((await service.ask('POST /root/oauth/issue', { auth, form: rootLogin })).status).toBe(200);
  });

  test('counts failed attempts per user, not good ones, and lets in again after a minute', async () => {
    await service.addUser('ada');
    const ask = (form: object) => service.ask('POST /root/oauth/issue', { form: { ...rootLogin, ...form } });
    for (let attempt = 0; attempt < 7; attempt++) expect((await ask({})).status).toBe(200);
    for (let attempt = 0; attempt < 5; attempt++) await ask({ password: 'guess' });
    const sixth = await ask({});
    expect([sixth.status, sixth.headers.get('retry-after')]).toEqual([429, '60']);
    expect(sixth.body).toEqual({
      error: 'invalid_grant',
      error_description: 'too many failed attempts, wait 60 seconds',
      code: 429,
    });
    expect((await ask({ username: 'ada' })).status).toBe(200);
    service.nowMs += 60_000;
    expect((await ask({})).status).toBe(200);
  });
});

describe('the client_credentials grant', () => {
  const form = { grant_type: 'client_credentials' };

  test('counts failed attempts apart from those with passwords', async () => {
    const auth = `Basic ${btoa('root:guess')}`;
    const guess = async () => (await service.ask('POST /oauth/issue', { auth, form })).status;
    for (let attempt = 0; attempt < 5; attempt++) expect(await guess()).toBe(400);
    expect(await guess()).toBe(429);
    expect((await service.ask('POST /root/oauth/issue', { form: rootLogin })).status).toBe(200);
  });

  test('takes an API key pair, with or without an organization in the path', async () => {
    const auth = await service.basic(await service.addUser('ci'));
    for (const path of ['/oauth/issue', '/root/oauth/issue']) {
      const { status, body } = await service.ask(`POST ${path}`, { auth, form });
      expect(status).toBe(200);
      const self = await service.ask('GET /accounts/self', { auth: `Bearer ${body.access_token}` });
      expect(self.body.username).toBe('ci');
    }
  });

  test('understands a pair that was form-encoded first, as RFC 6749 has it', async () => {
    const user = await service.addUser('ci');
    const { key, secret } = await service.credentials.createKey(user.id, service.world.root.id);
    const auth = `Basic ${btoa(`${key.replaceAll('-', '%2D')}:${secret}`)}`;
    expect((await service.ask('POST /oauth/issue', { auth, form })).status).toBe(200);
  });

  test('refuses anything but a pair that is valid in that organization', async () => {
    const { world } = service;
    const org = world.add('orgs', world.root, { name: 'acme' });
    const insider = await service.addUser('insider', org);
    const cases = [undefined, 'Basic bm9uc2Vuc2U=', await service.bearer(world.rootUser), await service.basic(insider)];
    for (const auth of cases) {
      const answer = await service.ask('POST /root/oauth/issue', { ...(auth !== undefined && { auth }), form });
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ error: 'invalid_client', code: 400 });
    }
  });

  test('refuses the pair of a disabled account', async () => {
    const user = await service.addUser('ci');
    const auth = await service.basic(user);
    service.world.change(user.id, { properties: { disabled: true } });
    expect((await service.ask('POST /oauth/issue', { auth, form })).body.error).toBe('invalid_grant');
  });
});

describe('a bad token request', () => {
  test.each([
    ['no grant_type', {}, 'invalid_request'],
    ['an empty grant_type', { grant_type: '' }, 'invalid_request'],
    ['no username', { grant_type: 'password', password: 'x' }, 'invalid_request'],
    ['no password', { grant_type: 'password', username: 'root' }, 'invalid_request'],
    ['another grant', { grant_type: 'refresh_token', refresh_token: 'x' }, 'unsupported_grant_type'],
  ])('%s', async (_name, form, error) => {
    const answer = await service.ask('POST /root/oauth/issue', { form });
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({ error, error_description: expect.any(String), code: 400 });
  });

  test('with a field twice is refused, even when both say the same', async () => {
    const form: [string, string][] = [...Object.entries(rootLogin), ['username', 'root']];
    expect((await service.ask('POST /root/oauth/issue', { form })).body).toMatchObject({
      error: 'invalid_request',
      error_description: expect.stringContaining('username'),
    });
  });

  test('for a password without an organization is refused', async () => {
    expect((await service.ask('POST /oauth/issue', { form: rootLogin })).body.error).toBe('unsupported_grant_type');
  });

  test('as JSON is 415, for an unknown organization 404', async () => {
    const json = await service.ask('POST /root/oauth/issue', { json: rootLogin });
    expect([json.status, json.body.code]).toEqual([415, 415]);
    for (const fqon of ['nowhere', 'constructor', '__proto__', '..%2f..', 'Root']) {
      const answer = await service.ask(`POST /${fqon}/oauth/issue`, { form: rootLogin });
      expect([answer.status, answer.body.code], fqon).toEqual([404, 404]);
    }
    expect((await service.ask('POST /%zz/oauth/issue', { form: rootLogin })).status).toBe(400);
  });
});
