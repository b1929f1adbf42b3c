import { once } from 'node:events';
import http from 'node:http';
import { connect } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { FaultRules } from '../api/server/fault-rules.ts';
import { GracefulShutdown, listenAt } from '../api/server/listening.ts';
import { basic, send } from '../testing/client.ts';
import { sharedPlatform } from '../testing/platform.ts';
import { createControlPlane } from './control-plane.ts';
import type { Emulator } from './emulator.ts';

const platform = sharedPlatform({ corsOrigins: ['https://app.example.com'], allowedHosts: ['proxy.example.com'] });
let emulator: Emulator;
let auth: string;
beforeAll(async () => {
  emulator = platform.emulator;
  auth = authOf(emulator);
});

const authOf = ({ rootCredentials }: Emulator) => basic(rootCredentials.apiKey, rootCredentials.apiSecret ?? '');
const get = (path: string, headers: Record<string, string> = {}) =>
  send('GET', `${emulator.baseUrl}${path}`, { auth, headers });

/** Writes bytes to the listener and reads until it closes the connection. */
async function raw(text: string): Promise<string> {
  const socket = connect(Number(new URL(emulator.baseUrl).port), '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk;
  });
  socket.write(text);
  await once(socket, 'close');
  return answer;
}

/** One request by node:http, with full control over the headers; the connection is kept. */
async function request(
  agent: http.Agent,
  method: string,
  path: string,
  { headers = {}, body = '' }: { headers?: http.OutgoingHttpHeaders; body?: string } = {},
): Promise<{ status: number; headers: http.IncomingHttpHeaders; text: string; port: number | undefined }> {
  const length = headers['Transfer-Encoding'] === undefined && { 'Content-Length': body.length };
  const options = { method, agent, headers: { Authorization: auth, ...length, ...headers } };
  const clientRequest = http.request(`${emulator.baseUrl}${path}`, options);
  if (headers.Expect) clientRequest.once('continue', () => clientRequest.end(body));
  else clientRequest.end(body);
  const [answer]: http.IncomingMessage[] = await once(clientRequest, 'response');
  if (!answer) throw new Error('no answer');
  const port = answer.socket.localPort;
  let text = '';
  for await (const chunk of answer) text += chunk;
  return { status: answer.statusCode ?? 0, headers: answer.headers, text, port };
}

describe('the base address (D-001)', () => {
  it('serves resources, security, logs and its own API', async () => {
    expect((await get('/openapi.json')).status).toBe(200);
    expect((await get('/meta/health')).status).toBe(200);
    expect((await get('/security/health')).status).toBe(200);
    expect((await get('/inspect/leads')).status).toBe(200);
    expect((await get('/log/lambda/00000000-0000-4000-8000-000000000000')).status).toBe(404);
    expect((await send('GET', `${emulator.baseUrl}/inspect/leads`)).status).toBe(401);
  });

  it('shares no path with the gateway, which is a separate listener', async () => {
    expect((await send('GET', `${emulator.gatewayUrl}/meta/health`)).status).toBe(404);
  });

  it.each(['/metadata', '/Meta/health', '/inspect', '/inspect/nothing', '/log', '/log/pod/1', '/v1/meta'])(
    'has no route %s (D-010, D-199)',
    async (path) => {
      const answer = { status: 404, body: { code: 404, reason: 'no_route', message: `no route: GET ${path}` } };
      expect(await get(path)).toMatchObject(answer);
      expect(await send('GET', `${emulator.baseUrl}${path}`)).toMatchObject(answer);
    },
  );
});

