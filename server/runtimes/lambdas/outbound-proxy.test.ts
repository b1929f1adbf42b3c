import { createServer, request } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import { type AddressInfo, connect, createServer as createTcpServer, type Server } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeCertificate } from '../../mocks/certificate.ts';
import { resultOf, TestLambdaService } from '../../testing/lambda-service.ts';

/* A connection to a proxy of the developer's does not tell which host a call is for: its request does. */

const received: string[] = [];
const servers: Server[] = [];
const ports = { plain: 0, tls: 0, http2: 0, proxy: 0, crm: 0 };
let service: TestLambdaService;
/** A service whose policy blocks. */
let strictService: TestLambdaService;

async function listen(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // As: a listening TCP server has such an address.
  return (server.address() as AddressInfo).port;
}

beforeAll(async () => {
  const { certPem: cert, keyPem: key } = await makeCertificate(Date.now());
  const serve = (
    { method, url }: { method?: string | undefined; url?: string | undefined },
    response: { end(text: string): unknown },
  ): void => {
    received.push(`${method} ${url}`);
    response.end('real');
  };
  const target = createServer(serve);
  ports.plain = await listen(target);
  const toTarget = createTlsServer({ cert, key }, (socket) => void target.emit('connection', socket));
  ports.tls = await listen(toTarget);
  // As: a server of HTTP/2 without TLS is one of TCP.
  ports.http2 = await listen(createHttp2Server(serve) as unknown as Server);
  const proxy = createServer((incoming, response) => {
    const { pathname: path } = new URL(incoming.url ?? '');
    incoming.pipe(request({ port: ports.plain, path, method: incoming.method }, (answer) => answer.pipe(response)));
  });
  proxy.on('connect', ({ url = '' }, client) => {
    const port = url.endsWith(':443') ? ports.tls : url.endsWith(':50051') ? ports.http2 : ports.plain;
    const server = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      client.pipe(server).pipe(client);
    });
    for (const socket of [client, server]) socket.on('error', () => server.destroy());
  });
  ports.proxy = await listen(proxy);
  ports.crm = await listen(createServer((_request, response) => response.end('mock')));
  const outbound = { crm: 'catch' as const, crmAddress: () => ({ host: '127.0.0.1', port: ports.crm }) };
  // News of a call can come after its result.
  const limits = { openOutboundMs: 600_000 };
  service = await TestLambdaService.start({ limits, outbound });
  strictService = await TestLambdaService.start({ limits, outbound: { ...outbound, default: 'block' } });
});
afterAll(async () => {
  await service.stop();
  await strictService.stop();
  for (const server of servers) server.close();
});
beforeEach(async () => {
  received.length = 0;
  await service.setOutboundRules();
});

/** A lambda that calls a host through the proxy whose port is the event. */
const lambdaWith = (send: string) => `const http = require('http'), https = require('https'), tls = require('tls');
  const tunnel = (path, port, then, failed, host = '127.0.0.1') => http.request({ host, port, method: 'CONNECT', path })
    .on('connect', (response, socket, head) => { socket.unshift(head); then(socket); }).on('error', failed).end();
  exports.run = (event) => new Promise((resolve) => {
    const failed = (error) => resolve('error ' + error.message);
    const inParts = async (socket, ...parts) => {
      let text = '';
      socket.on('data', (part) => { text += part }).on('error', failed).on('end', () => resolve(text.split(' ')[1] + ' ' + /real|tea|mine|mock/.exec(text)));
      for (const part of parts) await new Promise((written) => socket.write(part, written));
    };
    const answered = (response) => { let text = response.statusCode + ' '; response.on('data', (part) => { text += part }).on('end', () => resolve(text)) };
    ${send}
  });`;

