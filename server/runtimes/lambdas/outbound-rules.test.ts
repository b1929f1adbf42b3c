import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { EXECUTION_HEADER } from '../../model/execution-header.ts';
import { resultOf, TestLambdaService } from '../../testing/lambda-service.ts';
import type { MockAddress } from './process/protocol.ts';

/** The received requests with the host that received them. */
const arrived: { at: 'mock' | 'host'; execution: string | undefined; body: string }[] = [];
const servers: Server[] = [];
let mock: MockAddress;
let host: string;
let service: TestLambdaService;

async function listen(at: 'mock' | 'host'): Promise<number> {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    // A header of that name has one value.
    arrived.push({ at, execution: request.headers[EXECUTION_HEADER] as string | undefined, body });
    if (request.url === '/moved') response.writeHead(302, { location: '/' }).end();
    else response.end(request.url === '/credentials' ? (request.headers.authorization ?? 'none') : at);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // As: a listening TCP server has such an address.
  return (server.address() as AddressInfo).port;
}

beforeAll(async () => {
  mock = { host: '127.0.0.1', port: await listen('mock') };
  host = `127.0.0.1:${await listen('host')}`;
  service = await TestLambdaService.start({ outbound: { crm: 'catch', crmAddress: () => mock } });
});
afterAll(async () => {
  await service.stop();
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
});
beforeEach(async () => {
  arrived.length = 0;
  await service.setOutboundRules();
});

/** Makes a POST in each of the three ways and says how it went, as `status body` or an error's code. */
const ways = {
  fetch: `exports.run = (event) => fetch('http://' + process.env.TO + '/x', { method: 'POST', body: event })
    .then(async (r) => r.status + ' ' + await r.text(), (e) => e.cause.code + ': ' + e.cause.message)`,
  'http.request': `const { request } = require('http');
    exports.run = (event, context, callback) => {
      const sent = request('http://' + process.env.TO + '/x', { method: 'POST' }, (res) => {
        let text = ''; res.on('data', (d) => { text += d }); res.on('end', () => callback(null, res.statusCode + ' ' + text));
      });
      sent.on('error', (e) => callback(null, e.code + ': ' + e.message));
      sent.end(event);
    }`,
};
const env = (more = {}) => ({ env: { TO: host, CRM_API_BASEPATH: 'crm.example', ...more } });