describe('addresses in answers (D-011)', () => {
  const hrefs = async (headers: Record<string, string>) => {
    const reply = await get('/meta/orgs', headers);
    const created = await send('POST', `${emulator.baseUrl}/meta/root/groups`, {
      auth,
      headers,
      body: { name: `group-${++groups}` },
    });
    const location = created.headers.get('location') ?? '';
    expect(location).toBe(`${reply.body[0].href}/groups/${created.body.id}`);
    expect(created.body.org.href).toBe(reply.body[0].href);
    return reply.body[0].href;
  };
  let groups = 0;

  it('begin with the host that the client asked', async () => {
    expect(await hrefs({})).toBe(`${emulator.baseUrl}/meta/root`);
    const named = await request(new http.Agent(), 'GET', '/meta/orgs', { headers: { Host: 'LOCALHOST:1234' } });
    expect(JSON.parse(named.text)[0].href).toBe('http://LOCALHOST:1234/meta/root');
  });

  it('or with the address that a proxy reports', async () => {
    expect(await hrefs({ 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'cloud.example.com' })).toBe(
      'https://cloud.example.com/meta/root',
    );
    const chain = { 'X-Forwarded-Proto': 'https, http', 'X-Forwarded-Host': 'cloud.example.com:8443, inner' };
    expect(await hrefs(chain)).toBe('https://cloud.example.com:8443/meta/root');
    const { host } = new URL(emulator.baseUrl);
    expect(await hrefs({ 'X-Forwarded-Proto': 'https' })).toBe(`https://${host}/meta/root`);
  });

  it('and are not taken from a malformed header', async () => {
    for (const host of ['evil.example.com/path?', 'a b', 'user@host', '"><script>', '']) {
      expect(await hrefs({ 'X-Forwarded-Host': host })).toBe(`${emulator.baseUrl}/meta/root`);
    }
    expect(await hrefs({ 'X-Forwarded-Proto': 'javascript' })).toBe(`${emulator.baseUrl}/meta/root`);
  });

  it('are in the challenge of a 401, too', async () => {
    const headers = { 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'cloud.example.com' };
    const reply = await send('GET', `${emulator.baseUrl}/meta/root`, { headers });
    expect(reply.headers.get('www-authenticate')).toBe(
      'Bearer realm="https://cloud.example.com/security/root/oauth/issue", Basic realm="https://cloud.example.com/security"',
    );
  });
});

describe('an address that is no text when it is decoded', () => {
  it.each(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'])('is a bad request, also of %s', async (method) => {
    for (const path of ['/meta/%zz', '/meta/root/lambdas/%E0%A4%A', '/security/%zz/oauth/issue']) {
      expect(await send(method, emulator.baseUrl + path)).toMatchObject({ status: 400 });
    }
  });

  it('is found as any other when it is text', async () => {
    expect(await get('/meta/%72oot')).toMatchObject({ status: 200, body: { name: 'root' } });
    expect(await send('PUT', `${emulator.baseUrl}/meta/%72oot/lambdas`)).toMatchObject({ status: 404 });
  });
});

describe('web pages of other origins (D-013)', () => {
  const preflight = { 'Access-Control-Request-Method': 'DELETE', 'Access-Control-Request-Headers': 'authorization' };
  const corsHeaders = (headers: Headers) => [...headers.keys()].filter((name) => name.startsWith('access-control-'));

  it.each(['/meta/root', '/meta/no/such/route/at/all/here', '/security/root/oauth/issue', '/nowhere', '/'])(
    'OPTIONS %s is 200 and empty, without a word of CORS for an origin that is not listed',
    async (path) => {
      for (const headers of [{}, preflight, { Origin: 'https://evil.example.com', ...preflight }]) {
        const reply = await send('OPTIONS', `${emulator.baseUrl}${path}`, { headers });
        expect(reply).toMatchObject({ status: 200, body: '' });
        expect(corsHeaders(reply.headers)).toEqual([]);
      }
    },
  );

  it('a listed origin can send every request with its own credentials', async () => {
    const Origin = 'https://app.example.com';
    const allowed = await send('OPTIONS', `${emulator.baseUrl}/meta/root`, { headers: { Origin, ...preflight } });
    expect(allowed).toMatchObject({ status: 200, body: '' });
    expect(allowed.headers.get('access-control-allow-origin')).toBe(Origin);
    expect(allowed.headers.get('access-control-allow-methods')).toMatch(/PATCH.*DELETE/);
    expect(allowed.headers.get('access-control-allow-headers')).toMatch(/Authorization.*Content-Type/);
    for (const path of ['/meta/root', '/meta/nowhere', '/nowhere']) {
      const reply = await get(path, { Origin });
      expect(reply.headers.get('access-control-allow-origin')).toBe(Origin);
      expect(reply.headers.get('vary')).toBe('Accept-Encoding, Origin');
    }
    const refused = await get('/meta/root', { Origin: 'https://app.example.com.evil.example' });
    expect(corsHeaders(refused.headers)).toEqual([]);
    expect(refused.headers.get('vary')).toBe('Accept-Encoding, Origin');
  });
});

