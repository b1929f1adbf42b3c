import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createSecureServer } from 'node:http2';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { generate } from 'selfsigned';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FORM_HEADER } from '../../model/crm-form.ts';
import { EXECUTION_HEADER } from '../../model/execution-header.ts';
import type { Invocation } from '../../model/invocation.ts';
import { libraries } from '../../testing/calling-libraries.ts';
import { resultOf, TestLambdaService } from '../../testing/lambda-service.ts';
import type { MockAddress } from './process/protocol.ts';

/* Forms for a CRM whose host no CRM_API_BASEPATH names (D-200 b, c), to a host on loopback that must receive none of them. */

const packages = path.resolve(fileURLToPath(import.meta.url), '..', '..', '..', '..', 'node_modules');
/** In the lambda every name is that host's. */
const RESOLVES =
  "{ const dns = require('dns'); const own = dns.lookup; dns.lookup = (name, ...rest) => own('127.0.0.1', ...rest) }";

interface ReceivedRequest {
  method: string | undefined;
  url: string | undefined;
  body: string;
  from: string;
}
const received = { host: [] as ReceivedRequest[], crm: [] as ReceivedRequest[] };
const servers: Server[] = [];
let ports: { http: number; https: number };
let mock: MockAddress;
let service: TestLambdaService;
let folder: string;

function receiver(at: keyof typeof received) {
  // As: requests of HTTP/2 look like those of HTTP/1.
  return async (request: import('node:http').IncomingMessage, response: import('node:http').ServerResponse) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { method, url, headers } = request;
    received[at].push({ method, url, body, from: String(headers[EXECUTION_HEADER]) });
    if (at === 'crm' && body.includes('retURL')) {
      response.writeHead(302, { location: String(new URLSearchParams(body).get('retURL')) }).end();
      return;
    }
    if (at === 'crm' && headers['content-type']?.includes('json')) {
      response.writeHead(415, { 'content-type': 'text/plain; charset=utf-8' }).end('send a form\n');
      return;
    }
    // As the mock CRM does at a path that nothing names.
    if (at === 'crm' && headers[FORM_HEADER] === undefined) response.statusCode = 404;
    response.end(at);
  };
}

async function listen(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // As: a listening TCP server has such an address.
  return (server.address() as AddressInfo).port;
}

beforeAll(async () => {
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'crm.example' }], {
    algorithm: 'sha256',
    extensions: [
      {
        name: 'subjectAltName',
        altNames: ['crm.example', 'shop.example'].map((value) => ({ type: 2, value })),
      },
    ],
  });
  // As: see receiver.
  const secure = createSecureServer({ cert, key, allowHTTP1: true }, receiver('host') as never);
  ports = { http: await listen(createServer(receiver('host'))), https: await listen(secure) };
  mock = { host: '127.0.0.1', port: await listen(createServer(receiver('crm'))) };
  folder = await mkdtemp(path.join(tmpdir(), 'terrarium-forms-'));
  await writeFile(path.join(folder, 'ca.pem'), cert);
  service = await TestLambdaService.start({
    outbound: { crm: 'catch', crmHosts: ['partner.example'], crmAddress: () => mock },
  });
});
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
  for (const server of servers) {
    server.close();
    if ('closeAllConnections' in server && typeof server.closeAllConnections === 'function')
      server.closeAllConnections();
  }
});

const variables = () => ({ NODE_PATH: packages, NODE_EXTRA_CA_CERTS: path.join(folder, 'ca.pem') });

/** Evaluates an expression in a lambda, where `TLS_PORT` and `TCP_PORT` are the ports of the host. */
async function evaluate(
  expression: string,
  env: object,
): Promise<{ answer: string; invocation: Invocation; crm: ReceivedRequest[]; host: ReceivedRequest[] }> {
  const code = `${RESOLVES}
    const got = () => import('file://' + require.resolve('got')).then((m) => m.default);
    exports.run = async () => { try { return String(await (${expression.replaceAll('TLS_PORT', String(ports.https)).replaceAll('TCP_PORT', String(ports.http))})) } catch (e) { while (e.cause) e = e.cause; return 'error ' + (e.stack || e) } }`;
  const before = { host: received.host.length, crm: received.crm.length };
  const invocation = await service.run(code, { env: { ...variables(), ...env } });
  return {
    answer: resultOf(invocation).trim(),
    invocation,
    crm: received.crm.slice(before.crm).filter(({ from }) => from === invocation.executionId),
    host: received.host.slice(before.host),
  };
}

