import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXECUTION_HEADER } from '../model/execution-header.ts';
import type { Invocation } from '../model/invocation.ts';
import type { OutboundRule } from '../model/outbound-rule.ts';
import type { StandInAddress } from './protocol.ts';
import { answerOf, ServiceForTests } from './service-for-tests.ts';

/*
 * Real libraries, as lambdas call a CRM with them: each posts a form to https://crm.example, and says status and text of the answer
 * or the code of the error (D-200). For the other hosts its name is replaced.
 */
const packages = path.resolve(fileURLToPath(import.meta.url), '..', '..', '..', 'node_modules');
const AT = "'https://crm.example/lead'";
const BODY = "'lead=1'";

const libraries: Record<string, string> = {
  axios: `require('axios').post(${AT}, ${BODY}, { validateStatus: null }).then((r) => r.status + ' ' + r.data)`,
  'axios with fetch': `require('axios').post(${AT}, ${BODY}, { adapter: 'fetch', validateStatus: null }).then((r) => r.status + ' ' + r.data)`,
  'node-fetch': `import('file://' + require.resolve('node-fetch')).then(({ default: f }) => f(${AT}, { method: 'POST', body: ${BODY} })).then(async (r) => r.status + ' ' + await r.text())`,
  got: `got().then((g) => g.post(${AT}, { body: ${BODY}, throwHttpErrors: false, retry: { limit: 0 } })).then((r) => r.statusCode + ' ' + r.body)`,
  'got with HTTP/2': `got().then((g) => g.post(${AT}, { body: ${BODY}, http2: true, throwHttpErrors: false, retry: { limit: 0 } })).then((r) => r.statusCode + ' ' + r.body)`,
  request: `new Promise((ok, no) => require('request').post({ url: ${AT}, body: ${BODY} }, (e, r, body) => e ? no(e) : ok(r.statusCode + ' ' + body)))`,
  superagent: `require('superagent').post(${AT}).type('form').send(${BODY}).ok(() => true).then((r) => r.status + ' ' + r.text)`,
  needle: `require('needle')('post', ${AT}, ${BODY}, { parse: false }).then((r) => r.statusCode + ' ' + r.body)`,
  ky: `import('file://' + require.resolve('ky')).then(({ default: k }) => k.post(${AT}, { body: ${BODY}, throwHttpErrors: false, retry: 0 })).then(async (r) => r.status + ' ' + await r.text())`,
  'undici fetch': `require('undici').fetch(${AT}, { method: 'POST', body: ${BODY} }).then(async (r) => r.status + ' ' + await r.text())`,
  'undici request': `require('undici').request(${AT}, { method: 'POST', body: ${BODY} }).then(async (r) => r.statusCode + ' ' + await r.body.text())`,
  'undici pool': `new (require('undici').Pool)('https://crm.example').request({ path: '/lead', method: 'POST', body: ${BODY} }).then(async (r) => r.statusCode + ' ' + await r.body.text())`,
  jsforce: `new Promise((ok, no) => new (require('jsforce').Connection)({ instanceUrl: 'https://crm.example', accessToken: 'a' }).request({ method: 'POST', url: '/lead', body: ${BODY}, headers: { 'content-type': 'text/plain' } }, { noContentResponse: true }).then((r) => ok('200 ' + r), (e) => e.code ? no(e) : ok(e.message.includes('Answered') ? '503 ' + e.message : String(e))))`,
  fetch: `fetch(${AT}, { method: 'POST', body: ${BODY} }).then(async (r) => r.status + ' ' + await r.text())`,
  https: `new Promise((ok, no) => { const sent = require('https').request(${AT}, { method: 'POST' }, (r) => { let t = ''; r.on('data', (d) => { t += d }).on('end', () => ok(r.statusCode + ' ' + t)) }).on('error', no); sent.end(${BODY}) })`,
  'https with an array of headers': `new Promise((ok, no) => { const sent = require('https').request(${AT}, { method: 'POST', headers: ['host', 'crm.example', 'content-length', '6'] }, (r) => { let t = ''; r.on('data', (d) => { t += d }).on('end', () => ok(r.statusCode + ' ' + t)) }).on('error', no); sent.end(${BODY}) })`,
  http2: `new Promise((ok, no) => { const s = require('http2').connect('https://crm.example').on('error', no); let status, t = '';
    const r = s.request({ ':path': '/lead', ':method': 'POST' }).on('response', (h) => { status = h[':status'] }).on('data', (d) => { t += d }).on('end', () => { s.close(); ok(status + ' ' + t) }).on('error', () => {}); r.end(${BODY}) })`,
  'raw tls': raw("require('tls').connect({ host: 'crm.example', port: 443, servername: 'crm.example' }, say)"),
  'raw tls by port and host': raw("require('tls').connect(443, 'crm.example', {}, say)"),
  'raw net': raw("require('net').connect(80, 'crm.example', say)"),
  'a worker thread': `new Promise((ok, no) => new (require('worker_threads').Worker)(\`
    fetch(${AT}, { method: 'POST', body: ${BODY} }).then(async (r) => r.status + ' ' + await r.text(), (e) => 'error ' + (e.cause || e).code).then((t) => require('worker_threads').parentPort.postMessage(t))\`, { eval: true })
    .on('error', no).on('message', (t) => { const [, code] = /^error (.*)/.exec(t) || []; code ? no({ code }) : ok(t) }))`,
  'a Node child process': child("require('child_process').execFile(process.execPath, ['-e', source], done)"),
  'a Node child process with an environment of its own': child(
    "require('child_process').execFile('node', ['-e', source], { env: { PATH: process.env.PATH } }, done)",
  ),
  'a Node child process of a shell': child("require('child_process').exec('node -e \"' + source + '\"', done)"),
  'a Node child process that is waited for': `new Promise((ok, no) => { ${SOURCE()} const t = require('child_process').execFileSync(process.execPath, ['-e', source]).toString().trim(); const [, code] = /^error (.*)/.exec(t) || []; code ? no({ code }) : ok(t) })`,
};

