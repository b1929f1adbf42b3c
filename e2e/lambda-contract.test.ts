import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rootPairOf } from '../server/testing/account.ts';
import { send } from '../server/testing/checked-client.ts';
import { type ApiClient, type Platform, startPlatform } from '../server/testing/platform.ts';
import { type ResourceFactory, resourceFactoryFor } from '../server/testing/resource-factory.ts';
import { createTenant, type Tenant } from '../server/testing/tenant.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Returns its arguments. */
const MIRROR = 'exports.run = (event, context, callback) => callback(null, { event, context: JSON.parse(context) });';
const ENVIRONMENT = 'exports.run = async () => process.env;';

let platform: Platform;
let root: ApiClient;
let acme: Tenant;
let make: ResourceFactory;
let rootPair: string;
let mirror: Awaited<ReturnType<typeof publish>>['call'];

beforeAll(async () => {
  process.env.TERRARIUM_TEST_SECRET = 'of the host';
  platform = await startPlatform();
  root = platform.root;
  make = resourceFactoryFor(root);
  acme = await createTenant(root, 'acme');
  rootPair = rootPairOf(platform);
  mirror = (await publish(MIRROR)).call;
});
afterAll(() => {
  delete process.env.TERRARIUM_TEST_SECRET;
  return platform?.stop();
});

/** A lambda with that code behind its own endpoint. */
async function publish(code: string, properties: object = {}, endpointProperties: object = {}) {
  const lambda = await make.lambda(acme, { code, ...properties });
  const endpoint = await make.endpoint(await make.api(acme), lambda, endpointProperties);
  const url: string = endpoint.properties.public_url;
  const call = (options?: Parameters<typeof send>[2], method = 'POST', rest = '') => send(method, url + rest, options);
  const set = (name: string, value: unknown) =>
    root.patch(`/acme/lambdas/${lambda.id}`, [{ op: 'add', path: `/properties/${name}`, value }]);
  return { lambda, endpoint, call, set };
}

it('a returned web Response is the response of an http-aware endpoint, and elsewhere its body and content type (D-137)', async () => {
  const code =
    "exports.run = async () => { const headers = new Headers({ 'X-Shop': 'a' }); headers.append('Set-Cookie', 'a=1'); headers.append('Set-Cookie', 'b=2');" +
    ' return Response.json({ order: 1 }, { status: 201, headers }) }';
  const aware = await publish(code, {}, { is_http_aware: true });
  const fullReply = await aware.call();
  expect([
    fullReply.status,
    fullReply.headers.get('x-shop'),
    fullReply.headers.get('content-type'),
    fullReply.body,
  ]).toEqual([201, 'a', 'application/json', { order: 1 }]);
  expect(fullReply.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  const plain = await (await publish(code)).call();
  expect([plain.status, plain.headers.get('x-shop'), plain.headers.get('content-type'), plain.body]).toEqual([
    200,
    null,
    'application/json',
    { order: 1 },
  ]);
});

describe('the arguments of a handler (D-135, D-136)', () => {
  it('is the body verbatim and a context of these members', async () => {
    const { lambda, endpoint, call } = await publish(MIRROR);
    const text = '{ "payload": {"a": 1},  "eventName": "lead.new" }\n';
    const sentAtMs = Date.now();
    const headers = { 'Content-Type': 'application/json', 'X-Request-Color': 'Green' };
    const { body } = await call({ body: text, headers, auth: rootPair }, 'PUT', '/a%20b/c?x=1&x=2&y&z=%C3%A4+1');
    expect(body.event).toBe(text);
    expect(body.context).toEqual({
      method: 'PUT',
      path: '/a%20b/c',
      params: { x: ['1', '2'], y: [''], z: ['ä 1'] },
      headers: expect.objectContaining({ 'x-request-color': 'Green', 'content-type': 'application/json' }),
      executionId: expect.stringMatching(UUID),
      lambdaId: lambda.id,
      lambdaName: lambda.name,
      eventName: 'lead.new',
      creds: rootPair,
      user: { id: expect.stringMatching(UUID), name: 'root' },
      apiEndpointId: endpoint.id,
      httpAware: false,
      deadline: expect.any(Number),
    });
    expect(Object.values(body.context.headers).every((value) => typeof value === 'string')).toBe(true);
    expect(body.context.deadline).toBeGreaterThanOrEqual(sentAtMs + 30_000);
    expect(body.context.deadline).toBeLessThanOrEqual(Date.now() + 30_000);
  });

  it('is {} without a body, and wrong credentials at an open endpoint are anonymous', async () => {
    const { call } = await publish(MIRROR, {}, { is_http_aware: true });
    const { body, headers } = await call({ auth: 'Bearer unknown' }, 'GET');
    expect(body).toMatchObject({
      event: '{}',
      context: {
        method: 'GET',
        path: '',
        params: {},
        eventName: '',
        creds: 'Bearer unknown',
        user: null,
        httpAware: true,
      },
    });
    expect(headers.get('x-terrarium-execution-id')).toBe(body.context.executionId);
  });

  it('is base64 of a body that is no UTF-8, and such a body can be the answer', async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, value) => value);
    const { call: mirror } = await publish(MIRROR);
    const { body } = await mirror({ body: bytes });
    expect(body).toMatchObject({ event: Buffer.from(bytes).toString('base64'), context: { isBase64Encoded: true } });
    const back = `exports.run = async (event) => ({
      statusCode: 200, headers: { 'Content-Type': 'image/png' }, body: event, isBase64Encoded: true });`;
    const { endpoint } = await publish(back, {}, { is_http_aware: true });
    const response = await fetch(endpoint.properties.public_url, { method: 'POST', body: bytes });
    expect(response.headers.get('content-type')).toBe('image/png');
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(bytes);
  });
});