describe('every answer', () => {
  it('carries the version of the emulator (D-199)', async () => {
    const { version } = (await get('/meta/about')).body;
    const replies = await Promise.all([
      get('/meta/root'),
      get('/meta/nowhere'),
      get('/nowhere'),
      get('/meta/%'),
      get(`/meta/root?${'x'.repeat(9000)}`),
      send('GET', `${emulator.baseUrl}/meta/root`),
      send('OPTIONS', `${emulator.baseUrl}/meta/root`),
      send('POST', `${emulator.baseUrl}/meta/sync`, { auth }),
      send('POST', `${emulator.baseUrl}/meta/root`, { auth, body: 'x' }),
      send('POST', `${emulator.baseUrl}/security/root/oauth/issue`),
    ]);
    expect(replies.map(({ status }) => status)).toEqual([200, 404, 404, 400, 414, 401, 200, 200, 415, 415]);
    for (const reply of replies) expect(reply.headers.get('x-terrarium-version')).toBe(version);
    const { host } = new URL(emulator.baseUrl);
    for (const bytes of ['nonsense\r\n\r\n', `GET / HTTP/1.1\r\nHost: ${host}\r\nX: ${'x'.repeat(70_000)}\r\n\r\n`]) {
      expect(await raw(bytes)).toMatch(new RegExp(`\r\nX-Terrarium-Version: ${version}\r\n`, 'i'));
    }
  });

  it('reveals neither its framework nor invites to guess its type', async () => {
    const { headers } = await get('/meta/root');
    expect(headers.get('x-powered-by')).toBeNull();
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('is JSON where it has a body, its code the status (D-009, D-180)', async () => {
    for (const path of ['/meta/root', '/meta/nowhere', '/meta/root/gadgets', '/nowhere', '/log/lambda/1', '/meta/%']) {
      const reply = await get(path);
      expect(reply.headers.get('content-type')).toMatch(/^application\/json(; charset=utf-8)?$/);
      const failed = { code: reply.status, reason: expect.any(String), message: expect.any(String) };
      if (reply.status !== 200) expect(reply.body).toEqual(failed);
    }
  });
});

describe('requests as clients send them', () => {
  it('one connection serves many requests, whatever became of the one before', async () => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    try {
      const json = { 'Content-Type': 'application/json' };
      const replies = [
        await request(agent, 'GET', '/meta/root'),
        await request(agent, 'GET', '/meta/nowhere'),
        await request(agent, 'GET', '/nowhere'),
        await request(agent, 'GET', '/meta/root', { headers: { Authorization: 'Bearer no' } }),
        await request(agent, 'POST', '/meta/root', { headers: json, body: '{' }),
        await request(agent, 'POST', '/meta/root', { body: 'text' }),
        await request(agent, 'POST', '/meta/nowhere', { headers: json, body: '{"name":"x"}' }),
        await request(agent, 'POST', '/nowhere', { headers: json, body: 'x'.repeat(1_000_000) }),
        await request(agent, 'DELETE', '/meta/root', { headers: json, body: 'x'.repeat(1_000_000) }),
        await request(agent, 'POST', '/meta/root', { headers: json, body: 'x'.repeat(11 * 1024 * 1024) }),
        await request(agent, 'HEAD', '/meta/root'),
        await request(agent, 'OPTIONS', '/meta/root'),
        await request(agent, 'POST', '/meta/sync'),
        await request(agent, 'GET', '/meta/root'),
      ];
      expect(replies.map(({ status }) => status)).toEqual([
        200, 404, 404, 401, 400, 415, 404, 404, 409, 413, 200, 200, 200, 200,
      ]);
      expect(new Set(replies.map(({ port }) => port)).size).toBe(1);
    } finally {
      agent.destroy();
    }
  });

  it('a body may come in chunks, and after 100-continue', async () => {
    const agent = new http.Agent();
    const json = { 'Content-Type': 'application/json' };
    const chunked = { ...json, 'Transfer-Encoding': 'chunked' };
    const first = await request(agent, 'POST', '/meta/root', { headers: chunked, body: '{"name":"in-chunks"}' });
    expect(first.status).toBe(201);
    const expecting = { ...json, Expect: '100-continue' };
    const second = await request(agent, 'POST', '/meta/root', { headers: expecting, body: '{"name":"expected"}' });
    expect(second.status).toBe(201);
  });

  it('a target may be absolute', async () => {
    const { host } = new URL(emulator.baseUrl);
    const answer = await raw(`GET http://${host}/meta/health HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });

  it.each([
    '/meta/./root',
    '/meta/root\\x',
    '/meta/\\a:999999',
    '/meta/\\\\',
    '/meta/[::',
    '/meta/root|',
    "/meta/root'",
  ])('a target that no browser would send is no fault of ours: %s', async (path) => {
    const { host } = new URL(emulator.baseUrl);
    const head = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: ${auth}\r\nConnection: close\r\n\r\n`;
    expect(await raw(head)).toMatch(/^HTTP\/1\.1 40[04] [\s\S]*"code":40[04]/);
  });

  it('a request without a Host is refused in JSON, and so is one for another host', async () => {
    expect(await raw('GET /meta/health HTTP/1.1\r\nConnection: close\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 400 .*"code":400/s,
    );
    expect(await raw('GET /meta/health HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 .*"code":400/s);
    expect(await raw('GET / HTTP/1.1\r\nHost: evil.example.com\r\nConnection: close\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 403 .*"code":403/s,
    );
    const allowed = 'GET /meta/health HTTP/1.1\r\nHost: Proxy.Example.com:99\r\nConnection: close\r\n\r\n';
    expect(await raw(allowed)).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('limits (D-185)', () => {
  it('a target of 8 KiB is read, a longer one is 414 however long it is', async () => {
    const target = (sizeBytes: number) => `/meta/root?${'x'.repeat(sizeBytes - '/meta/root?'.length)}`;
    expect((await get(target(8192))).status).toBe(200);
    expect((await get(target(8193))).status).toBe(414);
    const { host } = new URL(emulator.baseUrl);
    expect(await raw(`GET ${target(60_000)} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 414 .*"code":414/s,
    );
  });

  it.each([
    ['/security/accounts/self', ['code', 'reason', 'message', 'resource', 'developerMessage']],
    ['/security/root/oauth/issue', ['error', 'error_description', 'code']],
    ['/meta/root', ['code', 'reason', 'message']],
  ])('is refused in the form of the errors of %s before any service sees it', async (path, members) => {
    const bodyOf = async (target: string, { host = new URL(emulator.baseUrl).host, header = '' }) => {
      const text = await raw(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\n${header}Connection: close\r\n\r\n`);
      return JSON.parse(text.slice(text.indexOf('\r\n\r\n')));
    };
    const bodies = [
      await bodyOf(path, { host: 'evil.example' }),
      await bodyOf(`${path}?${'x'.repeat(9_000)}`, {}),
      await bodyOf(path, { header: `X-Long: ${'x'.repeat(60_000)}\r\n` }),
    ];
    expect(bodies.map(({ code }) => code)).toEqual([403, 414, 431]);
    for (const body of bodies) expect(Object.keys(body)).toEqual(members);
  });

  it('too many headers are 431', async () => {
    const { host } = new URL(emulator.baseUrl);
    const answer = await raw(`GET /meta/root HTTP/1.1\r\nHost: ${host}\r\nX: ${'x'.repeat(60_000)}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 431 .*"code":431/s);
  });
});

describe('files of the window and the documentation', () => {
  const at = async (path: string, headers = '') => {
    const answer = await raw(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}Connection: close\r\n\r\n`);
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    return { status: Number(head.split(' ')[1]), head, body };
  };

  it.each([
    ['/ui/assets/missing.js', 404],
    ['/ui/assets/', 404],
    ['/ui/assets', 404],
    ['/ui/assets/%2e%2e/%2e%2e/package.json', 403],
    ['/ui/assets/%2e%2e%2f%2e%2e%2fpackage.json', 403],
    ['/ui/assets/a%00b', 400],
    ['/ui/assets/%zz', 400],
    ['/docs/missing.js', 404],
    ['/docs/assets/missing.js', 404],
    ['/docs/%2e%2e/%2e%2e/package.json', 404],
    ['/docs/%zz', 404],
    ['/docs/a%00b', 404],
  ])('%s is %d, a refusal without a stack or a place on the disk', async (path, status) => {
    const answer = await at(path);
    expect(answer.status).toBe(status);
    expect(answer.head).toContain('application/json');
    expect(JSON.parse(answer.body)).toMatchObject({ code: status });
    expect(answer.body).not.toMatch(/ENOENT|node_modules|\n +at |dist/);
  });

  it('a part that a file does not have is 416', async () => {
    const answer = await at('/docs/openapi-explorer.min.js', 'Range: bytes=999999999-\r\n');
    expect(answer.status).toBe(416);
  });
});

it.each(['h2c', 'websocket'])(
  'a request with a body that asks for an upgrade to %s is answered as a plain one',
  async (upgrade) => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const headers = { Connection: 'Upgrade', Upgrade: upgrade, 'Content-Type': 'application/json' };
    const body = JSON.stringify({ name: `upgrade-${upgrade}` });
    const creationResponse = await request(agent, 'POST', '/meta/root/workspaces', { headers, body });
    expect([creationResponse.status, JSON.parse(creationResponse.text).name]).toEqual([201, `upgrade-${upgrade}`]);
    const next = await request(agent, 'GET', '/meta/health');
    expect([next.status, next.port]).toEqual([200, creationResponse.port]);
    agent.destroy();
  },
);

const controlPlaneWith = (options: Partial<Parameters<typeof createControlPlane>[0]>) =>
  createControlPlane({
    version: 'x',
    allowedHosts: new Set(),
    corsOrigins: [],
    limits: { requestTargetBytes: 1_000, requestBodyBytes: 1_000 },
    shutdown: new GracefulShutdown(),
    opened: Promise.resolve(),
    admit: () => {},
    faults: new FaultRules(() => {}),
    recording: { nowMs: Date.now, userIdOf: () => undefined, onExchange: () => {} },
    routers: {},
    onFault: (fault) => expect.unreachable(String(fault)),
    ...options,
  });

it('a client that sends its head a byte now and then is cut off', async () => {
  const slow = controlPlaneWith({ arrivalTimes: { headersMs: 200, requestMs: 400 } });
  const { port } = await listenAt(slow, { host: '127.0.0.1', port: 0 });
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk;
  });
  socket.on('error', () => undefined); // what drips on after the end
  socket.write('GET /meta HTTP/1.1\r\nHost: localhost\r\n');
  const drip = setInterval(() => socket.write('X: y\r\n'), 50);
  await once(socket, 'close');
  clearInterval(drip);
  expect(answer).toMatch(/^HTTP\/1.1 408 /);
  slow.close();
});

it('lets early requests wait until the platform can answer', async () => {
  const events: string[] = [];
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const starting = controlPlaneWith({
    opened,
    admit: () => events.push('admitted'),
    routers: { '/meta': (_, res) => void res.end('answer') },
  });
  const arrived = once(starting, 'request');
  const { port } = await listenAt(starting, { host: '127.0.0.1', port: 0 });
  const answer = fetch(`http://127.0.0.1:${port}/meta`);
  await arrived;
  events.push('opened');
  open();
  expect(await (await answer).text()).toBe('answer');
  expect(events).toEqual(['opened', 'admitted']);
  starting.close();
});
