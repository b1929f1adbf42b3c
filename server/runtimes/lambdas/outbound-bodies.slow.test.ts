import { createServer as createHttp, type Server } from 'node:http';
import {
  createServer as createHttp2,
  createSecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { generate } from 'selfsigned';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_CAPTURED_BYTES } from '../../model/exchange-record.ts';
import type { Invocation, OutboundCall } from '../../model/invocation.ts';
import { resultOf, TestLambdaService } from '../../testing/lambda-service.ts';

/* The body of each request that a lambda sends, and of each answer, is in the record: whatever sends it, caught or not (D-200). */

const packages = path.resolve(fileURLToPath(import.meta.url), '..', '..', '..', '..', 'node_modules');
const servers: { close(): unknown; closeAllConnections?(): void }[] = [];
const records = new Map<string, (invocation: Invocation) => void>();
let service: TestLambdaService;
let env: Record<string, string>;
let http2Servers: Record<string, string>;

async function listen(server: Server | ReturnType<typeof createHttp2>): Promise<string> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  // As: a listening TCP server has such an address.
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const answer = createHttp(async (request, response) => {
  let body = '';
  for await (const part of request) body += part;
  if (request.url === '/gzip') {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    response.end(gzipSync('{"plain":true}'));
  } else if (request.url === '/large') {
    for (let n = 0; n < 20; n += 1) response.write('y'.repeat(50_000));
    response.end();
  } else if (request.url === '/cut') {
    response.writeHead(200, { 'content-length': '100' });
    response.write('half');
    setTimeout(() => response.destroy(), 20);
  } else {
    response.writeHead(200, { 'content-type': 'text/plain', 'transfer-encoding': 'chunked' });
    response.write('you said ');
    response.end(request.method === 'HEAD' ? undefined : body);
  }
});

async function answerHttp2(request: Http2ServerRequest, response: Http2ServerResponse): Promise<void> {
  let body = '';
  for await (const part of request) body += part;
  response.writeHead(200, { 'content-type': 'text/plain', 'x-version': request.httpVersion });
  response.end(`you said ${body}`);
}

beforeAll(async () => {
  const crmHost = await listen(answer);
  const [host = '', port] = crmHost.split(':');
  service = await TestLambdaService.start({
    outbound: { crm: 'catch', crmAddress: () => ({ host, port: Number(port) }) },
    limits: { openOutboundMs: 10 * 60_000 },
    onInvocation: (invocation) => records.get(invocation.executionId)?.(invocation),
  });
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
    algorithm: 'sha256',
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }],
  });
  const secure = await listen(createSecureServer({ cert, key, allowHTTP1: true }, answerHttp2));
  const plain = await listen(createHttp2(answerHttp2));
  http2Servers = {
    SECURE: `https://${secure.replace('127.0.0.1', 'localhost')}`,
    PLAIN: `http://${plain}`,
    CA: cert,
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
  };
  env = { CRM_API_BASEPATH: 'crm.example', THERE: `http://${crmHost}`, NODE_PATH: packages };
});
afterAll(async () => {
  await service.stop();
  for (const server of servers) {
    server.close();
    server.closeAllConnections?.();
  }
});

async function callsOf(code: string, more: Record<string, string> = {}): Promise<OutboundCall[]> {
  const id = service.lambda(code, { env: { ...env, ...more } });
  const invocation = await service.invoke(id);
  resultOf(invocation);
  return invocation.outbound;
}

const textOf = (call: OutboundCall | undefined, side: 'request' | 'response') =>
  Buffer.from(call?.[side]?.bytes ?? []).toString();

const libraries: Record<string, (at: string) => string> = {
  https: (at) =>
    `new Promise((ok, no) => require(${at}.split(':')[0]).request(${at} + '/', { method: 'POST', headers: { 'content-type': 'text/plain' } }, (r) => r.resume().on('end', ok)).on('error', no).end('lead=1'))`,
  'http in parts': (at) =>
    `new Promise((ok, no) => { const s = require(${at}.split(':')[0]).request(${at} + '/', { method: 'POST' }, (r) => r.resume().on('end', ok)).on('error', no); s.write('lead'); setTimeout(() => s.end('=1'), 20) })`,
  fetch: (at) => `fetch(${at}, { method: 'POST', body: 'lead=1' }).then((r) => r.text())`,
  'fetch of a stream': (at) =>
    `fetch(${at}, { method: 'POST', duplex: 'half', body: require('stream').Readable.from(['le', 'ad=1']) }).then((r) => r.text())`,
  axios: (at) => `require('axios').post(${at}, 'lead=1')`,
  undici: (at) => `require('undici').request(${at}, { method: 'POST', body: 'lead=1' }).then((r) => r.body.text())`,
  got: (at) => `import('file://' + require.resolve('got')).then((m) => m.default.post(${at}, { body: 'lead=1' }))`,
  'got with HTTP/2': (at) =>
    `import('file://' + require.resolve('got')).then((m) => m.default.post(${at}, { body: 'lead=1', http2: true }))`,
  net: (at) =>
    `new Promise((ok, no) => { const u = new URL(${at}); const s = (u.protocol === 'https:' ? require('tls') : require('net')).connect({ host: u.hostname, port: u.port || 443 }, () => s.write('POST / HTTP/1.1\\r\\nHost: ' + u.host + '\\r\\nConnection: close\\r\\nContent-Length: 6\\r\\n\\r\\nlead=1')); s.on('error', no).resume().on('end', ok) })`,
};

