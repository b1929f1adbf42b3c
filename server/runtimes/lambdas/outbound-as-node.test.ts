import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { failureOf, resultOf, TestLambdaService } from '../../testing/lambda-service.ts';

/* What a lambda sees of a call that is caught or held up is what it would see of any other (D-200). */

const servers: Server[] = [];
let connections = 0;
let thanks: string;
let service: TestLambdaService;
let env: { CRM_API_BASEPATH: string; THANKS: string };

async function listen(server: Server): Promise<string> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // As: a listening TCP server has such an address.
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

beforeAll(async () => {
  thanks = await listen(createServer((request, response) => response.end(`${request.method} thanks`)));
  const crm = await listen(
    createServer((request, response) => {
      if (request.url === '/lead') response.writeHead(302, { location: `http://${thanks}/` }).end();
      else request.pipe(response);
    }),
  );
  const [host = '', port] = crm.split(':');
  service = await TestLambdaService.start({
    outbound: { crm: 'catch', crmAddress: () => ({ host, port: Number(port) }) },
  });
  env = { CRM_API_BASEPATH: 'crm.example', THANKS: thanks };
  servers[0]?.on('connection', (_socket: Socket) => {
    connections += 1;
  });
});
afterAll(async () => {
  await service.stop();
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
});
beforeEach(async () => {
  connections = 0;
  await service.setOutboundRules();
});

it('a throw in the callback of a caught call is the own error of the lambda', async () => {
  const code = `exports.run = (event, context, callback) => {
    require('https').get('https://crm.example/', () => { throw new Error('my own mistake') });
  }`;
  const invocation = await service.run(code, { env });
  expect(failureOf(invocation)).toMatch(/^crash: uncaught exception: my own mistake/);
  expect(invocation.logs.some(({ text }) => /at .*index\.js:2/.test(text))).toBe(true);
});

it('fetch follows the redirect of a caught POST by GET, and the mock CRM answers it', async () => {
  const code = `exports.run = () => fetch('https://crm.example/lead', { method: 'POST', body: 'a=1' }).then(async (r) => [r.redirected, await r.text()])`;
  const invocation = await service.run(code, { env });
  expect(JSON.parse(resultOf(invocation))).toEqual([true, expect.stringContaining('nothing left this machine')]);
  expect(invocation.outbound).toMatchObject([
    { method: 'POST', url: 'https://crm.example/lead', status: 302, caughtBy: 'crm' },
    { method: 'GET', url: `http://${thanks}/`, status: 200, caughtBy: 'crm', afterRedirect: true },
  ]);
});

it('an agent that keeps its socket keeps it for caught calls, too', async () => {
  const code = `const https = require('https'); const agent = new https.Agent({ keepAlive: true, maxSockets: 1 }); const sockets = new Set();
    const post = () => new Promise((ok, no) => { const sent = https.request('https://crm.example/', { method: 'POST', agent }, (r) => r.resume().on('end', ok)); sent.on('socket', (s) => sockets.add(s)).on('error', no).end('x') });
    exports.run = async () => { await post(); await post(); return sockets.size }`;
  const id = service.lambda(code, { env });
  expect(resultOf(await service.invoke(id))).toBe('1');
  const second = await service.invoke(id);
  expect(resultOf(second)).toBe('1');
  expect(second.outbound).toMatchObject([
    { caughtBy: 'crm', status: 200 },
    { caughtBy: 'crm', status: 200 },
  ]);
});

it.each(['crm.example', '127.0.0.1'])(
  'the own setTimeout of a request to %s fires while a rule delays it',
  async (host) => {
    await service.setOutboundRules({ host, action: 'delay', delayMs: 60_000 });
    const code = `exports.run = (event, context, callback) => {
    const sent = require('http').get('http://' + event);
    sent.setTimeout(50, () => sent.destroy(new Error('too slow')));
    sent.on('error', (e) => callback(null, e.message));
  }`;
    const invocation = await service.run(code, { env }, host === 'crm.example' ? host : thanks);
    expect(resultOf(invocation)).toBe('too slow');
  },
);

it('a delay applies to each request on a connection that is kept', async () => {
  await service.setOutboundRules({ host: '127.0.0.1', action: 'delay', delayMs: 1 });
  const code = `const http = require('http'); const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const get = () => new Promise((ok, no) => http.get('http://' + process.env.THANKS, { agent }, (r) => r.resume().on('end', ok)).on('error', no));
    exports.run = async () => { await get(); await get(); }`;
  const { outbound } = await service.run(code, { env });
  const rules = [{ text: 'delay of 1 ms for 127.0.0.1' }];
  expect(outbound).toMatchObject([{ rules }, { rules }]);
  expect(connections).toBe(1);
});

it('a large body goes to the mock and back', async () => {
  const code = `exports.run = async () => (await (await fetch('https://crm.example/', { method: 'POST', body: 'x'.repeat(5e6) })).text()).length`;
  expect(resultOf(await service.run(code, { env }))).toBe('5000000');
});

it('a program that names the CRM and may ignore the proxy is named in the log', async () => {
  const code = `exports.run = () => require('child_process').spawnSync('echo', ['https://crm.example/']).stdout.toString()`;
  const invocation = await service.run(code, { env });
  expect(resultOf(invocation)).toBe('https://crm.example/\n');
  expect(invocation.logs.map(({ text }) => text)).toEqual([
    '[terrarium] a program was started whose calls are not recorded and follow no outbound rule, unless it uses the variable HTTP_PROXY: echo https://crm.example/',
  ]);
});