const CLIENTS: [string, string, string][] = [
  [
    'the whole address in its request',
    'http://api.example/orders',
    "http.get({ host: '127.0.0.1', port: event, path: 'http://api.example/orders', headers: { host: 'api.example' } }, answered).on('error', failed);",
  ],
  [
    'a tunnel',
    'http://api.example/orders',
    "tunnel('api.example:80', event, (socket) => http.get('http://api.example/orders', { createConnection: () => socket, headers: { host: 'api.example' } }, answered).on('error', failed), failed);",
  ],
  [
    'a tunnel with TLS',
    'https://api.example/orders',
    `tunnel('api.example:443', event, (socket) => https.get('https://api.example/orders', {
      headers: { host: 'api.example' },
      createConnection: () => tls.connect({ socket, servername: 'api.example', rejectUnauthorized: false }) }, answered).on('error', failed), failed);`,
  ],
  [
    'a tunnel with HTTP/2',
    'http://api.example:50051/orders',
    `tunnel('api.example:50051', event, (socket) => {
      const session = require('http2').connect('http://api.example:50051', { createConnection: () => socket }).on('error', () => {});
      let text = '';
      session.request({ ':path': '/orders' }).on('response', (headers) => { text = headers[':status'] + ' ' }).on('data', (part) => { text += part })
        .on('error', failed).on('end', () => { session.close(); resolve(text); });
    }, failed);`,
  ],
  [
    'the whole address in a head that it writes in parts',
    'http://api.example/orders',
    "inParts(require('net').connect(event, '127.0.0.1'), 'GET http://api.ex', 'ample/orders HTTP/1.1\\r\\nHost: api.ex', 'ample\\r\\nConnection: close\\r\\n\\r\\n');",
  ],
  [
    'a tunnel and a head in parts',
    'http://api.example/orders',
    "tunnel('api.example:80', event, (socket) => inParts(socket, 'GET /ord', 'ers HTTP/1.1\\r\\nHost: api.ex', 'ample\\r\\nConnection: close\\r\\n\\r\\n'), failed);",
  ],
];

describe.each(CLIENTS)('a call through a proxy, by %s,', (_way, url, send) => {
  it('follows the rules for its host, and is recorded without its tunnel', async () => {
    const id = service.lambda(lambdaWith(send));
    const passed = await service.invoke(id, `${ports.proxy}`);
    expect(resultOf(passed)).toBe('200 real');
    expect(passed.outbound).toMatchObject([{ method: 'GET', url, status: 200, leftMachine: true }]);
    expect(received.splice(0)).toEqual(['GET /orders']);

    await service.setOutboundRules({ host: 'api.example', action: 'block' });
    const blocked = await service.invoke(id, `${ports.proxy}`);
    expect(resultOf(blocked)).toContain('(outbound rule: block for api.example)');
    await expect
      .poll(() => blocked.outbound)
      .toMatchObject([{ url, blocked: true, rules: [{ text: 'block for api.example' }] }]);

    await service.setOutboundRules({ host: 'api.example', action: 'answer', status: 418, body: 'tea' });
    const answered = await service.invoke(id, `${ports.proxy}`);
    expect(resultOf(answered)).toBe('418 tea');
    await expect.poll(() => answered.outbound).toMatchObject([{ url, status: 418 }]);
    expect(received).toEqual([]);
  });

  it('goes through the proxy when the rule that answers has answered its calls', async () => {
    const id = service.lambda(lambdaWith(send));
    await service.setOutboundRules({ host: 'api.example', action: 'answer', body: 'mine', after: 1, times: 1 });
    const results: string[] = [];
    for (let number = 1; number <= 3; number += 1) {
      const invocation = await service.invoke(id, `${ports.proxy}`);
      results.push(resultOf(invocation));
      expect(invocation.outbound).toMatchObject([{ url, status: 200 }]);
      expect(invocation.outbound[0]?.rules ?? []).toHaveLength(number === 2 ? 1 : 0);
    }
    expect(results).toEqual(['200 real', '200 mine', '200 real']);
    expect(received).toEqual(['GET /orders', 'GET /orders']);
  });

  it('is delayed by a rule, and then goes through the proxy', async () => {
    await service.setOutboundRules({ host: 'api.example', action: 'delay', delayMs: 200 });
    const invocation = await service.run(lambdaWith(send), {}, `${ports.proxy}`);
    expect(resultOf(invocation)).toBe('200 real');
    expect(invocation.outbound).toMatchObject([{ url, rules: [{ text: 'delay of 200 ms for api.example' }] }]);
    expect(invocation.outbound[0]?.durationMs).toBeGreaterThan(190);
  });

  it('is answered by the mock CRM if the host is that of the CRM', async () => {
    const id = service.lambda(lambdaWith(send), { env: { CRM_API_BASEPATH: 'api.example' } });
    const invocation = await service.invoke(id, `${ports.proxy}`);
    expect(resultOf(invocation)).toBe('200 mock');
    expect(invocation.outbound).toMatchObject([{ url, caughtBy: 'crm', status: 200 }]);
    expect(received).toEqual([]);
  });

  it('is blocked by the policy as a direct one', async () => {
    const invocation = await strictService.invoke(strictService.lambda(lambdaWith(send)), `${ports.proxy}`);
    expect(resultOf(invocation)).toContain('api.example');
    await expect.poll(() => invocation.outbound).toMatchObject([{ url, blocked: true }]);
    expect(received).toEqual([]);
  });
});

