import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { EXECUTION_HEADER } from '../../model/execution-header.ts';
import type { Invocation } from '../../model/invocation.ts';
import { libraries } from '../../testing/calling-libraries.ts';
import { resultOf, TestLambdaService } from '../../testing/lambda-service.ts';
import type { MockAddress } from './process/protocol.ts';

/*
 * Real libraries, as lambdas call a CRM with them: each posts a form to https://crm.example, and says status and text of the answer
 * or the code of the error (D-200). For the other hosts its name is replaced.
 */
const packages = path.resolve(fileURLToPath(import.meta.url), '..', '..', '..', '..', 'node_modules');
/** Bodies that have reached the mock, by the invocation that they came from. */
const arrived = new Map<string, string[]>();
const mockServer = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  const from = String(request.headers[EXECUTION_HEADER]);
  arrived.set(from, [...(arrived.get(from) ?? []), body]);
  response.end('caught');
});
let mock: MockAddress;
let service: TestLambdaService;
/** A service whose policy blocks, as in a test suite. */
let strictService: TestLambdaService;

beforeAll(async () => {
  await new Promise<void>((resolve) => mockServer.listen(0, '127.0.0.1', resolve));
  // As: a listening TCP server has such an address.
  mock = { host: '127.0.0.1', port: (mockServer.address() as AddressInfo).port };
  const outbound = { crm: 'catch' as const, crmAddress: () => mock };
  // News of a call can come after its result. What a thread or program has called is in the record when that is closed.
  const limits = { openOutboundMs: 5_000 };
  service = await TestLambdaService.start({ limits, outbound });
  strictService = await TestLambdaService.start({ limits, outbound: { ...outbound, default: 'block' } });
});
afterAll(async () => {
  await service.stop();
  await strictService.stop();
  mockServer.close();
  mockServer.closeAllConnections();
});

it('a worker that outlives its call tells of its calls to the one that runs, and follows rules that change', async () => {
  await service.setOutboundRules();
  const code = `const { Worker } = require('worker_threads');
    const worker = new Worker(\`require('worker_threads').parentPort.on('message', () => fetch('https://crm.example/lead', { method: 'POST', body: 'again' })
      .then((r) => r.text(), (e) => e.cause.code).then((t) => require('worker_threads').parentPort.postMessage(t)))\`, { eval: true });
    worker.unref();
    exports.run = () => new Promise((ok) => { worker.once('message', ok); worker.postMessage('go') })`;
  const id = service.lambda(code, { env: { CRM_API_BASEPATH: 'crm.example' } });
  for (let n = 0; n < 2; n += 1) {
    const { outbound, ...invocation } = await service.invoke(id);
    expect(resultOf({ outbound, ...invocation })).toBe('caught');
    expect(outbound).toMatchObject([{ method: 'POST', status: 200, request: { sizeBytes: 5 } }]);
  }
  await service.setOutboundRules({ host: '*.example', action: 'block' });
  expect(resultOf(await service.invoke(id))).toBe('ECONNREFUSED');
});

/** Lambdas that call the hosts which their event names, all at once. They live on from one test to the next, with their connections. */
const ids = new Map<string, string>();
async function callBy(
  library: string,
  hosts: readonly string[],
  caller = service,
): Promise<{ answers: string[]; invocation: Invocation }> {
  const expression = libraries[library] ?? '';
  const calls = HOSTS.map((host) => `'${host}': () => ${expression.replaceAll('crm.example', host)}`);
  const code = `const got = () => import('file://' + require.resolve('got')).then((m) => m.default);
    const calls = { ${calls.join(', ')} };
    exports.run = (event) => Promise.all(JSON.parse(event).map((host) =>
      calls[host]().then((t) => t.trim(), (e) => { while (e.cause) e = e.cause; return 'error ' + (e.code || e.message) })))`;
  const properties = { env: { CRM_API_BASEPATH: 'crm.example', NODE_PATH: packages } };
  const id = (caller === service ? ids.get(library) : undefined) ?? caller.lambda(code, properties);
  if (caller === service) ids.set(library, id);
  const invocation = await caller.invoke(id, JSON.stringify(hosts));
  return { answers: JSON.parse(resultOf(invocation)), invocation };
}

const HOSTS = ['crm.example', 'blocked.example', 'reset.example', 'answered.example'];

describe('a call to the CRM is caught, and in the record', () => {
  beforeAll(() => service.setOutboundRules());

  it.concurrent.each(Object.keys(libraries))('by %s', async (library) => {
    const { answers, invocation } = await callBy(library, ['crm.example']);
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
    const [call] = invocation.outbound;
    expect([call?.request, call?.response].map((body) => Buffer.from(body?.bytes ?? []).toString())).toEqual([
      'lead=1',
      'caught',
    ]);
  });
});

describe('rules that come later block, fail, answer and delay a call', () => {
  beforeAll(() =>
    service.setOutboundRules(
      { host: 'blocked.*', action: 'block' },
      { host: 'reset.example', action: 'fail', error: 'ECONNRESET' },
      { host: 'answered.example', action: 'fail', status: 503 },
      { host: '{crm}', action: 'delay', delayMs: 1 },
    ),
  );

  it.concurrent.each(Object.keys(libraries))('by %s', async (library) => {
    const { answers, invocation } = await callBy(library, HOSTS);
    expect(answers).toEqual([
      '200 caught',
      'error ECONNREFUSED',
      'error ECONNRESET',
      '503 Answered by an outbound rule: fail with 503 for answered.example',
    ]);
    expect(arrived.get(invocation.executionId)).toEqual(['lead=1']);
    const rules = invocation.outbound.flatMap((call) => call.rules ?? []);
    expect(rules.map(({ text }) => text)).toContain('delay of 1 ms for {crm}');
  });
});

/** A connection that was to carry HTTP is recorded as what it is. */
const BLOCKED = [{ url: expect.stringContaining('//answered.example'), blocked: true }];

describe('a rule for * blocks a call', () => {
  beforeAll(() => service.setOutboundRules({ host: '*', action: 'block' }));

  it.concurrent.each(Object.keys(libraries))('by %s', async (library) => {
    const { answers, invocation } = await callBy(library, ['answered.example']);
    expect(answers).toEqual(['error ECONNREFUSED']);
    await vi.waitFor(() => expect(invocation.outbound).toMatchObject(BLOCKED), { timeout: 30_000 });
  });
});

describe('a policy that blocks applies without a rule to a call', () => {
  it.concurrent.each(Object.keys(libraries))('by %s', async (library) => {
    const { answers, invocation } = await callBy(library, ['answered.example'], strictService);
    expect(answers).toEqual(['error ECONNREFUSED']);
    await vi.waitFor(() => expect(invocation.outbound).toMatchObject(BLOCKED), { timeout: 30_000 });
  });
});

it('the guide names the clients of these tests', async () => {
  const guide = await readFile(path.join(packages, '..', 'docs', 'guides', 'outbound-calls.md'), 'utf8');
  const [, list = ''] = /blocked by default in a test suite:([^.]*)\./.exec(guide) ?? [];
  const clients = list.split(',').map((name) => name.replace(/\s+/g, ' ').trim());
  expect(clients.sort()).toEqual(Object.keys(libraries).sort());
});
