import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { generate } from 'selfsigned';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failureOf, resultOf, TestLambdaService } from '../../testing/lambda-service.ts';
import type { MockAddress } from './process/protocol.ts';

/** Sends its event as a form, in the way that lambdas have been written for years. */
const CLASSIC = `
  const https = require('https');
  exports.run = (event, context, callback) => {
    const options = {
      hostname: process.env.CRM_API_BASEPATH, path: '/servlet/servlet.WebToLead?encoding=UTF-8', method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': Buffer.byteLength(event) },
    };
    const req = https.request(options, (res) => {
      let text = '';
      res.on('data', (chunk) => { text += chunk });
      res.on('end', () => callback(null, [res.statusCode, res.headers['x-crm'], text]));
    });
    req.on('error', (error) => callback(error.message, 'ERROR'));
    req.write(event);
    req.end();
  };
`;

interface ReceivedRequest {
  method: string | undefined;
  url: string | undefined;
  host: string | undefined;
  body: string;
}

const servers: Server[] = [];
const received: ReceivedRequest[] = [];
let mock: MockAddress | undefined;
let other: string;
let service: TestLambdaService;

async function listen(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // As: a listening TCP server has such an address.
  return (server.address() as AddressInfo).port;
}

async function crm(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = '';
  for await (const chunk of request) body += chunk;
  received.push({ method: request.method, url: request.url, host: request.headers.host, body });
  if (request.url === '/moved') response.writeHead(204, { 'x-crm': 'yes' }).end();
  else response.writeHead(200, { 'x-crm': 'yes', 'content-type': 'text/html' }).end(`got ${body.length}`);
}

beforeAll(async () => {
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'mock' }], { algorithm: 'sha256' });
  mock = { host: '127.0.0.1', port: await listen(createTlsServer({ cert, key }, crm)), caPem: cert };
  const port = await listen(
    createServer((request, response) => {
      if (request.url === '/silent') return;
      response.write('one ');
      if (request.url === '/half') return;
      setImmediate(() => response.end(`two ${request.socket.remotePort}`));
    }),
  );
  other = `http://127.0.0.1:${port}`;
  service = await TestLambdaService.start({ outbound: { crm: 'catch', crmAddress: () => mock } });
});
afterAll(async () => {
  await service.stop();
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
});

const run = (code: string, event = '', basepath = 'crm.example') =>
  service.run(code, { env: { CRM_API_BASEPATH: basepath, OTHER: other } }, event);