/** A proxy whose tunnels all lead to a server that sends back what it receives. */
async function listenToEcho(): Promise<number> {
  const echo = await listen(createTcpServer((socket) => socket.pipe(socket)));
  const proxy = createServer().on('connect', (_request, client) => {
    const server = connect(echo, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      client.pipe(server).pipe(client);
    });
    client.on('error', () => server.destroy());
  });
  return listen(proxy);
}

it.each([
  ['no HTTP', '\\0ping'],
  ['text that looks like the start of a request', 'PING everyone'],
])('a request that is %s, in a tunnel, passes as it is', async (_kind, text) => {
  const send = `tunnel('api.example:5432', event, (socket) => socket.on('data', (part) => { resolve(String(part)); socket.destroy(); }).write('${text}'), failed);`;
  const invocation = await service.invoke(service.lambda(lambdaWith(send)), `${await listenToEcho()}`);
  expect(resultOf(invocation)).toBe(text.replace('\\0', '\0'));
});

it('a request in a tunnel whose Content-Length is too small is sent', async () => {
  const text = 'POST / HTTP/1.1\\r\\nHost: api.example\\r\\nContent-Length: 9\\r\\n\\r\\n{"a":"ä"}';
  const send = `tunnel('api.example:80', event, (socket) => { socket.on('data', (part) => { resolve(String(part)); socket.destroy(); }).write('${text}'); }, failed);`;
  const invocation = await service.invoke(service.lambda(lambdaWith(send)), `${await listenToEcho()}`);
  expect(resultOf(invocation)).toContain('{"a":"ä"}');
});

describe.each([
  ['node:http', "tunnel('api.example:443', 3128, () => resolve('open'), failed, 'proxy.example');"],
  [
    'a client that writes it itself',
    "require('net').connect(3128, 'proxy.example').on('error', failed).write('CONNECT api.example:443 HTTP/1.1\\r\\nHost: api.example\\r\\n\\r\\n');",
  ],
])('a tunnel that %s asks for', (_client, send) => {
  it('is recorded as a connection when the policy blocks its proxy', async () => {
    const invocation = await strictService.run(lambdaWith(send));
    expect(resultOf(invocation)).toContain('"host": "proxy.example", "action": "pass"');
    await expect.poll(() => invocation.outbound).toMatchObject([{ url: 'tcp://proxy.example:3128', blocked: true }]);
  });

  it('fails and says why when a rule answers the proxy', async () => {
    await service.setOutboundRules({ host: '*', action: 'answer' });
    const invocation = await service.run(lambdaWith(send));
    const error = expect.stringContaining("(outbound rule: answer with 200 for *; it cannot open a proxy's tunnel,");
    expect(resultOf(invocation)).toEqual(error);
    await expect
      .poll(() => invocation.outbound)
      .toMatchObject([{ url: 'tcp://proxy.example:3128', error: expect.stringContaining('tunnel') }]);
  });
});

it('a handler with a callback is not over while a call by a connection that is used again waits for its rule', async () => {
  const proxy = createTcpServer((socket) =>
    socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nreal')),
  );
  const id = service.lambda(`let socket;
    exports.run = (event, context, callback) => {
      socket ??= require('net').connect(event, '127.0.0.1');
      socket.once('data', (part) => callback(null, part)).write('GET http://api.example/ HTTP/1.1\\r\\nHost: api.example\\r\\n\\r\\n');
    }`);
  const port = await listen(proxy);
  await service.setOutboundRules({ host: 'api.example', action: 'answer', body: 'mine', after: 100 });
  for (let call = 0; call < 3; call += 1) expect(resultOf(await service.invoke(id, `${port}`))).toContain('real');
});

it('a call by HTTP/2 to this machine never goes to the mock CRM for its authority alone', async () => {
  const code = `exports.run = (event) => new Promise((resolve) => {
    const session = require('http2').connect('http://127.0.0.1:' + event).on('error', () => {});
    let text = '';
    session.request({ ':authority': 'api.example' }).on('error', ({ message }) => resolve(message))
      .on('data', (part) => { text += part }).on('end', () => { session.close(); resolve(text); });
  })`;
  const invocation = await service.run(code, { env: { CRM_API_BASEPATH: 'api.example' } }, `${ports.http2}`);
  expect(resultOf(invocation)).toBe('real');
  expect(invocation.outbound).toEqual([expect.not.objectContaining({ caughtBy: 'crm' })]);
});