/** The expression of the table with another path and with the ports of the host. */
function posting(library: string, to: string): string {
  const expression = libraries[library] ?? '';
  return expression
    .replaceAll('https://crm.example', 'https://crm.example:TLS_PORT')
    .replaceAll('port: 443', 'port: TLS_PORT')
    .replaceAll('connect(443', 'connect(TLS_PORT')
    .replaceAll('connect(80', 'connect(TCP_PORT')
    .replaceAll('/lead', to);
}

describe('a form is caught where variables of any name give host and path (b)', () => {
  it.concurrent.each(Object.keys(libraries).map((library, index) => [library, `/forms/${index}`]))(
    'by %s',
    async (library, to) => {
      const { answer, invocation, crm, host } = await evaluate(posting(library, to), {
        PARTNER: 'crm.example',
        WHERE: to,
      });
      expect({ answer, host: host.filter(({ url }) => url === to) }).toEqual({ answer: '200 crm', host: [] });
      expect(crm).toEqual([{ method: 'POST', url: to, body: 'lead=1', from: invocation.executionId }]);
      expect(invocation.outbound).toMatchObject([{ method: 'POST', status: 200, caughtBy: 'crm' }]);
      expect(invocation.outbound).toHaveLength(1);
    },
  );
});

describe('a form is caught at a known form endpoint of any host (c)', () => {
  it.each(['axios', 'fetch', 'https', 'http2', 'raw tls', 'raw net'])('by %s', async (library) => {
    const { answer, crm, host } = await evaluate(posting(library, '/servlet/servlet.webtolead'), {});
    expect({ answer, host }).toEqual({ answer: '200 crm', host: [] });
    expect(crm).toMatchObject([{ url: '/servlet/servlet.webtolead', body: 'lead=1' }]);
  });
});

it.each(['fetch', 'https', 'raw net'])(
  'a call to a host of the setting outbound.crmHosts is caught by %s (a)',
  async (library) => {
    const expression = posting(library, '/any').replaceAll('crm.example', 'partner.example');
    const { answer, crm, host } = await evaluate(expression, { WHERE: '/any' });
    expect({ answer, host, crm }).toMatchObject({
      answer: '200 crm',
      host: [],
      crm: [{ url: '/any', body: 'lead=1' }],
    });
  },
);

/** Defines `post` by fetch, and `send` by https with headers that are set once the request has been made. */
const CALLS = `(() => { const post = (url, body, type) => fetch(url, { method: 'POST', body, headers: type ? { 'content-type': type } : {} }).then((r) => r.text());
  const agent = new (require('https').Agent)({ keepAlive: true });
  const send = (url, body, type, options) => new Promise((ok, no) => { const sent = require('https').request(url, { method: 'POST', ...options }, (r) => { let t = ''; r.on('data', (d) => { t += d }).on('end', () => ok(t)) }).on('error', no);
    if (type) sent.setHeader('content-type', type); sent.end(body) });`;
const AT = "'https://crm.example:TLS_PORT/servlet/servlet.WebToLead'";
const PLAIN = "'application/x-www-form-urlencoded'";