describe.each(Object.entries(ways))('a call by %s', (_way, code) => {
  it('passes without a rule, and without a word about the invocation', async () => {
    const { outbound, ...invocation } = await service.run(code, env(), 'a');
    expect(resultOf({ outbound, ...invocation })).toBe('200 host');
    expect(arrived).toEqual([{ at: 'host', execution: undefined, body: 'a' }]);
    expect(outbound).toEqual([expect.not.objectContaining({ rules: expect.anything() })]);
  });

  it('says to the mock which invocation made it, whatever the lambda claims', async () => {
    const invocation = await service.run(code, env({ TO: 'crm.example' }), 'a');
    expect(resultOf(invocation)).toBe('200 mock');
    expect(arrived).toEqual([{ at: 'mock', execution: invocation.executionId, body: 'a' }]);
    expect(invocation.outbound).toMatchObject([{ caughtBy: 'crm', status: 200 }]);
  });

  it('meets rules that were made while its process was there already', async () => {
    const lambda = service.lambda(code, env());
    expect(resultOf(await service.invoke(lambda, 'a'))).toBe('200 host');
    await service.setOutboundRules({ host: '127.0.0.1', action: 'fail', status: 503 });
    const failed = await service.invoke(lambda, 'b');
    expect(failed.cold).toBe(false);
    expect(resultOf(failed)).toBe('503 Answered by an outbound rule: fail with 503 for 127.0.0.1\n');
    expect(failed.outbound).toMatchObject([
      { method: 'POST', url: `http://${host}/x`, status: 503, rules: [{ text: 'fail with 503 for 127.0.0.1' }] },
    ]);
    await service.setOutboundRules();
    expect(resultOf(await service.invoke(lambda, 'c'))).toBe('200 host');
    expect(arrived.map(({ body }) => body)).toEqual(['a', 'c']);
  });

  it.each([
    [{ action: 'block' }, 'ECONNREFUSED'],
    [{ action: 'fail', error: 'ECONNRESET' }, 'ECONNRESET'],
    [{ action: 'fail', error: 'ENOTFOUND' }, 'ENOTFOUND'],
    [{ action: 'fail', error: 'ETIMEDOUT' }, 'ETIMEDOUT'],
  ] as const)('that %j meets fails as the network would', async (fields, errorCode) => {
    await service.setOutboundRules({ host, ...fields });
    const invocation = await service.run(code, env(), 'a');
    expect(resultOf(invocation)).toMatch(new RegExp(`^${errorCode}: .*outbound rule`));
    expect(invocation.outbound).toMatchObject([{ error: expect.stringContaining(errorCode), rules: [{}] }]);
    expect(arrived).toEqual([]);
  });

  it('waits and then goes where it would have gone', async () => {
    await service.setOutboundRules({ host: '127.0.0.1', action: 'delay', delayMs: 300 });
    const invocation = await service.run(code, env(), 'a');
    expect(resultOf(invocation)).toBe('200 host');
    expect(arrived).toEqual([{ at: 'host', execution: undefined, body: 'a' }]);
    const [call, ...more] = invocation.outbound;
    expect(more).toEqual([]);
    const rules = [{ text: 'delay of 300 ms for 127.0.0.1' }];
    expect(call).toMatchObject({ method: 'POST', url: `http://${host}/x`, status: 200, rules });
  });

  it('to the CRM waits and is caught then, or fails', async () => {
    await service.setOutboundRules({ host: '{crm}', action: 'delay', delayMs: 200 });
    const slow = await service.run(code, env({ TO: 'crm.example' }), 'a');
    expect(resultOf(slow)).toBe('200 mock');
    expect(slow.outbound).toMatchObject([{ caughtBy: 'crm', rules: [{ text: 'delay of 200 ms for {crm}' }] }]);

    await service.setOutboundRules(
      { host: '{crm}', action: 'delay', delayMs: 1 },
      { host: '*.example', action: 'fail', status: 500 },
    );
    const failed = await service.run(code, env({ TO: 'crm.example' }), 'a');
    expect(resultOf(failed)).toMatch(/^500 /);
    expect(failed.outbound[0]?.rules).toHaveLength(2);
  });

  it('to any host is caught, and one to the CRM passes, where a rule says so', async () => {
    await service.setOutboundRules({ host: '{crm}', action: 'pass' }, { host: '*', action: 'catch' });
    expect(resultOf(await service.run(code, env(), 'a'))).toBe('200 mock');
    // Loopback is never a CRM.
    expect(resultOf(await service.run(code, env({ CRM_API_BASEPATH: host }), 'b'))).toBe('200 mock');
    const crm = host.replace('127.0.0.1', 'crm.example');
    const resolved = `require('dns').lookup = (dns => (name, ...rest) => dns('127.0.0.1', ...rest))(require('dns').lookup); ${code}`;
    expect(resultOf(await service.run(resolved, env({ TO: crm, CRM_API_BASEPATH: crm }), 'c'))).toBe('200 host');
  });
});

const undici = `exports.run = (event) => require(process.env.UNDICI).request('http://' + process.env.TO + '/x', { method: 'POST', body: event })
  .then(async (r) => r.statusCode + ' ' + await r.body.text(), (e) => e.code + ': ' + e.message)`;
const worker = `exports.run = (event) => new Promise((ok, no) => new (require('worker_threads').Worker)(\`
  fetch('http://' + process.env.TO + '/x', { method: 'POST', body: '\${event}' }).then(async (r) => require('worker_threads').parentPort.postMessage(r.status + ' ' + await r.text()))\`, { eval: true }).on('error', no).on('message', ok))`;
const UNDICI = path.resolve(fileURLToPath(import.meta.url), '..', '..', '..', '..', 'node_modules', 'undici');