describe.concurrent.each(Object.entries(libraries))('a call by %s', (_name, call) => {
  it.each(['caught', 'passed'])('that is %s has both bodies in the record', async (how) => {
    const at = how === 'caught' ? "'https://crm.example'" : 'process.env.THERE';
    const calls = await callsOf(`exports.run = () => ${call(at)}.then(() => 'done')`);
    expect(calls).toHaveLength(1);
    const [firstCall] = calls;
    expect(firstCall).toMatchObject({
      method: 'POST',
      url: `${how === 'caught' ? 'https://crm.example' : env.THERE}/`,
      status: 200,
      request: { sizeBytes: 6 },
      response: { sizeBytes: 15, contentType: 'text/plain' },
    });
    expect(firstCall).not.toHaveProperty('error');
    expect([textOf(firstCall, 'request'), textOf(firstCall, 'response')]).toEqual(['lead=1', 'you said lead=1']);
  });
});

describe('a call by HTTP/2 that reaches its host has both bodies in the record, once', () => {
  const session = (
    url: string,
  ) => `new Promise((ok, no) => { const s = require('http2').connect(process.env.${url}).on('error', no);
    const r = s.request({ ':method': 'POST', ':path': '/lead' }); r.on('error', no).on('end', () => { s.close(); ok('2.0') }).resume(); r.write('lead'); r.end('=1') })`;
  it.concurrent.each([
    ['of a session', 'SECURE', session('SECURE')],
    ['of a session without TLS', 'PLAIN', session('PLAIN')],
    [
      'of an ES module',
      'SECURE',
      `import('data:text/javascript,' + encodeURIComponent('import { connect } from "node:http2"; export default connect')).then(({ default: connect }) =>
        new Promise((ok, no) => { const s = connect(process.env.SECURE).on('error', no); s.request({ ':method': 'POST', ':path': '/lead' }).on('error', no).on('end', () => { s.close(); ok('2.0') }).resume().end('lead=1') }))`,
    ],
    [
      'of got',
      'SECURE',
      `import('file://' + require.resolve('got')).then((m) => m.default.post(process.env.SECURE + '/lead', { body: 'lead=1', http2: true, https: { certificateAuthority: process.env.CA } })).then((r) => r.headers['x-version'])`,
    ],
    [
      'of undici',
      'SECURE',
      `(() => { const { Agent, request } = require('undici'); const dispatcher = new Agent({ allowH2: true });
        return request(process.env.SECURE + '/lead', { method: 'POST', body: 'lead=1', dispatcher }).then((r) => r.body.text().then(() => r.headers['x-version'])) })()`,
    ],
  ])('%s', async (_name, server, call) => {
    const id = service.lambda(`exports.run = () => ${call}`, { env: { ...env, ...http2Servers } });
    const invocation = await service.invoke(id);
    expect(resultOf(invocation)).toBe('2.0');
    const [firstCall, ...more] = invocation.outbound;
    expect(more).toEqual([]);
    expect(firstCall).toMatchObject({ method: 'POST', url: `${http2Servers[server]}/lead`, status: 200 });
    expect(firstCall).not.toHaveProperty('error');
    expect([textOf(firstCall, 'request'), textOf(firstCall, 'response')]).toEqual(['lead=1', 'you said lead=1']);
  });

  it('and one that fails says how', async () => {
    const code = `exports.run = () => new Promise((ok) => { const s = require('http2').connect('https://127.0.0.1:4').on('error', () => {});
      s.request({ ':path': '/lead' }).on('error', (e) => ok(e.code)).end() })`;
    const [call] = await callsOf(code);
    expect(call).toMatchObject({
      method: 'GET',
      url: 'https://127.0.0.1:4/lead',
      error: expect.stringContaining('ECONNREFUSED'),
    });
  });
});