describe("a call to the CRM's host is answered by the mock (D-200)", () => {
  it('when the lambda uses https.request with options', async () => {
    const invocation = await run(CLASSIC, 'oid=1&name=a');
    expect(JSON.parse(resultOf(invocation))).toEqual([200, 'yes', 'got 12']);
    expect(received.at(-1)).toEqual({
      method: 'POST',
      url: '/servlet/servlet.WebToLead?encoding=UTF-8',
      host: 'crm.example',
      body: 'oid=1&name=a',
    });
    expect(invocation.outbound).toEqual([
      {
        method: 'POST',
        url: 'https://crm.example/servlet/servlet.WebToLead?encoding=UTF-8',
        startedAtMs: expect.any(Number),
        durationMs: expect.any(Number),
        traceId: invocation.executionId.replaceAll('-', ''),
        status: 200,
        caughtBy: 'crm',
        request: expect.objectContaining({ sizeBytes: 12 }),
        response: expect.objectContaining({ sizeBytes: 6 }),
      },
    ]);
  });

  it('when its name has letters beyond ASCII', async () => {
    const invocation = await run(CLASSIC.replace('/servlet/servlet.WebToLead', '/lead'), 'oid=1', 'bücher.example');
    expect(JSON.parse(resultOf(invocation))).toEqual([200, 'yes', 'got 5']);
    expect(invocation.outbound).toMatchObject([{ caughtBy: 'crm' }]);
  });

  it('with as much of the form as a Content-Length that is too small says', async () => {
    const code = CLASSIC.replace('Buffer.byteLength(event)', 'event.length');
    expect(JSON.parse(resultOf(await run(code, 'oid=1&name=äöü')))).toEqual([200, 'yes', 'got 13']);
    expect(received.at(-1)).toMatchObject({ body: expect.stringMatching(/^oid=1&name=ä/) });
  });

  it('with 400 and the reason when the path does not begin with a slash', async () => {
    const invocation = await run(CLASSIC.replace('/servlet/', 'servlet/'), 'oid=1');
    expect(JSON.parse(resultOf(invocation))).toEqual([400, null, expect.stringContaining('begin with a slash')]);
    const url = 'https://crm.example/servlet/servlet.WebToLead?encoding=UTF-8';
    const warning = expect.stringMatching(/^the mock CRM rejected the form with status 400: .* begin with a slash/);
    expect(invocation.outbound).toMatchObject([{ url, status: 400, caughtBy: 'crm', warning }]);
  });

  const answer =
    '(res) => { let t = ""; res.on("data", (d) => { t += d }); res.on("end", () => callback(null, res.statusCode + t)) }';
  it.each([
    [
      'https.request with a URL and options',
      `https.request('https://crm.example/a', { method: 'PUT' }, ${answer}).end('x')`,
      'got 1',
    ],
    ['https.request with a URL object', `https.request(new URL('https://crm.example/a'), ${answer}).end()`, 'got 0'],
    ['https.get', `https.get('https://crm.example/a', ${answer})`, 'got 0'],
    ['http.get', `http.get('http://CRM.example/a', ${answer})`, 'got 0'],
    ['http.get with options', `http.get({ host: 'crm.example', path: '/a', port: 8080 }, ${answer})`, 'got 0'],
    [
      'an agent of its own',
      `https.get('https://crm.example/a', { agent: new https.Agent({ keepAlive: true }) }, ${answer})`,
      'got 0',
    ],
    [
      'a body in many pieces',
      `const r = https.request('https://crm.example/a', { method: 'POST' }, ${answer}); for (let i = 0; i < 50; i++) r.write('x'.repeat(1000)); r.end()`,
      'got 50000',
    ],
    [
      'fetch',
      `fetch('https://crm.example/a', { method: 'POST', body: 'xyz' }).then(async (r) => callback(null, r.status + await r.text()))`,
      'got 3',
    ],
    [
      'fetch of a Request',
      `fetch(new Request('https://crm.example/a')).then(async (r) => callback(null, r.status + await r.text()))`,
      'got 0',
    ],
  ])('by %s', async (_name, call, expected) => {
    const code = `const https = require('https'), http = require('http'); exports.run = (event, context, callback) => { ${call} }`;
    const invocation = await run(code);
    expect(resultOf(invocation)).toBe(`200${expected}`);
    expect(invocation.outbound).toMatchObject([{ status: 200, caughtBy: 'crm' }]);
  });

  it('in an ES module that imports the functions by name', async () => {
    const code = `import { request } from 'node:https';
      export const run = () => new Promise((resolve, reject) => {
        request({ host: 'crm.example', path: '/moved' }, (res) => { res.resume(); res.on('end', () => resolve(res.statusCode)) }).on('error', reject).end();
      });`;
    expect(resultOf(await run(code))).toBe('204');
  });

  it.each(['https://crm.example/', 'crm.example:8443', 'https://crm.example:8443/x'])(
    'when CRM_API_BASEPATH is %s',
    async (basepath) => {
      const port = basepath.includes('8443') ? ':8443' : '';
      const code = `exports.run = async () => (await fetch('https://crm.example${port}/a')).status`;
      expect(resultOf(await run(code, '', basepath))).toBe('200');
    },
  );

  it('is an ordinary error when the mock is not there', async () => {
    const workingMock = mock;
    mock = { host: '127.0.0.1', port: 1 };
    const classic = await run(CLASSIC, 'x');
    expect(failureOf(classic)).toMatch(/^error: the mock CRM at 127.0.0.1:1 did not respond: .*ECONNREFUSED/);
    expect(classic.outbound).toMatchObject([{ caughtBy: 'crm', error: expect.stringContaining('mock CRM') }]);
    const fetching = await run(
      'exports.run = () => fetch("https://crm.example").catch((e) => e.message + ": " + e.cause.message)',
    );
    expect(resultOf(fetching)).toMatch(/^fetch failed: the mock CRM at/);
    mock = workingMock;
  });
});