describe('a body (D-135)', () => {
  const FORM = 'application/x-www-form-urlencoded';
  const PART = 'multipart/form-data; boundary=X';
  const multipart = (content: Uint8Array) =>
    Buffer.concat([
      Buffer.from('--X\r\nContent-Disposition: form-data; name="cv"; filename="cv.bin"\r\n\r\n'),
      content,
      Buffer.from('\r\n--X--\r\n'),
    ]);
  const gzipped = gzipSync('{"eventName":"packed"}');
  it.each<[string, Record<string, string>, string | Uint8Array | undefined, string, boolean]>([
    ['a form', { 'content-type': FORM }, 'a=1&b=%C3%A4+c', 'a=1&b=%C3%A4+c', false],
    [
      'a form of several parts, all of them text',
      { 'content-type': PART },
      multipart(Buffer.from('ü')),
      multipart(Buffer.from('ü')).toString(),
      false,
    ],
    [
      'a form with a file',
      { 'content-type': PART },
      multipart(Uint8Array.of(0, 255)),
      multipart(Uint8Array.of(0, 255)).toString('base64'),
      true,
    ],
    // The platform does not decompress it: the header names the encoding.
    ['what is packed', { 'content-encoding': 'gzip' }, gzipped, gzipped.toString('base64'), true],
    ['an empty one', { 'content-type': 'application/json' }, '', '{}', false],
    ['none', {}, undefined, '{}', false],
    ['no JSON', { 'content-type': 'application/json' }, '{"a":', '{"a":', false],
    ['one with a byte order mark', {}, '\ufeff{"eventName":"x"}', '\ufeff{"eventName":"x"}', false],
  ])('arrives as it was sent: %s', async (_what, headers, sentBody, event, isBase64Encoded) => {
    const { status, body } = await mirror({ headers, ...(sentBody !== undefined && { body: sentBody }) });
    expect(status).toBe(200);
    expect(body).toMatchObject({ event, context: { headers, eventName: '' } });
    expect(body.context.isBase64Encoded).toBe(isBase64Encoded || undefined);
  });
});

const TEXT = 'text/plain; charset=utf-8';

