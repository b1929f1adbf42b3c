import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { EXECUTION_HEADER } from '../../model/execution-header.ts';
import { TestLambdaService } from '../../testing/lambda-service.ts';

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
beforeAll(async () => {
  await new Promise<void>((resolve) => crm.listen(0, '127.0.0.1', resolve));
  // As: a listening TCP server has such an address.
  const { port } = crm.address() as AddressInfo;
  service = await TestLambdaService.start({
    outbound: { crm: 'catch', crmAddress: () => ({ host: '127.0.0.1', port }) },
  });
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