describe.each(Object.entries({ ...ways, undici, 'a worker thread': worker }))(
  'a rule that answers a call by %s',
  (way, code) => {
    let lambda: string;
    const invoke = () => service.invoke(lambda, 'a');
    const run = async () => resultOf(await invoke());
    /** True if calls are recorded before their results are: a worker thread that ends at once can be gone before its record is. */
    const isRecorded = way !== 'a worker thread';

    beforeAll(() => {
      lambda = service.lambda(code, env({ UNDICI }));
    });

    it('sends JSON, text or a file with a status and headers, and nothing reaches the host', async () => {
      await service.setOutboundRules({ host, action: 'answer', body: { success: true, score: 0.9 } });
      const invocation = await invoke();
      expect(resultOf(invocation)).toBe('200 {"success":true,"score":0.9}');
      if (isRecorded)
        expect(invocation.outbound).toMatchObject([
          {
            status: 200,
            response: { contentType: 'application/json' },
            rules: [{ text: `answer with 200 for ${host}` }],
          },
        ]);
      await service.setOutboundRules({
        host,
        action: 'answer',
        status: 429,
        headers: { 'content-type': 'text/x-mine' },
        body: 'slow down',
      });
      const limited = await invoke();
      expect(resultOf(limited)).toBe('429 slow down');
      if (isRecorded)
        expect(limited.outbound).toMatchObject([{ status: 429, response: { contentType: 'text/x-mine' } }]);
      const file = path.join(service.folder, 'answer.json');
      await writeFile(file, '{"from":"file"}');
      await service.setOutboundRules({ host, action: 'answer', file });
      expect(await run()).toBe('200 {"from":"file"}');
      await service.setOutboundRules({
        host,
        action: 'answer',
        body: '{{request.method}} {{request.body}} for {{name}}',
      });
      expect(await run()).toBe('200 POST a for {{name}}');
      expect(arrived).toEqual([]);
    });

    it('counts calls over invocations, and leaves all others to the following rules or the host', async () => {
      await service.setOutboundRules(
        { host, action: 'answer', body: 'second and third', after: 1, times: 2 },
        { host, action: 'answer', body: 'first', times: 1 },
      );
      expect(await run()).toBe('200 first');
      expect(await run()).toBe('200 second and third');
      expect(await run()).toBe('200 second and third');
      const last = await invoke();
      expect(resultOf(last)).toBe('200 host');
      if (isRecorded) expect(last.outbound).toEqual([expect.not.objectContaining({ rules: expect.anything() })]);
      expect(arrived).toHaveLength(1);
    });
  },
);

it('a rule that answers twice does so for two of ten calls at the same time, and starts over when it is changed', async () => {
  const code = `exports.run = () => fetch('http://' + process.env.TO + '/x').then((r) => r.text())`;
  const lambda = service.lambda(code, env());
  const results = async () => {
    const invocations = await Promise.all(Array.from({ length: 10 }, () => service.invoke(lambda)));
    return invocations.map(resultOf).sort();
  };
  const expected = [...Array(8).fill('host'), ...Array(2).fill('mine')];
  await service.setOutboundRules({ host, action: 'answer', body: 'mine', times: 2 });
  expect(await results()).toEqual(expected);
  expect(await results()).toEqual(Array(10).fill('host'));
  await service.setOutboundRules({ host, action: 'answer', body: 'mine', times: 2 });
  expect(await results()).toEqual(expected);
});

it('the first form of a process by HTTP/2 gets the whole answer of the mock CRM, whatever address its session is for', async () => {
  const code = `exports.run = () => new Promise((resolve, reject) => {
    const server = require('net').createServer(() => {}).listen(0, '127.0.0.1', () => {
      const createConnection = () => require('net').connect(server.address().port, '127.0.0.1');
      const session = require('http2').connect('http://crm.example', { createConnection });
      let text = '';
      session.request({ ':method': 'POST', ':path': '/servlet/servlet.WebToLead' })
        .on('data', (part) => { text += part }).on('error', reject).on('close', () => resolve(text)).end('oid=1');
    });
  })`;
  const { outbound, ...invocation } = await service.run(code, env());
  expect(resultOf({ outbound, ...invocation })).toBe('mock');
  expect(outbound).toMatchObject([{ caughtBy: 'crm', status: 200 }]);
});

it('a rule answers each of two requests that are written at once', async () => {
  await service.setOutboundRules({ host, action: 'answer', body: '{{request.path}};', after: 0, times: 3 });
  const code = `exports.run = () => new Promise((resolve) => {
    const [host, port] = process.env.TO.split(':');
    const request = (path) => 'GET ' + path + ' HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n';
    let text = '';
    const socket = require('net').connect(port, host, () => socket.write(request('/first') + request('/second')));
    socket.on('data', (part) => { text += part; if (text.includes('/second;')) socket.end(); }).on('close', () => resolve(text.match(/\\/(first|second);/g).join('')));
  })`;
  const { outbound, ...invocation } = await service.run(code, env());
  expect(resultOf({ outbound, ...invocation })).toBe('/first;/second;');
  expect(outbound).toMatchObject([{ status: 200 }, { status: 200 }]);
});