describe('the response for a result (D-137, D-138)', () => {
  it.each([
    ["(event, context, callback) => callback(null, 'ü')", TEXT, 'ü'],
    ["() => 'returned'", TEXT, 'returned'],
    ['async () => ({ a: [1] })', 'application/json', { a: [1] }],
    ['async () => false', 'application/json', false],
    ['() => 0', 'application/json', 0],
    ['() => null', null, ''],
    ['async () => {}', null, ''],
    ["(event, context, callback) => { callback(null, 'first'); callback('late'); return 'later'; }", TEXT, 'first'],
    ["async () => ({ statusCode: 404, body: 'x' })", 'application/json', { statusCode: 404, body: 'x' }],
  ])('%s answers 200', async (handler, contentType, body) => {
    const { call } = await publish(`exports.run = ${handler};`);
    const reply = await call();
    expect({ ...reply, headers: reply.headers.get('content-type') }).toEqual({
      status: 200,
      headers: contentType,
      body,
    });
  });

  it("has the content type of the lambda's Accept header, except for wildcards", async () => {
    const { call, set } = await publish("exports.run = () => '<p>';", { headers: { accept: 'text/html' } });
    expect((await call()).headers.get('content-type')).toBe('text/html');
    await set('headers', { Accept: '*/*' });
    expect((await call()).headers.get('content-type')).toBe(TEXT);
  });

  it('is the HTTP response at an http-aware endpoint (D-140), immediately after the patch', async () => {
    const code = `exports.run = async () => ({
      status: 201, headers: { 'Set-Cookie': ['a=1', 'b=2'], 'Access-Control-Allow-Origin': 'https://only.example' },
      body: { made: true } });`;
    const { endpoint, call } = await publish(code);
    expect((await call()).status).toBe(200);
    await root.patch(`/acme/apiendpoints/${endpoint.id}`, [
      { op: 'add', path: '/properties/is_http_aware', value: true },
    ]);
    const { status, headers, body } = await call();
    expect({ status, body }).toEqual({ status: 201, body: { made: true } });
    expect(headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(headers.get('access-control-allow-origin')).toBe('https://only.example');
    expect(headers.get('content-type')).toBe('application/json');
  });
});

describe('failures (D-139)', () => {
  it.each([
    [
      'lambda_failed',
      500,
      'what was wrong',
      "exports.run = (event, context, callback) => callback('what was wrong', 'ERROR');",
      {},
    ],
    ['lambda_failed', 500, 'boom', "exports.run = async () => { throw new Error('boom'); };", {}],
    ['lambda_result_invalid', 502, 'Object.fromEntries(map)', 'exports.run = () => new Map();', {}],
    ['lambda_crashed', 502, 'exit', 'exports.run = () => process.exit(3);', {}],
    ['lambda_crashed', 502, 'syntax error', 'exports.run = (', {}],
    ['lambda_crashed', 502, "'missing'", 'exports.run = () => 1;', { handler: 'missing' }],
    [
      'lambda_crashed',
      502,
      '127.0.0.1:1',
      '',
      { code_type: 'package', package_url: 'http://127.0.0.1:1/x.zip', compressed: true },
    ],
    [
      'lambda_timeout',
      504,
      '1 s',
      'exports.run = (event, context, callback) => { setInterval(() => {}, 20); };',
      { timeout: 1 },
    ],
    ['not_supported', 501, 'python', 'def run(event): pass', { runtime: 'python3' }],
  ])('%s: %i naming %s', async (reason, code, expectedText, source, properties) => {
    const { lambda, call } = await publish(source, properties);
    const { status, headers, body } = await call();
    const message = expect.stringContaining(expectedText);
    expect({ status, body }).toEqual({
      status: code,
      body: { code, reason, message, executionId: expect.stringMatching(UUID) },
    });
    expect(headers.get('x-terrarium-execution-id')).toBe(body.executionId);
    expect(body.message).not.toMatch(/\n|\.js:\d/);
    if (code === 501) return;
    const log = await send('GET', `${platform.emulator.baseUrl}/log/lambda/${lambda.id}`, { auth: rootPair });
    expect(log.body.join('\n')).toContain(expectedText);
  });
});

describe('the environment of a process (D-111, D-113, D-114)', () => {
  it('is merged from every level, nearest first, and a change above applies to the next invocation', async () => {
    const env = (level: string) => ({ [level]: 'own', NEAREST: level });
    const levels = { organization: acme.org, workspace: acme.workspace, environment: acme.environment };
    const put = (path: string, value: object) => root.patch(path, [{ op: 'add', path: '/properties/env', value }]);
    for (const [level, path] of Object.entries(levels)) expect((await put(path, env(level))).status).toBe(200);
    const { lambda, call, set } = await publish(ENVIRONMENT, { env: { ...env('lambda'), GATEWAY_URL: 'mine' } });
    const merged = { organization: 'own', workspace: 'own', environment: 'own', lambda: 'own' };
    expect((await call()).body).toMatchObject({ ...merged, NEAREST: 'lambda', GATEWAY_URL: 'mine' });
    const { body: lambdaEnv } = await root.get(`/acme/lambdas/${lambda.id}/env`);
    expect(lambdaEnv).toEqual({ ...merged, NEAREST: 'lambda', GATEWAY_URL: 'mine' });

    await put(acme.org, { organization: 'changed' });
    expect((await call()).body).toMatchObject({ organization: 'changed' });
    await set('env', {});
    expect((await call()).body).toMatchObject({ NEAREST: 'environment', GATEWAY_URL: platform.emulator.gatewayUrl });
    for (const path of Object.values(levels)) await put(path, {});
  });

  it('contains nothing of the host except paths of programs, time zone, language and folders of the platform', async () => {
    const { body } = await (await publish(ENVIRONMENT)).call();
    const { metaUrl: META_URL, securityUrl: SECURITY_URL, gatewayUrl: GATEWAY_URL } = platform.emulator;
    const { PATH, TZ, LANG, HOME, TMPDIR, ...rest } = body;
    expect(rest).toEqual({ META_URL, SECURITY_URL, GATEWAY_URL });
    expect({ PATH, TZ, LANG }).toEqual({ PATH: process.env.PATH, TZ: process.env.TZ, LANG: process.env.LANG });
    expect(TMPDIR).not.toBe(process.env.TMPDIR);
    expect(TMPDIR.length).toBeLessThanOrEqual(60);
    expect(HOME).not.toBe(process.env.HOME);
  });

  it('leads a lambda to the platform, where it acts as its caller, and to other lambdas', async () => {
    const { endpoint: mirror } = await publish(MIRROR);
    const mirrorPath = new URL(mirror.properties.public_url).pathname;
    const { call } = await publish(`exports.run = async (event, context) => {
      const { META_URL, SECURITY_URL, GATEWAY_URL } = process.env;
      const headers = { Authorization: JSON.parse(context).creds, 'Content-Type': 'application/json' };
      const made = await fetch(META_URL + '/acme/workspaces', { method: 'POST', headers, body: event });
      const self = await fetch(SECURITY_URL + '/accounts/self', { headers });
      const other = await fetch(GATEWAY_URL + '${mirrorPath}/rest', { headers });
      return { made: await made.json(), self: await self.json(), path: (await other.json()).context.path };
    };`);
    const { body } = await call({ auth: rootPair, body: { name: 'made-inside' } });
    expect(body).toMatchObject({ made: { name: 'made-inside' }, self: { username: 'root' }, path: '/rest' });
    expect((await root.get(`/acme/workspaces/${body.made.id}`)).body.owner.id).toBe(body.self.id);
    expect((await call({ body: { name: 'anonymous' } })).body.made).toMatchObject({ code: 401 });
  });
});

describe('a change of a lambda (D-057, D-142)', () => {
  it('has its package fetched again where package_url is given again, and by no other patch', async () => {
    let fetchCount = 0;
    const source = createServer((_request, response) => {
      fetchCount += 1;
      response.end(`exports.run = () => ${fetchCount}`);
    });
    await new Promise<void>((resolve) => source.listen(0, '127.0.0.1', resolve));
    // As: a listening TCP server has such an address.
    const package_url = `http://127.0.0.1:${(source.address() as AddressInfo).port}/index.js`;
    const { call, set } = await publish('', { code_type: 'package', package_url });
    expect([(await call()).body, (await call()).body]).toEqual([1, 1]);
    await set('env', { A: 'b' });
    await set('timeout', 7);
    expect((await call()).body).toBe(1);
    expect((await set('package_url', package_url)).status).toBe(200);
    expect([(await call()).body, (await call()).body]).toEqual([2, 2]);
    expect(fetchCount).toBe(2);
    source.close();
    source.closeAllConnections();
  });

  it('applies to the next invocation; module state survives between invocations of the same code', async () => {
    const counting = (step: number) => `let calls = 0; exports.run = () => (calls += ${step});`;
    const { call, set } = await publish(counting(1));
    expect([(await call()).body, (await call()).body]).toEqual([1, 2]);
    await set('code', Buffer.from(counting(10)).toString('base64'));
    expect([(await call()).body, (await call()).body]).toEqual([10, 20]);
    await set('isolate', true);
    expect([(await call()).body, (await call()).body]).toEqual([10, 10]);
  });

  it('goes for its secrets too, mounted as variable or file (D-056)', async () => {
    const secret = await make.secret(acme, { items: [{ key: 'token', value: 'first' }] });
    const mount = { secret_id: secret.id, secret_key: 'token' };
    const secrets = [
      { ...mount, mount_type: 'env', path: 'TOKEN' },
      { ...mount, mount_type: 'file', path: 'conf/token' },
    ];
    const code = "exports.run = () => [process.env.TOKEN, require('fs').readFileSync('conf/token', 'utf8')];";
    const { call } = await publish(code, { secrets });
    expect((await call()).body).toEqual(['first', 'first']);
    const items = [{ key: 'token', value: Buffer.from('second').toString('base64') }];
    await root.patch(`/acme/secrets/${secret.id}`, [{ op: 'replace', path: '/properties/items', value: items }]);
    expect((await call()).body).toEqual(['second', 'second']);
  });
});