/** HTTP by hand. */
function raw(connect: string): string {
  return `new Promise((ok, no) => { const say = () => s.write('POST /lead HTTP/1.1\\r\\nHost: crm.example\\r\\nConnection: close\\r\\nContent-Length: 6\\r\\n\\r\\nlead=1');
    let t = ''; const s = ${connect}; s.on('error', no).on('data', (d) => { t += d }).on('end', () => ok(t.slice(9, 12) + ' ' + t.split('\\r\\n\\r\\n')[1].replace(/^[0-9a-f]+\\r\\n|\\r\\n0$/g, ''))) })`;
}

function SOURCE(): string {
  return `const source = \`fetch('https://crm.example/lead', { method: 'POST', body: 'lead=1' }).then(async (r) => console.log(r.status + ' ' + await r.text()), (e) => console.log('error ' + e.cause.code))\`;`;
}

function child(run: string): string {
  return `new Promise((ok, no) => { ${SOURCE()} const done = (e, out) => { const t = String(out).trim(); const [, code] = /^error (.*)/.exec(t) || []; e ? no(e) : code ? no({ code }) : ok(t) }; ${run} })`;
}

/** Bodies that have reached the stand-in, by the invocation that they came from. */
const arrived = new Map<string, string[]>();
const standInServer = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  const from = String(request.headers[EXECUTION_HEADER]);
  arrived.set(from, [...(arrived.get(from) ?? []), body]);
  response.end('caught');
});
let standIn: StandInAddress;
let rules: OutboundRule[] = [];
let bed: ServiceForTests;

beforeAll(async () => {
  await new Promise<void>((resolve) => standInServer.listen(0, '127.0.0.1', resolve));
  // As: a listening TCP server has such an address.
  standIn = { host: '127.0.0.1', port: (standInServer.address() as AddressInfo).port };
  bed = await ServiceForTests.start({ outbound: { crm: 'catch', crmAddress: () => standIn, rules: () => rules } });
});
afterAll(async () => {
  await bed.stop();
  standInServer.close();
  standInServer.closeAllConnections();
});
async function change(...next: Omit<OutboundRule, 'id' | 'enabled'>[]): Promise<void> {
  rules = next.map((fields, index) => ({ id: `rule-${index}`, enabled: true, ...fields }));
  await bed.service.applyRules();
}