/** Calls other hosts with and without a CRM: the calls must behave as if nothing watched them. */
describe.each([['crm.example'], ['']])("a call to another host, CRM_API_BASEPATH being '%s',", (basepath) => {
  it('passes, streamed', async () => {
    const code = `const http = require('http');
      exports.run = (event, context, callback) => http.get(process.env.OTHER + '/x?y=1', (res) => {
        const pieces = []; res.on('data', (d) => pieces.push(String(d))); res.on('end', () => callback(null, pieces));
      }) && undefined;`;
    const invocation = await run(code, '', basepath);
    expect(JSON.parse(resultOf(invocation)).join('')).toMatch(/^one two \d+$/);
    expect(invocation.outbound).toEqual([
      {
        method: 'GET',
        url: `${other}/x?y=1`,
        startedAtMs: expect.any(Number),
        durationMs: expect.any(Number),
        traceId: invocation.executionId.replaceAll('-', ''),
        status: 200,
        response: expect.objectContaining({ sizeBytes: JSON.parse(resultOf(invocation)).join('').length }),
      },
    ]);
  });

  it('passes by fetch', async () => {
    const invocation = await run('exports.run = async () => (await fetch(process.env.OTHER)).text()', '', basepath);
    expect(resultOf(invocation)).toMatch(/^one two/);
    expect(invocation.outbound).toMatchObject([{ method: 'GET', url: `${other}/`, status: 200 }]);
  });

  it('uses one connection with an agent that keeps it alive', async () => {
    const code = `const http = require('http'); const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
      const get = () => new Promise((resolve) => http.get(process.env.OTHER, { agent }, (res) => { let t = ''; res.on('data', (d) => { t += d }).on('end', () => resolve(t)) }));
      exports.run = async () => [await get(), await get()];`;
    const [first, second] = JSON.parse(resultOf(await run(code, '', basepath)));
    expect(second).toBe(first);
  });

  it('fails as it would anyway, and that is recorded', async () => {
    const code = `const http = require('http');
      exports.run = (event, context, callback) => { http.get('http://127.0.0.1:4/').on('error', (e) => callback(null, e.code)) }`;
    const invocation = await run(code, '', basepath);
    expect(resultOf(invocation)).toBe('ECONNREFUSED');
    expect(invocation.outbound).toMatchObject([
      { url: 'http://127.0.0.1:4/', error: expect.stringContaining('ECONNREFUSED') },
    ]);
    const fetching = await run(
      'exports.run = () => fetch("http://127.0.0.1:4").catch((e) => e.cause.code)',
      '',
      basepath,
    );
    expect(resultOf(fetching)).toBe('ECONNREFUSED');
  });

  it.each([
    [
      'fetch',
      '(() => { const { signal } = aborting; return fetch(at, { signal }).then(async (r) => { for await (const part of r.body) abort() }) })()',
    ],
    [
      'http.get with a signal',
      "new Promise((ok, no) => require('http').get(at, { signal: aborting.signal }, (r) => r.on('error', no).on('data', abort)).on('error', no))",
    ],
    [
      'http.get that is destroyed',
      "new Promise((ok, no) => { const sent = require('http').get(at, (r) => r.on('error', no).on('data', () => sent.destroy())).on('error', no); if (at.endsWith('silent')) setTimeout(() => sent.destroy(), 30) })",
    ],
  ])('that the lambda aborts by %s is recorded with the reason', async (way, call) => {
    // A fetch that is aborted before it has a connection is not reported before it would have one.
    for (const path of way === 'fetch' ? ['/half'] : ['/silent', '/half']) {
      const code = `exports.run = async () => {
        const at = process.env.OTHER + '${path}';
        const aborting = new AbortController();
        const abort = () => aborting.abort();
        if (at.endsWith('silent')) setTimeout(abort, 30);
        try { return await ${call} } catch (e) { await new Promise(setImmediate); return 'caught ' + e.name }
      }`;
      const invocation = await run(code, '', basepath);
      expect(resultOf(invocation)).toMatch(/^caught /);
      expect(invocation.outbound).toMatchObject([
        {
          method: 'GET',
          url: `${other}${path}`,
          error: expect.stringMatching(/abort|hang up|closed before the answer was complete/i),
          ...(path === '/half' && { status: 200 }),
        },
      ]);
    }
  });

  it('is an exception that ends the process when no listener takes its error', async () => {
    const code = `exports.run = (event, context, callback) => { require('http').get('http://127.0.0.1:4/') }`;
    expect(failureOf(await run(code, '', basepath))).toMatch(/^crash: uncaught exception: connect ECONNREFUSED/);
  });

  it('that is unanswered when the invocation ends is recorded as such', async () => {
    const code = `exports.run = (event, context, callback) => { require('http').get(process.env.OTHER).on('error', () => {}); callback(null, 'x') }`;
    const { outbound } = await run(code, '', basepath);
    expect(outbound).toMatchObject([{ url: `${other}/`, error: 'no response before the invocation ended' }]);
  });
});

it('nothing is caught when the emulator is set to let it pass', async () => {
  const passing = await TestLambdaService.start({ outbound: { crm: 'pass', crmAddress: () => mock } });
  const code = 'exports.run = async () => (await fetch(process.env.CRM_API_BASEPATH)).text()';
  const invocation = await passing.run(code, { env: { CRM_API_BASEPATH: other } });
  expect(resultOf(invocation)).toMatch(/^one two/);
  expect(invocation.outbound[0]).not.toHaveProperty('caughtBy');
  await passing.stop();
});
