import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { EXECUTION_HEADER } from '../../model/execution-header.ts';
import { TestLambdaService } from '../../testing/lambda-service.ts';
import type { LambdaServiceOptions } from './lambda-service.ts';

/* A form lambda may answer its visitor first and send the lead later, while its process already serves another call (D-138). */

const requests: IncomingMessage[] = [];
const crm = createServer((request, response) => {
  requests.push(request);
  request.resume().on('end', () => response.end('ok'));
});
/** Sends the lead when the second call starts, or when the third has ended. */
const LATE_FORM = (client: string) => `
  const { once, EventEmitter } = require('events'); const signal = new EventEmitter();
  const send = (path) => ${client};
  exports.run = async (event) => {
    if (event === 'first') once(signal, 'go').then(() => send('/during'));
    if (event === 'idle') setTimeout(() => send('/between'), 50);
    if (event === 'second') { signal.emit('go'); await send('/own'); }
    return event;
  }`;
const CLIENTS = [
  ['fetch', "fetch('https://crm.example' + path, { method: 'POST', body: 'a=1' }).then((r) => r.text())"],
  [
    'node:https',
    "new Promise((ok) => require('https').request('https://crm.example' + path, { method: 'POST' }, (r) => r.resume().on('end', ok)).end('a=1'))",
  ],
] as const;

let service: TestLambdaService;
let outbound: LambdaServiceOptions['outbound'];
beforeAll(async () => {
  await new Promise<void>((resolve) => crm.listen(0, '127.0.0.1', resolve));
  // As: a listening TCP server has such an address.
  const { port } = crm.address() as AddressInfo;
  outbound = { crm: 'catch', crmAddress: () => ({ host: '127.0.0.1', port }) };
  service = await TestLambdaService.start({ outbound });
});
afterAll(async () => {
  await service.stop();
  crm.close();
  crm.closeAllConnections();
});

it.each(CLIENTS)(
  'a lead that a lambda sends with %s after its response belongs to that invocation',
  async (_, client) => {
    requests.length = 0;
    const id = service.lambda(LATE_FORM(client), { env: { CRM_API_BASEPATH: 'crm.example' } });
    const first = await service.invoke(id, 'first');
    const second = await service.invoke(id, 'second');
    await expect.poll(() => requests.length, { timeout: 30_000 }).toBe(2);
    const idle = await service.invoke(id, 'idle');
    await expect.poll(() => requests.length, { timeout: 30_000 }).toBe(3);
    const senders = Object.fromEntries(requests.map(({ url, headers }) => [url, headers[EXECUTION_HEADER]]));
    expect(senders).toEqual({
      '/during': first.executionId,
      '/own': second.executionId,
      '/between': idle.executionId,
    });
    expect(second.outbound.map(({ url }) => url)).toEqual(['https://crm.example/own']);
    const late = () =>
      service.lambdas
        .readLog(id, {})
        .lines.flatMap(({ text, executionId }) => (text.includes('went on after') ? [[executionId, text]] : []));
    const message = (path: string) =>
      `[terrarium] the lambda went on after its response: it sent POST https://crm.example${path}`;
    await expect.poll(late).toEqual([
      [first.executionId, message('/during')],
      [idle.executionId, message('/between')],
    ]);
  },
);

describe('the record of an invocation', () => {
  /** URLs of the outbound calls of the closed records. */
  const recorded: string[][] = [];
  /** Its records stay open longer than any test lasts, if they wait for later calls at all. */
  let patientService: TestLambdaService;
  beforeEach(async () => {
    requests.length = 0;
    recorded.length = 0;
    patientService = await TestLambdaService.start({
      outbound,
      limits: { openOutboundMs: 600_000 },
      onInvocation: ({ outbound: calls }) => recorded.push(calls.map(({ url }) => url)),
    });
  });
  afterEach(() => patientService.stop());

  it.each([
    ['the global setTimeout', 'const wait = (ms) => new Promise((then) => setTimeout(then, ms));'],
    ['timers/promises', "const { setTimeout: wait } = require('timers/promises');"],
  ])('has what the lambda sends soon after its response, by %s', async (_timer, wait) => {
    const code = `${wait}
      exports.run = async (event) => { if (event !== '{}') wait(20).then(() => fetch('https://crm.example/' + event)); }`;
    const id = patientService.lambda(code, { env: { CRM_API_BASEPATH: 'crm.example' } });
    await patientService.invoke(id, 'first');
    await patientService.invoke(id);
    await expect.poll(() => requests.length, { timeout: 30_000 }).toBe(1);
    await patientService.invoke(id, 'third');
    await expect.poll(() => requests.length, { timeout: 30_000 }).toBe(2);
    await patientService.stop();
    expect(recorded).toEqual([[], ['https://crm.example/first'], ['https://crm.example/third']]);
  });

  it('waits for a timer of its handler, though one of an earlier call fires meanwhile', async () => {
    const code = `let fired; const earlier = new Promise((then) => { fired = then; });
      exports.run = async (event) => {
        if (event === 'first') setTimeout(fired, 300);
        else { await earlier; setTimeout(() => fetch('https://crm.example/second'), 20); }
      }`;
    const id = patientService.lambda(code, { env: { CRM_API_BASEPATH: 'crm.example' } });
    await patientService.invoke(id, 'first');
    await patientService.invoke(id, 'second');
    await expect.poll(() => requests.length, { timeout: 30_000 }).toBe(1);
    await patientService.stop();
    expect(recorded).toEqual([[], ['https://crm.example/second']]);
  });

  it.each([
    ['a timer that has fired', "await require('timers/promises').setTimeout(1)"],
    ['a timer that it has cleared', 'clearTimeout(setTimeout(() => {}, 100))'],
    ['the timeout of a race', "await Promise.race([1, new Promise((_, fail) => setTimeout(fail, 30_000, 'late'))])"],
    ['a program in an earlier call', "if (event === 'first') require('child_process').execSync('exit 0')"],
    [
      'a thread in an earlier call',
      "if (event === 'first') new (require('worker_threads').Worker)('', { eval: true })",
    ],
  ])('is closed at once after a handler that started %s', async (_what, work) => {
    const id = patientService.lambda(`exports.run = async (event) => { ${work}; }`);
    await patientService.invoke(id, 'first');
    recorded.length = 0;
    await patientService.invoke(id, 'second');
    expect(recorded).toEqual([[]]);
  });
});