it('a worker that outlives its call tells of its calls to the one that runs, and follows rules that change', async () => {
  await change();
  const code = `const { Worker } = require('worker_threads');
    const worker = new Worker(\`require('worker_threads').parentPort.on('message', () => fetch(${AT}, { method: 'POST', body: 'again' })
      .then((r) => r.text(), (e) => e.cause.code).then((t) => require('worker_threads').parentPort.postMessage(t)))\`, { eval: true });
    worker.unref();
    exports.run = () => new Promise((ok) => { worker.once('message', ok); worker.postMessage('go') })`;
  const id = bed.lambda(code, { timeout: 30, env: { CRM_API_BASEPATH: 'crm.example' } });
  for (let n = 0; n < 2; n += 1) {
    const { outbound, ...invocation } = await bed.invoke(id);
    expect(answerOf({ outbound, ...invocation })).toBe('caught');
    expect(outbound).toMatchObject([{ method: 'POST', status: 200, request: { sizeBytes: 5 } }]);
  }
  await change({ host: '*.example', action: 'block' });
  expect(answerOf(await bed.invoke(id))).toBe('ECONNREFUSED');
});

/** Lambdas that call the hosts which their event names, all at once. They live on from one test to the next, with their connections. */
const ids = new Map<string, string>();
async function callBy(library: string, ...hosts: string[]): Promise<{ answers: string[]; invocation: Invocation }> {
  const expression = libraries[library] ?? '';
  const calls = HOSTS.map((host) => `'${host}': () => ${expression.replaceAll('crm.example', host)}`);
  const code = `const got = () => import('file://' + require.resolve('got')).then((m) => m.default);
    const calls = { ${calls.join(', ')} };
    exports.run = (event) => Promise.all(JSON.parse(event).map((host) =>
      calls[host]().then((t) => t.trim(), (e) => { while (e.cause) e = e.cause; return 'error ' + (e.code || e.message) })))`;
  const id =
    ids.get(library) ??
    bed.lambda(code, { timeout: 60, env: { CRM_API_BASEPATH: 'crm.example', NODE_PATH: packages } });
  ids.set(library, id);
  const invocation = await bed.invoke(id, JSON.stringify(hosts));
  return { answers: JSON.parse(answerOf(invocation)), invocation };
}

const HOSTS = ['crm.example', 'blocked.example', 'reset.example', 'answered.example'];

describe('a call to the CRM is caught, and in the record', () => {
  beforeAll(() => change());

  it.concurrent.each(Object.keys(libraries))('by %s', async (library) => {
    const { answers, invocation } = await callBy(library, 'crm.example');
    expect(answers).toEqual(['200 caught']);
    expect(arrived.get(invocation.executionId)).toEqual(['lead=1']);
    expect(invocation.outbound).toMatchObject([
      {
        method: 'POST',
        url: expect.stringMatching(/^https?:..crm.example(:443)?.*.lead$/),
        status: 200,
        caughtBy: 'crm',
      },
    ]);
    const [made] = invocation.outbound;
    expect([made?.request, made?.response].map((one) => Buffer.from(one?.bytes ?? []).toString())).toEqual([
      'lead=1',
      'caught',
    ]);
  });
});

describe('rules that come later block, fail, answer and delay a call', () => {
  beforeAll(() =>
    change(
      { host: 'blocked.*', action: 'block' },
      { host: 'reset.example', action: 'fail', error: 'ECONNRESET' },
      { host: 'answered.example', action: 'fail', status: 503 },
      { host: '{crm}', action: 'delay', delayMs: 300 },
    ),
  );

  it.concurrent.each(Object.keys(libraries))('by %s', async (library) => {
    const { answers, invocation } = await callBy(library, ...HOSTS);
    expect(answers).toEqual([
      '200 caught',
      'error ECONNREFUSED',
      'error ECONNRESET',
      '503 Answered by an outbound rule: fail with 503 for answered.example',
    ]);
    expect(arrived.get(invocation.executionId)).toEqual(['lead=1']);
    expect(invocation.finishedAtMs - (invocation.startedAtMs ?? 0)).toBeGreaterThanOrEqual(300);
  });
});