it.each([
  [
    'by fetch over a connection that a GET has left open',
    `return fetch('https://crm.example:TLS_PORT/').then((r) => r.text()).then(() => post(${AT}, 'oid=1', ${PLAIN}))`,
  ],
  [
    'by fetch beside a GET',
    `return Promise.all([post(${AT}, 'oid=1', ${PLAIN}), fetch('https://crm.example:TLS_PORT/').then((r) => r.text())])`,
    'crm,host',
  ],
  [
    'by https over a connection that a GET has left open',
    `return send('https://crm.example:TLS_PORT/', '', undefined, { agent, method: 'GET' }).then(() => send(${AT}, 'oid=1', ${PLAIN}, { agent }))`,
  ],
  [
    'whose head is written in parts',
    `return new Promise((ok, no) => { let t = ''; const s = require('tls').connect({ host: 'crm.example', port: TLS_PORT }, () => {
      s.write('POST /servlet/servlet.WebToLead H'+'TTP/1.1\\r\\n', () => s.write('Host: crm.example\\r\\nConnection: close\\r\\n', () => s.write('Content-Length: 5\\r\\n\\r\\noid=1'))) });
      s.on('data', (d) => { t += d }).on('end', () => ok(t.includes('crm') ? 'crm' : t)).on('error', no) })`,
  ],
])('a form is caught %s', async (_what, call, expected = 'crm') => {
  const { answer, crm, host } = await evaluate(`${CALLS} ${call} })()`, {});
  expect({ answer, forms: host.filter(({ method }) => method === 'POST') }).toEqual({ answer: expected, forms: [] });
  expect(crm).toMatchObject([{ method: 'POST', body: 'oid=1' }]);
});

it('a connection that carried a form for which a rule answered reaches its host with the options of its TLS afterwards', async () => {
  await service.setOutboundRules({ host: '{crm}', action: 'answer', body: 'ruled', times: 1 });
  // The host's certificate does not name it.
  const { answer, host } = await evaluate(
    `(async () => { const { Agent, request } = require('undici');
      const dispatcher = new Agent({ connections: 1, connect: { rejectUnauthorized: false } });
      const call = async (path, options) => (await request('https://other.example:TLS_PORT' + path, { dispatcher, ...options })).body.text();
      return [await call('/'), await call('/servlet/servlet.WebToLead', { method: 'POST', body: 'oid=1' }), await call('/')] })()`,
    {},
  );
  await service.setOutboundRules();
  expect({ answer, host }).toMatchObject({ answer: 'host,ruled,host', host: [{ method: 'GET' }, { method: 'GET' }] });
});

it.each([
  ['fetch', `post(${AT}, '{}', 'application/json')`],
  ['https with a type that is set late', `send(${AT}, '{}', 'application/json')`],
  [
    'undici',
    `require('undici').request(${AT}, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }).then((r) => r.body.text())`,
  ],
  ['fetch in another case', `post(${AT}.replace('WebToLead', 'webtocase'), '{}', 'application/json')`],
])('JSON to a known form endpoint by %s is rejected by the mock CRM with a reason in the log', async (_what, call) => {
  const { answer, invocation, host, crm } = await evaluate(`${CALLS} return ${call} })()`, {});
  const warning = 'the mock CRM rejected the form with status 415: send a form';
  expect({ answer, host }).toEqual({ answer: 'send a form', host: [] });
  expect(crm).toMatchObject([{ method: 'POST', body: '{}' }]);
  expect(invocation.outbound).toMatchObject([{ status: 415, caughtBy: 'crm', warning }]);
  expect(invocation.logs.map(({ text }) => text)).toEqual([`[terrarium] ${warning}`]);
});

