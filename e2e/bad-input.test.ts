import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Emulator, startEmulator } from '../server/platform/emulator.ts';
import { basic, type Reply, send } from '../server/testing/checked-client.ts';
import { QUICK_START } from '../server/testing/platform.ts';

/** Any input gets a 4xx with the specified body, nothing is half written, and the platform continues. */
let platform: Emulator;
let auth: string;
const faults: unknown[] = [];

beforeAll(async () => {
  platform = await startEmulator({ seed: 'empty' }, { onFault: (fault) => faults.push(fault), ...QUICK_START });
  auth = basic(platform.rootCredentials.apiKey, platform.rootCredentials.apiSecret ?? '');
});
afterAll(() => platform?.stop());
afterEach(() => expect(faults.splice(0), 'no request may be a fault of the emulator').toEqual([]));

const call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
  send(method, `${platform.metaUrl}${path}`, { auth, body, ...(headers && { headers }) });
const JSON_TYPE = { 'Content-Type': 'application/json' };

function expectError(reply: Reply, status: number): void {
  expect(reply.status).toBe(status);
  expect(reply.headers.get('content-type')).toMatch(/^application\/json/);
  expect(reply.body).toMatchObject({ code: status, message: expect.any(String) });
  expect(JSON.stringify(reply.body)).not.toMatch(/node_modules|\.ts:|\.js:|at .*\(/);
}

describe('bodies', () => {
  it.each([
    ['malformed JSON', '{"name": ', 400],
    ['nothing', undefined, 400],
    ['an array', '[]', 400],
    ['a string', '"org"', 400],
    ['not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 400],
    ['a polluted prototype', '{"name":"a","properties":{"__proto__":{"isAdmin":true}}}', 400],
    ['a constructor trick', '{"name":"a","properties":{"constructor":{"prototype":{"x":1}}}}', 400],
    ['depth 100,000', `{"name":"a","properties":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`, 400],
    ['10 MiB and a byte', `{"name":"${'a'.repeat(10 * 1024 * 1024)}"}`, 413],
    ['a number for a name', '{"name": 7}', 400],
    ['an empty name', '{"name": ""}', 400],
    ['a control character in the name', '{"name": "a\\u0000b"}', 400],
    ['an unknown property', '{"name":"a","properties":{"colour":"green"}}', 400],
    ['a wrong type in env', '{"name":"a","properties":{"env":{"A":1}}}', 400],
    ['an env name that is none', '{"name":"a","properties":{"env":{"1A":"x"}}}', 400],
    ['an id that is not a UUID', '{"name":"a","id":"42"}', 400],
    ['another type', '{"name":"a","resource_type":"Platform::Resource::User"}', 400],
    ['a reserved name', '{"name":"users"}', 400],
    ['a name with capitals', '{"name":"Acme"}', 400],
    ['a path as a name', '{"name":"../etc"}', 400],
  ])('%s is refused and creates nothing', async (_, body, status) => {
    const before = await call('GET', '/orgs');
    expectError(await call('POST', '/root', body, JSON_TYPE), status);
    expect((await call('GET', '/orgs')).body).toEqual(before.body);
  });

  it('names each wrong member by pointer', async () => {
    const reply = await call('POST', '/root/workspaces', { name: 'w', properties: { env: { A: 1 }, size: 2 } });
    expectError(reply, 400);
    expect(reply.body.details.map((detail: { pointer: string }) => detail.pointer).sort()).toEqual([
      '/properties/env/A',
      '/properties/size',
    ]);
  });

  it.each(['text/plain', 'application/xml', 'application/x-www-form-urlencoded'])('%s is 415', async (type) => {
    expectError(await call('POST', '/root', '{"name":"a"}', { 'Content-Type': type }), 415);
  });

  it('takes parameters of the content type, and a body without one is 415', async () => {
    const reply = await call('POST', '/root', '{"name":"with-charset"}', {
      'Content-Type': 'application/json; charset=utf-8',
    });
    expect(reply.status).toBe(201);
    expectError(await call('POST', '/root', Buffer.from('{"name":"untyped"}')), 415);
  });

  it('a name that is taken is 409, in either letter case: once with the name, once without', async () => {
    expect((await call('POST', '/root', { name: 'twice' })).status).toBe(201);
    expectError(await call('POST', '/root', { name: 'twice' }), 409);
  });

  it('of two simultaneous creates with one name exactly one succeeds', async () => {
    const both = await Promise.all([1, 2, 3, 4].map(() => call('POST', '/root', { name: 'race' })));
    expect(both.map((reply) => reply.status).sort()).toEqual([201, 409, 409, 409]);
  });
});

describe('paths', () => {
  it.each([
    ['/%2e%2e%2f%2e%2e%2fetc', 404],
    ['/__proto__', 404],
    ['/constructor', 404],
    ['/toString', 404],
    ['/root.', 404],
    ['/.root', 404],
    ['/ROOT', 404],
    ['/%00', 404],
    ['/no-such-org', 404],
    ['/root/workspaces/42', 400],
    ['/root/workspaces/00000000-0000-0000-0000-00000000000g', 400],
    ['/root/workspaces/00000000-0000-4000-8000-000000000000', 404],
    ['/root/gadgets', 400],
    ['/root/__proto__', 400],
    ['/root/constructor/00000000-0000-4000-8000-000000000000', 400],
    ['/root/workspaces/00000000-0000-4000-8000-000000000000/a/b/c', 404],
    ['/%', 400],
    ['/root/workspaces?expand=yes', 400],
    ['/root/workspaces?expand=true&expand=true', 400],
    ['/root/providers?type=Toaster', 400],
    [`/root?${'a'.repeat(9000)}`, 414],
  ])('GET %s is %i', async (path, status) => {
    expectError(await call('GET', path), status);
  });

  it('ignores double and trailing slashes', async () => {
    expect((await call('GET', '//root//workspaces/')).status).toBe(200);
  });

  it.each([
    ['POST', '/root/environments', 404],
    ['POST', '/root/containers', 404],
    ['POST', '/root/licenses', 501],
    ['POST', '/root/containers?action=import', 501],
    ['PUT', '/root', 404],
    ['PATCH', '/root/users', 400],
    ['DELETE', '/root/users', 404],
    ['POST', '/no/such/route/at/all/here', 404],
  ])('%s %s is %i', async (method, path, status) => {
    expectError(await call(method, path, method === 'DELETE' ? undefined : []), status);
  });
});

describe('patches', () => {
  const create = async (name: string) => (await call('POST', '/root/workspaces', { name })).body.id as string;

  it.each([
    ['an object', { op: 'add' }, 400],
    ['an unknown operation', [{ op: 'spam', path: '/name' }], 400],
    ['a prototype', [{ op: 'add', path: '/properties/__proto__/x', value: 1 }], 400],
    ['a prototype by constructor', [{ op: 'add', path: '/properties/constructor/prototype/x', value: 1 }], 422],
    ['an inherited member', [{ op: 'replace', path: '/properties/toString', value: 1 }], 422],
    ['the id', [{ op: 'replace', path: '/id', value: '00000000-0000-4000-8000-000000000000' }], 422],
    ['the owner', [{ op: 'remove', path: '/owner' }], 422],
    ['all properties', [{ op: 'replace', path: '/properties', value: {} }], 422],
    ['a wrong type', [{ op: 'add', path: '/properties/env', value: { A: 1 } }], 400],
    [
      'a failed test after a change',
      [
        { op: 'replace', path: '/name', value: 'x' },
        { op: 'test', path: '/name', value: 'y' },
      ],
      422,
    ],
  ])('%s is refused and changes nothing', async (caseName, patch, status) => {
    const path = `/root/workspaces/${await create(`patched-${caseName.replaceAll(' ', '-')}`)}`;
    const before = await call('GET', path);
    expectError(await call('PATCH', path, patch), status);
    expect((await call('GET', path)).body).toEqual(before.body);
    expect(Object.prototype).not.toHaveProperty('x');
  });

  it('an empty patch, and one that changes nothing, leave modified alone', async () => {
    const path = `/root/workspaces/${await create('untouched')}`;
    const before = await call('GET', path);
    expect((await call('PATCH', path, [])).body).toEqual(before.body);
    expect((await call('PATCH', path, [{ op: 'replace', path: '/name', value: 'untouched' }])).body).toEqual(
      before.body,
    );
  });
});

describe('hidden values', () => {
  it('a password hash cannot be copied, tested or filtered out', async () => {
    const user = (await call('POST', '/root/users', { name: 'spy', properties: { password: 'hush' } })).body;
    const path = `/root/users/${user.id}`;
    expectError(await call('PATCH', path, [{ op: 'copy', from: '/properties/password', path: '/description' }]), 422);
    expect(JSON.stringify((await call('GET', path)).body)).not.toMatch(/scrypt|hush/);
    expectError(await call('GET', '/root/users?password=hush'), 400);
  });
});

describe('the listener', () => {
  const raw = (text: string, port: number) =>
    new Promise<string>((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(text));
      let answer = '';
      socket.on('data', (chunk) => {
        answer += chunk;
      });
      socket.on('close', () => resolve(answer));
      socket.on('error', reject);
    });
  const portOf = (url: string) => Number(new URL(url).port);

  it.each(['baseUrl', 'gatewayUrl'] as const)('refuses a foreign Host on %s (DNS rebinding)', async (listener) => {
    const answer = await raw(
      'GET /meta/health HTTP/1.1\r\nHost: evil.example.com\r\nConnection: close\r\n\r\n',
      portOf(platform[listener]),
    );
    expect(answer).toMatch(/^HTTP\/1\.1 403 /);
    expect(answer).toMatch(/"code":403/);
  });

  it.each(['baseUrl', 'gatewayUrl'] as const)('answers a flood of headers on %s with 431', async (listener) => {
    const flood = Array.from({ length: 2000 }, (_, index) => `X-Flood-${index}: ${'x'.repeat(50)}\r\n`).join('');
    const answer = await raw(`GET / HTTP/1.1\r\nHost: localhost\r\n${flood}\r\n`, portOf(platform[listener]));
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
  });

  it.each(['baseUrl', 'gatewayUrl'] as const)('answers what is not HTTP on %s with 400', async (listener) => {
    expect(await raw('HELLO\r\n\r\n', portOf(platform[listener]))).toMatch(/^HTTP\/1\.1 400 /);
  });

  it.each(['/meta/..', '/meta/%2e%2e/health', '/meta/../../etc/passwd'])(
    'has nothing at %s, which it takes as it is sent',
    async (path) => {
      const request = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${auth}\r\nConnection: close\r\n\r\n`;
      expect(await raw(request, portOf(platform.baseUrl))).toMatch(/^HTTP\/1\.1 40[04] /);
    },
  );

  it('continues after all of this', async () => {
    expect(await send('GET', `${platform.metaUrl}/health`)).toMatchObject({ status: 200, body: { status: 'healthy' } });
  });
});
