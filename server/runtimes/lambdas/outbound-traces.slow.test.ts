import { createServer } from 'node:http';
import { createServer as createHttp2 } from 'node:http2';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readTraceParent } from '../../model/trace.ts';
import { resultOf, TestLambdaService } from '../../testing/lambda-service.ts';

const packages = path.resolve(fileURLToPath(import.meta.url), '..', '..', '..', '..', 'node_modules');
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const EVENT_TRACE = { traceparent: `00-${TRACE}-00f067aa0ba902b7-01`, tracestate: 'vendor=1' };
const OWN_TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

/** Answers with the headers of the request. */
const echo = createServer((request, response) => {
  request.resume();
  response.end(JSON.stringify(request.headers));
});
const echo2 = createHttp2((request, response) => response.end(JSON.stringify(request.headers)));
let service: TestLambdaService;
const env: Record<string, string> = {};

beforeAll(async () => {
  for (const [name, server] of Object.entries({ ECHO: echo, ECHO2: echo2 })) {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    // As: a listening TCP server has such an address.
    env[name] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }
  service = await TestLambdaService.start();
});
afterAll(async () => {
  await service.stop();
  for (const server of [echo, echo2]) server.close();
});

/**
 * Resolves to the headers that the other side received, and the record of the call.
 * @param call a Promise of the headers that it got, in JSON
 */
async function sendTraced(call: string, headers: Record<string, string> = EVENT_TRACE, at = service) {
  const code = `const of = (r) => new Promise((ok) => { let t = ''; r.on('data', (d) => { t += d }).on('end', () => ok(t)) });
    const { ECHO, ECHO2 } = process.env;
    exports.run = async () => JSON.parse(await ${call});`;
  const id = at.lambda(code, { env: { ...env, PACKAGES: packages } });
  const invocation = await at.invoke(id, '', { headers });
  const got: Record<string, string> = JSON.parse(resultOf(invocation));
  return { got, invocation };
}

const HTTP = (options: string, body = '') =>
  `new Promise((ok, no) => { const r = require('http').request(ECHO, ${options}, (r) => ok(of(r))).on('error', no); ${body} r.end() })`;

describe('a call belongs to the trace of its invocation', () => {
  it.each([
    ['by node:http', HTTP('{}')],
    ['by node:http with a body in pieces', HTTP("{ method: 'POST' }", "r.write('a'); r.write('b');")],
    ['by node:http with a list of headers', HTTP("{ headers: ['x-a', '1', 'host', 'localhost'] }")],
    ['by fetch', 'fetch(ECHO).then((r) => r.text())'],
    ['by undici', "require(process.env.PACKAGES + '/undici').request(ECHO).then((r) => r.body.text())"],
    [
      'by node:http2',
      "new Promise((ok, no) => { const s = require('http2').connect(ECHO2).on('error', no); of(s.request({ ':path': '/' })).then((t) => { s.close(); ok(t) }) })",
    ],
    [
      'in a worker thread',
      "new Promise((ok, no) => new (require('worker_threads').Worker)(`fetch(process.env.ECHO).then((r) => r.text()).then((t) => require('worker_threads').parentPort.postMessage(t))`, { eval: true }).on('message', ok).on('error', no))",
    ],
  ])('%s', async (_how, call) => {
    const { got, invocation } = await sendTraced(call);
    const spanId = invocation.executionId.replaceAll('-', '').slice(16);
    expect(got).toMatchObject({ traceparent: `00-${TRACE}-${spanId}-01`, tracestate: 'vendor=1' });
    expect(invocation.outbound.map(({ traceId }) => traceId)).toEqual([TRACE]);
  });

  it.each([
    ['with a list of headers', HTTP("{ headers: ['x-a', '1', 'host', 'localhost'] }")],
    ['with a body', HTTP("{ method: 'POST' }", "r.write('a');")],
  ])('the first one of a process that was not started ahead too: %s', async (_how, call) => {
    const fresh = await TestLambdaService.start();
    try {
      const { got } = await sendTraced(call, EVENT_TRACE, fresh);
      expect(readTraceParent(got.traceparent)?.traceId).toBe(TRACE);
    } finally {
      await fresh.stop();
    }
  });

  it('which begins with it when it was given none that is valid', async () => {
    const { got, invocation } = await sendTraced('fetch(ECHO).then((r) => r.text())', {
      ...EVENT_TRACE,
      traceparent: 'nonsense',
    });
    expect(readTraceParent(got.traceparent)?.traceId).toBe(invocation.executionId.replaceAll('-', ''));
    expect(got).not.toHaveProperty('tracestate');
  });

  it.each([
    ['by node:http', HTTP(`{ headers: { TraceParent: '${OWN_TRACE}' } }`)],
    ['by node:http with a list of headers', HTTP(`{ headers: ['traceparent', '${OWN_TRACE}', 'host', 'localhost'] }`)],
    ['by fetch', `fetch(ECHO, { headers: { traceparent: '${OWN_TRACE}' } }).then((r) => r.text())`],
  ])('unless the lambda says another: %s', async (_how, call) => {
    const { got, invocation } = await sendTraced(call);
    expect(got.traceparent).toBe(OWN_TRACE);
    expect(got).not.toHaveProperty('tracestate');
    expect(invocation.outbound.map(({ traceId }) => traceId)).toEqual([readTraceParent(OWN_TRACE)?.traceId]);
  });

  it.each([
    [
      'by its Authorization',
      HTTP("{ headers: { Authorization: 'AWS4-HMAC-SHA256 Credential=a, SignedHeaders=host' } }"),
    ],
    ['by a header', "fetch(ECHO, { headers: { Signature: 'sig1=:YQ==:' } }).then((r) => r.text())"],
    ['in its query', "fetch(ECHO + '/?X-Amz-Signature=a').then((r) => r.text())"],
  ])('unless it is signed: %s', async (_how, call) => {
    const { got, invocation } = await sendTraced(call);
    expect(got).not.toHaveProperty('traceparent');
    expect(invocation.outbound[0]).not.toHaveProperty('traceId');
  });

  it('and the lambda reads its own request as it wrote it', async () => {
    const code = `exports.run = (event, context, callback) => {
      const request = require('http').get(process.env.ECHO, (r) => { r.resume(); r.on('end', () => callback(null, request.getHeaderNames())) });
    }`;
    const invocation = await service.run(code, { env });
    expect(JSON.parse(resultOf(invocation))).toEqual(['host']);
  });
});
