import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { sharedPlatform } from '../../testing/platform.ts';

const { root } = sharedPlatform();

const JSON_TYPE = { 'Content-Type': 'application/json' };
const post = (body: unknown, headers: Record<string, string> = {}) => root.send('POST', '/root', { body, headers });
let createdCount = 0;
const organization = () => JSON.stringify({ name: `org-${++createdCount}` });

describe('the type of a body (D-007)', () => {
  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'Application/JSON',
    ' application/json ;x=y',
  ])('%s is JSON', async (type) => {
    expect(await post(organization(), { 'Content-Type': type })).toMatchObject({ status: 201 });
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', 'application/jsonp', ''])(
    'a body of type %j is 415 on POST',
    async (type) => {
      expect(await post(Buffer.from(organization()), type === '' ? {} : { 'Content-Type': type })).toMatchObject({
        status: 415,
        body: { code: 415, reason: 'unsupported_media_type', message: expect.stringContaining('Content-Type') },
      });
    },
  );

  it('a patch has a type of its own, too, but a POST may not use it', async () => {
    const type = { 'Content-Type': 'application/json-patch+json; charset=utf-8' };
    const body = '[{"op":"add","path":"/description","value":"top"}]';
    expect(await root.send('PATCH', '/root', { body, headers: type })).toMatchObject({ status: 200 });
    expect(await root.send('PATCH', '/root', { body, headers: JSON_TYPE })).toMatchObject({ status: 200 });
    expect(await root.send('PATCH', '/root', { body, headers: { 'Content-Type': 'text/plain' } })).toMatchObject({
      status: 415,
    });
    expect(await post(organization(), type)).toMatchObject({ status: 415 });
  });

  it('an empty body where one is needed is 400, with and without a type', async () => {
    for (const headers of [{}, JSON_TYPE]) {
      expect(await post(undefined, headers)).toMatchObject({ status: 400 });
      expect(await post('', headers)).toMatchObject({ status: 400 });
      expect(await root.send('PATCH', '/root', { body: '', headers })).toMatchObject({ status: 400 });
    }
  });
});

describe('the bytes of a body (D-007, D-185)', () => {
  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['rot13', Buffer.from],
  ] as const)('may not be compressed, with %s or otherwise (D-182)', async (encoding, compress) => {
    const headers = { ...JSON_TYPE, 'Content-Encoding': encoding };
    expect(await post(compress(organization()), headers)).toMatchObject({ status: 415, body: { code: 415 } });
    expect(await post(organization(), { ...JSON_TYPE, 'Content-Encoding': 'identity' })).toMatchObject({ status: 201 });
  });

  it('may be 10 MiB and no byte more', async () => {
    const body = (sizeBytes: number) => {
      const text = organization();
      return text + ' '.repeat(sizeBytes - text.length);
    };
    expect(await post(body(10 * 1024 * 1024), JSON_TYPE)).toMatchObject({ status: 201 });
    expect(await post(body(10 * 1024 * 1024 + 1), JSON_TYPE)).toMatchObject({ status: 413, body: { code: 413 } });
  });

  it('may begin with a byte order mark', async () => {
    expect(await post(`\uFEFF${organization()}`, JSON_TYPE)).toMatchObject({ status: 201 });
  });

  it('may be as deep as any real record, and no deeper', async () => {
    const nested = (depth: number) => ({
      name: `nested-${depth}`,
      resource_type: 'Platform::Configuration::Provider::Logging',
      properties: { deep: JSON.parse('['.repeat(depth - 2) + ']'.repeat(depth - 2)) },
    });
    expect(await root.post('/root/providers', nested(100))).toMatchObject({ status: 201 });
    expect(await root.post('/root/providers', nested(101))).toMatchObject({
      status: 400,
      body: { message: 'JSON is nested deeper than 100 levels' },
    });
  });
});

describe('requests that need no body ignore one (D-007)', () => {
  it.each([undefined, '', 'not json at all', '{"x":'])('%j', async (body) => {
    for (const headers of [JSON_TYPE, { 'Content-Type': 'text/plain' }]) {
      const options = { body, headers };
      expect(await root.send('POST', '/root/providers/initialize', options)).toMatchObject({ status: 200 });
      const [provider] = (await root.get('/root/providers')).body;
      expect(await root.send('POST', `/root/providers/${provider.id}/redeploy`, options)).toMatchObject({
        status: 202,
      });
      const group = await root.create('/root/groups', { name: `group-${++createdCount}` });
      const self = (await root.get('/users/self')).body.id;
      for (const verb of ['PATCH', 'DELETE']) {
        const path = `/root/groups/${group.id}/users?id=${self}`;
        expect(await root.send(verb, path, options)).toMatchObject({ status: 200 });
      }
      expect(await root.send('DELETE', `/root/groups/${group.id}`, options)).toMatchObject({ status: 204 });
      expect(await root.send('POST', '/sync', options)).toMatchObject({ status: 200 });
    }
  });
});

describe('query parameters (D-012)', () => {
  it.each(['yes', '1', 'TRUE', ''])('a boolean that is %j is 400', async (value) => {
    const provider = (await root.get('/root/providers')).body[0].id;
    const entitlement = (await root.get('/root/entitlements')).body[0].id;
    for (const [method, path] of [
      ['GET', `/orgs?expand=${value}`],
      ['GET', `/root/workspaces?compact=${value}`],
      ['GET', `/root/providers/${provider}?showcredentials=${value}`],
      ['GET', `/root/providers/${provider}?expand=${value}`],
      ['GET', `/root?expand=${value}`],
      ['GET', `/users/self?expand=${value}`],
      ['GET', `/root/entitlements?expand=${value}`],
      ['GET', `/root/entitlements/${entitlement}?expand=${value}`],
      ['GET', `/root/resourcetypes?expand=${value}`],
      ['DELETE', `/root/providers/${provider}?force=${value}`],
      ['DELETE', `/root/providers/${provider}?deleteContainers=${value}`],
    ] as const) {
      expect(await root.send(method, path)).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining('must be true or false') },
      });
    }
    expect(await root.get(`/root/providers/${provider}`)).toMatchObject({ status: 200 });
  });

  it.each([
    '/orgs?expand=true&expand=true',
    '/orgs?name=a&name=b',
    '/root/entitlements?action=org.view&action=org.view',
    '/orgs/search?name=a&name=b',
    '/users/search?name=a&name=b',
  ])('%s is 400: only once', async (path) => {
    expect(await root.get(path)).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('must not be repeated') },
    });
  });

  it('embed and id may be repeated', async () => {
    const group = await root.create('/root/groups', { name: 'pair' });
    const self = (await root.get('/users/self')).body.id;
    const ada = await root.create('/root/users', { name: 'ada', properties: { password: 'x' } });
    const reply = await root.patch(`/root/groups/${group.id}/users?id=${self}&id=${ada.id.toUpperCase()}`, undefined);
    expect(reply.body.map((user: { id: string }) => user.id)).toEqual([self, ada.id]);
  });
});