describe("the page that the mock CRM's redirect leads to is answered by the mock", () => {
  const THANKS = 'https://shop.example:TLS_PORT/thanks?a=1';
  const follow = {
    fetch: (page: string) =>
      `fetch(${AT}, { method: 'POST', body: new URLSearchParams({ oid: '1', retURL: '${page}' }) }).then((r) => r.text())`,
    undici: (page: string) =>
      `require('undici').fetch(${AT}, { method: 'POST', body: 'oid=1&retURL=' + encodeURIComponent('${page}'), headers: { 'content-type': ${PLAIN} } }).then((r) => r.text())`,
    https: (page: string) => `new Promise((ok, no) => { const https = require('https');
      https.request(${AT}, { method: 'POST', headers: { 'content-type': ${PLAIN} } }, (r) => https.get(r.headers.location, (page) => { let t = ''; page.on('data', (d) => { t += d }).on('end', () => ok(t)) }).on('error', no)).on('error', no).end('oid=1&retURL=' + encodeURIComponent('${page}')) })`,
    axios: (page: string) =>
      `require('axios').post(${AT}, new URLSearchParams({ oid: '1', retURL: '${page}' })).then((r) => r.data)`,
    got: (page: string) =>
      `got().then((g) => g.post(${AT}, { form: { oid: '1', retURL: '${page}' } })).then((r) => r.body)`,
    'got with HTTP/2': (page: string) =>
      `got().then((g) => g.post(${AT}, { http2: true, form: { oid: '1', retURL: '${page}' } })).then((r) => r.body)`,
  };

  it.each(Object.entries(follow))('by %s', async (_library, call) => {
    const { answer, invocation, host } = await evaluate(call(THANKS), {});
    expect({ answer, host }).toEqual({ answer: expect.stringContaining('The mock CRM redirected here'), host: [] });
    expect(invocation.outbound).toMatchObject([
      { method: 'POST', status: 302, caughtBy: 'crm' },
      // got repeats the POST.
      { url: THANKS.replace('TLS_PORT', String(ports.https)), status: 200, caughtBy: 'crm', afterRedirect: true },
    ]);
  });

  it('whatever the outbound rules say about its host, and without a rule in its record', async () => {
    await service.setOutboundRules({ host: 'shop.example', action: 'block' });
    const { answer, invocation } = await evaluate(follow.fetch(THANKS), {});
    await service.setOutboundRules();
    expect(answer).toContain('The mock CRM redirected here');
    expect(invocation.outbound[1]).not.toHaveProperty('rules');
  });

  it.each([
    ['at the host of the CRM', 'https://crm.example:TLS_PORT/thanks'],
    ['on loopback', 'http://127.0.0.1:TCP_PORT/thanks'],
  ])('even %s', async (_what, page) => {
    const { answer, host } = await evaluate(follow.fetch(page), {});
    expect({ answer, host }).toEqual({ answer: expect.stringContaining('The mock CRM redirected here'), host: [] });
  });

  it('over a connection to its host that is open already', async () => {
    const first = `fetch('${THANKS}').then((r) => r.text()).then(() => ${follow.fetch(THANKS)})`;
    const { answer, host } = await evaluate(first, {});
    expect(answer).toContain('The mock CRM redirected here');
    expect(host).toHaveLength(1);
  });

  it('by HTTP/2, whose requests name the usual port as well', async () => {
    const { answer } = await evaluate(
      `(async () => { const session = require('http2').connect('https://crm.example').on('error', () => {});
        const send = (headers, body) => new Promise((ok, no) => { let t = ''; session.request(headers).on('data', (d) => { t += d }).on('error', no).on('close', () => ok(t)).end(body) });
        await send({ ':path': '/servlet/servlet.WebToLead', ':method': 'POST', 'content-type': ${PLAIN} }, 'oid=1&retURL=https://crm.example/thanks');
        const page = await send({ ':path': '/thanks' }); session.close(); return page })()`,
      { CRM_API_BASEPATH: 'crm.example' },
    );
    expect(answer).toContain('The mock CRM redirected here');
  });

  it('once, and not in the next invocation', async () => {
    const { answer, host } = await evaluate(
      `${follow.fetch(THANKS)}.then(() => fetch('${THANKS}')).then((r) => r.text())`,
      {},
    );
    expect({ answer, host }).toMatchObject({ answer: 'host', host: [{ url: '/thanks?a=1' }] });
  });
});

const FORM = { SLACK_URL: 'http://hooks.example:TCP_PORT/services/T0/B0', CRM_PATH: '/services/T0/B0' };
it.each([
  ['a webhook to a chat service whose URL is in a variable', FORM, "post(process.env.SLACK_URL, 'payload=x', PLAIN)"],
  [
    'a form to a named host at a path that no variable names',
    { HOST: 'crm.example', WHERE: '/a' },
    "post('https://crm.example:TLS_PORT/b', 'a=1', PLAIN)",
  ],
  [
    'a form to a host and path that one variable names',
    { WHERE: 'crm.example/a' },
    "post('https://crm.example:TLS_PORT/a', 'a=1', PLAIN)",
  ],
  ['a form to loopback', {}, `post('http://127.0.0.1:TCP_PORT/servlet/servlet.WebToLead', 'oid=1', PLAIN)`],
])('%s is not caught', async (_what, env, call) => {
  const variables = Object.fromEntries(
    Object.entries(env).map(([name, value]) => [name, value.replace('TCP_PORT', String(ports.http))]),
  );
  const { answer, crm, host } = await evaluate(`${CALLS} return ${call.replaceAll('PLAIN', PLAIN)} })()`, variables);
  expect({ answer, crm }).toEqual({ answer: 'host', crm: [] });
  expect(host).toHaveLength(1);
});