it('a call that reaches its host on the connection of an answered call has none of the credentials of that call', async () => {
  await service.setOutboundRules({ host, action: 'answer', body: 'mine', times: 1 });
  const code = `const http = require('http'); const agent = new http.Agent({ keepAlive: true, maxSockets: 1 }); const ports = new Set();
    const get = (more) => new Promise((ok, no) => http.get('http://' + process.env.TO + '/credentials', { agent, ...more }, (response) => {
      let text = ''; ports.add(response.socket.localPort);
      response.on('data', (part) => { text += part }).on('end', () => setImmediate(ok, text));
    }).on('error', no));
    exports.run = async () => [await get({ auth: 'ada:secret' }), await get(), ports.size]`;
  expect(JSON.parse(resultOf(await service.run(code, env())))).toEqual(['mine', 'none', 1]);
});

it('a rule inserts a random id, whatever the lambda has put in the place of the function that makes such ids', async () => {
  await service.setOutboundRules({ host, action: 'answer', body: '{{uuid}}' });
  const code = `Object.defineProperty(globalThis, 'crypto', { value: {} }); require('crypto').randomUUID = undefined; ${ways.fetch}`;
  expect(resultOf(await service.run(code, env(), 'a'))).toMatch(/^200 [0-9a-f-]{36}$/);
});

it('a rule that answers the CRM leaves later calls to the mock CRM', async () => {
  await service.setOutboundRules({ host: '{crm}', action: 'answer', status: 503, body: 'busy', times: 1 });
  const lambda = service.lambda(ways.fetch, env({ TO: 'crm.example' }));
  expect(resultOf(await service.invoke(lambda, 'a'))).toBe('503 busy');
  expect(resultOf(await service.invoke(lambda, 'a'))).toBe('200 mock');
});

it('a rule that answers with a file that does not exist fails the call with the reason', async () => {
  await service.setOutboundRules({ host, action: 'answer', file: path.join(service.folder, 'missing.json') });
  const { outbound } = await service.run(ways.fetch, env(), 'a');
  expect(outbound).toMatchObject([
    { error: expect.stringMatching(/the outbound rule cannot answer: ENOENT.*missing\.json/) },
  ]);
});

it('a delayed fetch that is given up ends at once', async () => {
  await service.setOutboundRules({ host: '127.0.0.1', action: 'delay', delayMs: 60_000 });
  const code = `exports.run = () => fetch('http://' + process.env.TO, { signal: AbortSignal.timeout(50) }).catch((e) => e.name)`;
  const invocation = await service.run(code, env());
  expect(resultOf(invocation)).toBe('TimeoutError');
  expect(invocation.outbound).toMatchObject([{ error: expect.any(String) }]);
  expect(arrived).toEqual([]);
});

it.each(['fail', 'delay'] as const)(
  'a call with a timeout of its own runs out while a rule delays it (%s)',
  async (action) => {
    await service.setOutboundRules({ host: '127.0.0.1', action: 'delay', delayMs: 60_000 });
    if (action === 'fail')
      await service.setOutboundRules(
        { host: '*', action: 'delay', delayMs: 60_000 },
        { host: '*', action, status: 500 },
      );
    const code = `exports.run = (event, context, callback) => {
    const sent = require('http').get('http://' + process.env.TO, { timeout: 50 });
    sent.on('timeout', () => sent.destroy(new Error('too slow')));
    sent.on('error', (e) => callback(null, e.message));
  }`;
    expect(resultOf(await service.run(code, env()))).toBe('too slow');
  },
);

it('the redirect of a delayed fetch is a separate call', async () => {
  await service.setOutboundRules({ host: '127.0.0.1', action: 'delay', delayMs: 1 });
  const code = `exports.run = async () => (await fetch('http://' + process.env.TO + '/moved')).text()`;
  const invocation = await service.run(code, env());
  expect(resultOf(invocation)).toBe('host');
  expect(invocation.outbound).toMatchObject([{ url: `http://${host}/moved` }, { url: `http://${host}/` }]);
});

it('a function that the lambda put in the place of fetch stays there', async () => {
  await service.setOutboundRules({ host: '127.0.0.1', action: 'fail', status: 500 });
  const code = `const real = globalThis.fetch; globalThis.fetch = (...args) => real(...args).then((r) => r.status);
    exports.run = async () => [await fetch('http://' + process.env.TO), await fetch('http://' + process.env.TO)];`;
  expect(JSON.parse(resultOf(await service.run(code, env())))).toEqual([500, 500]);
});