it('a message without a body has none in the record', async () => {
  const code = `exports.run = async () => { await fetch(process.env.THERE, { method: 'HEAD' }); await require('axios').head(process.env.THERE); return 'done' }`;
  const calls = await callsOf(code);
  expect(calls).toMatchObject([
    { method: 'HEAD', status: 200 },
    { method: 'HEAD', status: 200 },
  ]);
  for (const call of calls) expect([call.request, call.response]).toEqual([undefined, undefined]);
});

it('of a large body the beginning is kept, and its size', async () => {
  const code = `exports.run = () => fetch(process.env.THERE + '/large', { method: 'POST', body: 'x'.repeat(3e6) }).then((r) => r.text())`;
  const [call] = await callsOf(code);
  expect(call?.request).toMatchObject({ sizeBytes: 3_000_000 });
  expect(call?.response).toMatchObject({ sizeBytes: 1_000_000 });
  expect(textOf(call, 'request')).toBe('x'.repeat(MAX_CAPTURED_BYTES));
  expect(textOf(call, 'response')).toBe('y'.repeat(MAX_CAPTURED_BYTES));
});

it('all bodies of a record have a bound, too', async () => {
  const code = `exports.run = async () => { for (let n = 0; n < 12; n += 1) await (await fetch(process.env.THERE + '/large')).text(); return 'done' }`;
  const calls = await callsOf(code);
  const keptBytes = calls.reduce((sum, { response }) => sum + (response?.bytes.length ?? 0), 0);
  expect([calls.length, keptBytes]).toEqual([12, 2 * 1024 * 1024]);
  expect(calls.at(-1)?.response).toMatchObject({ sizeBytes: 1_000_000 });
});

it('calls by one connection keep their own bodies, and an answer that breaks off is kept as far as it came', async () => {
  const code = `const http = require('http'); const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const post = (path, body) => new Promise((ok) => http.request(process.env.THERE + path, { method: 'POST', agent }, (r) => r.resume().on('error', ok).on('end', ok)).on('error', ok).end(body));
    exports.run = async () => { await post('/', 'one'); await post('/', 'two'); await post('/cut', 'three'); return 'done' }`;
  const calls = await callsOf(code);
  expect(calls.map((call) => textOf(call, 'request'))).toEqual(['one', 'two', 'three']);
  expect(calls.map((call) => textOf(call, 'response'))).toEqual(['you said one', 'you said two', 'half']);
});

it('a compressed body is kept as it was sent, with its encoding', async () => {
  const [call] = await callsOf(`exports.run = () => fetch(process.env.THERE + '/gzip').then((r) => r.text())`);
  expect(call?.response).toMatchObject({ contentType: 'application/json', contentEncoding: 'gzip' });
});

it('connections without HTTP are not changed', async () => {
  const code = `exports.run = () => new Promise((ok, no) => { const u = new URL(process.env.THERE);
    const s = require('net').connect(u.port, u.hostname, () => s.write(Buffer.from([0, 1, 2, 255]))); let t = ''; s.on('error', no).on('data', (d) => { t += d }).on('end', () => ok(t.slice(0, 12))) })`;
  expect(await callsOf(code)).toEqual([]);
});

it('the response to a call that continues after the handler has returned is in the record', async () => {
  const id = service.lambda(
    `exports.run = (event, context, callback) => { fetch(process.env.THERE, { method: 'POST', body: 'late' }).then((r) => r.text()); callback(null, 'SUCCESS') }`,
    { env },
  );
  const closed = new Promise<Invocation>((resolve) => {
    void service.invoke(id).then(({ executionId }) => records.set(executionId, resolve));
  });
  const { outbound } = await closed;
  expect([textOf(outbound[0], 'request'), textOf(outbound[0], 'response')]).toEqual(['late', 'you said late']);
});

it('a Content-Length that is smaller than the body is in the log, with both lengths', async () => {
  const code = `exports.run = () => new Promise((ok) => { const body = 'last_name=Müller'; const headers = { 'Content-Length': body.length };
    require('http').request(process.env.THERE, { method: 'POST', headers }, (r) => r.resume().on('end', ok)).on('error', ok).end(body) })`;
  const { logs } = await service.run(code, { env });
  expect(logs.map(({ text }) => text)).toContain(
    "[terrarium] a request's Content-Length is 16, but the body has 17 bytes: the receiver reads only 16 of them. Set Buffer.byteLength(body), or leave the header out.",
  );
});