describe('the author of the lambda is warned', () => {
  const warned = async (call: string, env: object) => {
    const { answer, invocation } = await evaluate(`${CALLS} return ${call.replaceAll('PLAIN', PLAIN)} })()`, env);
    const [{ warning } = {}] = invocation.outbound;
    const lines = invocation.logs.map(({ text }) => text).filter((text) => text.includes('form'));
    expect(lines).toEqual(warning === undefined ? [] : [`[terrarium] ${warning}`]);
    return { answer, warning };
  };

  it('of a form with the fields of a CRM that was not caught', async () => {
    expect(await warned("post('http://crm.example:TCP_PORT/in', 'a=1&oid=00D1', PLAIN)", {})).toEqual({
      answer: 'host',
      warning: `a CRM form (with the field 'oid') was sent to crm.example:${ports.http} and was not caught: set CRM_API_BASEPATH of the lambda to crm.example:${ports.http} to have the mock CRM take it`,
    });
  });

  it('of a form in parts', async () => {
    const form = "(() => { const form = new FormData(); form.set('retURL', 'x'); return form })()";
    const { warning } = await warned(
      `fetch('http://crm.example:TCP_PORT/in', { method: 'POST', body: ${form} }).then((r) => r.text())`,
      {},
    );
    expect(warning).toContain("the field 'retURL'");
  });

  it('of a form for the CRM at a path that no variable names', async () => {
    const env = { CRM_API_BASEPATH: 'crm.example', CRM_PATH: '/known' };
    const { warning } = await warned("post('http://crm.example:TCP_PORT/other?a', 'oid=1', PLAIN)", env);
    expect(warning).toBe(
      `the form for crm.example:${ports.http} was posted to /other, a path that no variable of the lambda names, and no lead was created: set a variable (such as CRM_PATH) to /other`,
    );
  });

  it('of a form for the CRM at a path that starts with two slashes', async () => {
    const env = { CRM_API_BASEPATH: 'crm.example', CRM_PATH: '/known' };
    const { warning } = await warned("post('http://crm.example:TCP_PORT//known', 'oid=1', PLAIN)", env);
    expect(warning).toBe(
      `the form for crm.example:${ports.http} was posted to //known, and no lead was created: remove one of the two slashes at the start of the path`,
    );
  });

  it.each([
    ['is empty', '', '/'],
    ['has another path', '/other', '/lead'],
  ])('of a form for the CRM when CRM_PATH %s', async (_what, CRM_PATH, path) => {
    const env = { CRM_API_BASEPATH: 'crm.example', CRM_PATH };
    const { warning } = await warned(`post('http://crm.example:TCP_PORT${path}', 'oid=1', PLAIN)`, env);
    expect(warning).toContain(`was posted to ${path}, a path that no variable of the lambda names`);
  });

  it.each([
    ['lead', '/lead?encoding=UTF-8'],
    ['/lead?encoding=UTF-8#x', '/lead'],
    ['lead/', '/lead/?a=1'],
  ])('but not when CRM_PATH is %j', async (CRM_PATH, path) => {
    const env = { CRM_API_BASEPATH: 'crm.example', CRM_PATH };
    const { answer, warning } = await warned(`post('http://crm.example:TCP_PORT${path}', 'oid=1', PLAIN)`, env);
    expect({ answer, warning }).toEqual({ answer: 'crm', warning: undefined });
  });

  it('of each path separately, when two lambdas name one host with different paths', async () => {
    const deliveries = ['/one', '/two'].flatMap((crmPath) =>
      ['/one', '/two'].map(async (path) => {
        const env = { CRM_API_BASEPATH: 'crm.example', CRM_PATH: crmPath };
        const { warning } = await warned(`post('http://crm.example:TCP_PORT${path}', 'oid=1', PLAIN)`, env);
        return warning === undefined;
      }),
    );
    expect(await Promise.all(deliveries)).toEqual([true, false, false, true]);
  });

  it.each([
    ['other fields', "post('http://crm.example:TCP_PORT/in', 'a=1&void=2', PLAIN)"],
    ['JSON', "post('http://crm.example:TCP_PORT/in', '{}', 'application/json')"],
    ['loopback', "post('http://127.0.0.1:TCP_PORT/in', 'oid=1', PLAIN)"],
  ])('but not of %s', async (_what, call) => {
    expect(await warned(call, {})).toEqual({ answer: 'host', warning: undefined });
  });

  it.each([
    [
      'a URL',
      'https://crm.example:TCP_PORT',
      "post('https://' + process.env.CRM_API_BASEPATH + '/lead', 'oid=1', PLAIN)",
      'CRM_API_BASEPATH is a URL',
    ],
    [
      'a URL, by https',
      'https://crm.example',
      "new Promise((ok) => require('https').request({ method: 'POST', host: process.env.CRM_API_BASEPATH, path: '/lead' }).on('error', () => ok('failed')).end('oid=1'))",
      'set CRM_API_BASEPATH to the host alone, crm.example',
    ],
    [
      'a host with a slash',
      'crm.example/',
      "post('http://' + process.env.CRM_API_BASEPATH.replace('/', ':TCP_PORT/') + '/servlet/servlet.WebToLead', 'oid=1', PLAIN)",
      'CRM_API_BASEPATH ends with a slash',
    ],
  ])('of a CRM_API_BASEPATH that is %s', async (_what, CRM_API_BASEPATH, call, hint) => {
    const { warning } = await warned(call, { CRM_API_BASEPATH, CRM_PATH: '/lead' });
    expect(warning).toContain(hint);
  });

  it('of a form posted to /, without naming a value that CRM_PATH has already', async () => {
    const env = { CRM_API_BASEPATH: 'crm.example', CRM_PATH: '/' };
    const { warning } = await warned("post('http://crm.example:TCP_PORT/', 'oid=1', PLAIN)", env);
    expect(warning).toContain('set a variable (such as CRM_PATH) to the path of the form');
  });

  it.each([
    ['error', { action: 'fail', error: 'ECONNREFUSED' }],
    ['block', { action: 'block' }],
  ] as const)(
    'but not of a form that a rule for {crm} failed with %s, whose record names the rule',
    async (_what, rule) => {
      await service.setOutboundRules({ host: '{crm}', ...rule });
      const env = { PARTNER: 'crm.example', WHERE: '/in' };
      const calls = [
        "post('http://crm.example:TCP_PORT/in', 'oid=1', PLAIN)",
        "send('https://crm.example:TLS_PORT/in', 'oid=1', PLAIN)",
        "require('undici').request('http://crm.example:TCP_PORT/in', { method: 'POST', body: 'oid=1' })",
      ];
      for (const call of calls) {
        const { invocation, host, crm } = await evaluate(
          `${CALLS} return ${call.replaceAll('PLAIN', PLAIN)} })()`,
          env,
        );
        expect(invocation.outbound).toMatchObject([
          { error: expect.any(String), rules: [{ text: expect.stringContaining('{crm}') }] },
        ]);
        expect(invocation.outbound[0]).not.toHaveProperty('warning');
        expect([host, crm]).toEqual([[], []]);
      }
      await service.setOutboundRules();
    },
  );

  it('but not of a form that an outbound rule answered', async () => {
    await service.setOutboundRules({ host: '{crm}', action: 'fail', status: 503 });
    const env = { PARTNER: 'crm.example', WHERE: '/in' };
    const { answer, warning } = await warned("post('http://crm.example:TCP_PORT/in', 'oid=1', PLAIN)", env);
    await service.setOutboundRules();
    expect({ answer, warning }).toEqual({ answer: expect.stringContaining('{crm}'), warning: undefined });
  });
});
