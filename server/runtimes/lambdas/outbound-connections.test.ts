import { createSocket } from 'node:dgram';
import {
  constants,
  createServer as createHttp2Server,
  createSecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import path from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeCertificate } from '../../mocks/certificate.ts';
import type { Invocation } from '../../model/invocation.ts';
import { resultOf, TestLambdaService } from '../../testing/lambda-service.ts';

const packages = path.resolve(fileURLToPath(import.meta.url), '..', '..', '..', '..', 'node_modules');

/** All that the servers of this machine have received. */
const received: string[] = [];
const servers: { close(): unknown }[] = [];
const datagrams = createSocket('udp4');
const dns = createSocket('udp4');
const ports = { greeter: 0, tls: 0, http2: 0, streams: 0, bare: 0, secureHttp2: 0, datagrams: 0, dns: 0, platform: 0 };
let service: TestLambdaService;
/** A service whose policy blocks. */
let strictService: TestLambdaService;

/** Greets, as mail servers do, and answers each part that it receives. */
function greet(socket: Socket): void {
  socket.on('error', () => {});
  socket.write('hello ');
  socket.on('data', (bytes) => {
    received.push(String(bytes));
    socket.write(`got ${String(bytes)} `);
  });
}

async function listen(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // As: a listening TCP server has such an address.
  return (server.address() as AddressInfo).port;
}

/** Responds by HTTP/2 in the way that the path names. */
function respondAs(stream: ServerHttp2Stream, { ':path': way, ':method': method }: IncomingHttpHeaders): void {
  stream.on('error', () => {}).on('close', () => received.push(`${way} ${stream.rstCode}`));
  if (way === '/reset-first') return void stream.close(constants.NGHTTP2_CANCEL);
  const isWhole = way === '/trailers-only' || method === 'HEAD';
  const headers = { 'grpc-status': '5', 'grpc-message': 'no such order' };
  stream.respond(headers, { endStream: isWhole, waitForTrailers: way === '/enough' });
  stream.on('wantTrailers', () => {
    stream.sendTrailers({ 'x-trailer': 'end' });
    setImmediate(() => stream.close());
  });
  if (isWhole) return void (method === 'POST' ? setImmediate(() => stream.close()) : stream.resume());
  if (way === '/echo') return void stream.pipe(stream);
  stream.write('part');
  stream.on('data', () =>
    // Node.js does not send a reset that is made while it reads from the same connection.
    setImmediate(() => {
      if (way === '/reset') stream.close(constants.NGHTTP2_CANCEL);
      if (way === '/lost') stream.session?.destroy();
      if (way === '/enough') stream.end();
      if (way === '/last') stream.end(() => stream.session?.close());
    }),
  );
}

/** Responds to the first request by HTTP/2 with status 204, without a body but with a frame for it, which Node.js never sends. */
function respondInFrames(socket: Socket): void {
  let text = '';
  socket.setEncoding('hex').on('error', () => {});
  socket.on('data', (part) => {
    const isWaiting = !/01..00000001/.test(text);
    text += part;
    if (isWaiting && /01..00000001/.test(text))
      socket.write('0000000400000000000000010104000000018900000000010000000100000403000000000100000000', 'hex');
  });
}

/** Answers every query with 127.0.0.1. */
function answerQuery(query: Buffer): Buffer {
  const header = Buffer.from([...query.subarray(0, 2), 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]);
  const question = query.subarray(12, query.indexOf(0, 12) + 5);
  const answer = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 9, 0, 4, 127, 0, 0, 1]);
  return Buffer.concat([header, question, answer]);
}

beforeAll(async () => {
  const { certPem: cert, keyPem: key } = await makeCertificate(Date.now());
  ports.greeter = await listen(createServer(greet));
  ports.platform = await listen(createServer(greet));
  ports.tls = await listen(createTlsServer({ cert, key }, greet));
  const serve = ({ headers, url }: Http2ServerRequest, response: Http2ServerResponse): void => {
    received.push(`${headers[':authority']}${url}`);
    response.addTrailers({ 'x-trailer': 'end' });
    response.end('answer');
  };
  // As: a server of HTTP/2 without TLS is one of TCP.
  ports.http2 = await listen(createHttp2Server(serve) as unknown as Server);
  ports.streams = await listen(createHttp2Server().on('stream', respondAs) as unknown as Server);
  ports.bare = await listen(createServer(respondInFrames));
  ports.secureHttp2 = await listen(createSecureServer({ cert, key }, serve));
  for (const [name, socket] of Object.entries({ datagrams, dns })) {
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
    ports[name as 'dns'] = socket.address().port;
  }
  datagrams.on('message', (bytes) => received.push(String(bytes)));
  dns.on('message', (query, { port, address }) => dns.send(answerQuery(query), port, address));
  const outbound = { crm: 'catch' as const, crmAddress: () => undefined };
  const addresses = () => ({
    metaUrl: `http://localhost:${ports.platform}/meta`,
    securityUrl: `http://localhost:${ports.platform}/security`,
    gatewayUrl: 'http://localhost:2',
  });
  service = await TestLambdaService.start({ outbound, addresses });
  strictService = await TestLambdaService.start({ outbound: { ...outbound, default: 'block' }, addresses });
});
afterAll(async () => {
  await service.stop();
  await strictService.stop();
  for (const server of servers) server.close();
  datagrams.close();
  dns.close();
});
/** Sets the outbound rules of both services. */
async function setRules(...rules: Parameters<TestLambdaService['setOutboundRules']>): Promise<void> {
  for (const each of [service, strictService]) await each.setOutboundRules(...rules);
}

beforeEach(async () => {
  received.length = 0;
  await setRules();
});

/** A lambda whose handler is the body of an asynchronous function. */
const handler = (body: string): string => `const net = require('net'), tls = require('tls'), dgram = require('dgram');
  ${TALK} exports.run = async (event) => { ${body} }`;

/** Sends text after a greeting and settles with all that came; or with the error. */
const TALK = `const talk = (socket, text = 'PING') => new Promise((resolve) => {
  let all = '';
  socket.on('error', (error) => resolve('error ' + error.message));
  socket.on('data', (bytes) => { all += bytes; if (all === 'hello ') socket.write(text); if (all.includes('got')) { resolve(all.trim()); socket.end(); } });
});`;

/** Leads a host to this machine, as an entry in /etc/hosts would. */
const LOOKUP_TO_LOOPBACK =
  "lookup: (name, options, done) => options.all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4)";

function summaryOf({ outbound }: Invocation): object[] {
  return outbound.map(({ method, url, connection, error, blocked, leftMachine }) => ({
    method,
    url,
    ...(connection && { sentBytes: connection.sentBytes, receivedBytes: connection.receivedBytes }),
    ...(error !== undefined && { error }),
    ...(blocked && { blocked }),
    ...(leftMachine && { leftMachine }),
  }));
}

describe('a rule for a name applies to a connection to the address that was looked up by this name', () => {
  const connect = 'await talk(net.connect(Number(event), address))';
  const resolver = `const resolver = new (require('dns').Resolver)(); resolver.setServers([process.env.DNS]);`;
  it.each([
    [
      'dns.lookup',
      'local*',
      handler(
        `const address = await new Promise((ok) => require('dns').lookup('localhost', (e, a) => ok(a))); return ${connect}`,
      ),
    ],
    [
      'dns.promises.lookup',
      'local*',
      handler(`const { address } = await require('dns').promises.lookup('localhost'); return ${connect}`),
    ],
    [
      'an ES module',
      'local*',
      `import { lookup } from 'node:dns/promises'; import net from 'node:net'; ${TALK}
      export const run = async (event) => { const { address } = await lookup('localhost'); return ${connect}; }`,
    ],
    [
      'dns.Resolver',
      'shop.example',
      handler(
        `${resolver} const [address] = await new Promise((ok, no) => resolver.resolve4('Shop.Example', (e, a) => e ? no(e) : ok(a))); return ${connect}`,
      ),
    ],
  ])('by %s', async (_way, host, code) => {
    const properties = { env: { DNS: `127.0.0.1:${ports.dns}` } };
    const id = service.lambda(code, properties);
    expect(resultOf(await service.invoke(id, `${ports.greeter}`))).toBe('hello got PING');
    received.length = 0;
    await setRules({ host, action: 'block' });
    const blocked = await service.invoke(id, `${ports.greeter}`);
    expect(resultOf(blocked)).toMatch(
      new RegExp(`^error connect ECONNREFUSED .*outbound rule: block for ${host.replace('*', '.')}`),
    );
    expect(blocked.outbound).toMatchObject([{ method: 'TCP', blocked: true, rules: [{ text: `block for ${host}` }] }]);
    expect(received).toEqual([]);
  });
});

describe('a call by HTTP/2 over a connection to an address follows the rules for its authority', () => {
  const calls = {
    http2: `const http2 = require('http2');
      exports.run = (event) => new Promise((resolve) => {
        const session = http2.connect('http://shop.example:' + event, { createConnection: () => require('net').connect(Number(event), '127.0.0.1') });
        session.on('error', () => {});
        let text = '';
        const stream = session.request({ ':path': '/orders' }).on('error', (error) => resolve('error ' + (error.cause || error).message));
        stream.on('response', (headers) => { text = headers[':status'] + ' ' }).on('data', (part) => { text += part }).on('end', () => { session.close(); resolve(text) });
      });`,
    'an ES module': `import { connect } from 'node:http2'; import net from 'node:net';
      export const run = (event) => new Promise((resolve) => {
        const session = connect('http://shop.example:' + event, { createConnection: () => net.connect(Number(event), '127.0.0.1') });
        session.on('error', () => {});
        let text = '';
        const stream = session.request({ ':path': '/orders' }).on('error', (error) => resolve('error ' + (error.cause || error).message));
        stream.on('response', (headers) => { text = headers[':status'] + ' ' }).on('data', (part) => { text += part }).on('end', () => { session.close(); resolve(text) });
      });`,
  };

  it.each(Object.entries(calls))('by %s', async (_way, code) => {
    const id = service.lambda(code);
    const passed = await service.invoke(id, `${ports.http2}`);
    expect(resultOf(passed)).toBe('200 answer');
    const url = `http://shop.example:${ports.http2}/orders`;
    expect(passed.outbound).toMatchObject([{ url, status: 200 }]);
    received.length = 0;

    await setRules({ host: 'shop.example', action: 'block' });
    const blocked = await service.invoke(id, `${ports.http2}`);
    expect(resultOf(blocked)).toContain('(outbound rule: block for shop.example)');
    expect(blocked.outbound).toMatchObject([{ url, blocked: true, rules: [{ text: 'block for shop.example' }] }]);
    await setRules({ host: 'shop.example', action: 'fail', status: 503 });
    const failed = await service.invoke(id, `${ports.http2}`);
    expect(resultOf(failed)).toMatch(/^503 /);
    expect(failed.outbound).toMatchObject([{ url, status: 503 }]);
    expect(received).toEqual([]);
  });

  it.each([
    ['made for its host', "http2.connect('http://localhost:' + event)", 'http2'],
    [
      'made for its host with TLS',
      "http2.connect('https://localhost:' + event, { rejectUnauthorized: false })",
      'secureHttp2',
    ],
    ['made for an address', "http2.connect('http://127.0.0.1:' + event)", 'http2'],
    [
      'with a connection of its own',
      "http2.connect('http://localhost:' + event, { createConnection: () => require('net').connect(event, '127.0.0.1') })",
      'http2',
    ],
  ] as const)(
    'by a session %s reaches its host by HTTP/2 where a rule has answered its calls',
    async (_kind, connect, port) => {
      const code = `const http2 = require('http2');
      exports.run = async (event) => {
        const session = ${connect}.on('error', () => {});
        const call = () => new Promise((resolve) => {
          let text = '';
          session.request({ te: 'trailers' }).on('error', ({ message }) => resolve(message))
            .on('data', (part) => { text += part }).on('trailers', (trailers) => { text += ' ' + trailers['x-trailer'] }).on('close', () => resolve(text));
        });
        const results = [await call(), await call(), ...await Promise.all([call(), call()])];
        session.close();
        return results;
      }`;
      await setRules({ host: 'localhost', action: 'answer', body: 'mine', after: 1, times: 1 });
      const { outbound, ...invocation } = await service.run(code, {}, `${ports[port]}`);
      expect(JSON.parse(resultOf({ outbound, ...invocation }))).toEqual([
        'answer end',
        'mine',
        'answer end',
        'answer end',
      ]);
      expect(received).toHaveLength(3);
      expect(outbound.map(({ rules = [] }) => rules.length)).toEqual([0, 1, 0, 0]);
      expect(outbound).toEqual(Array(4).fill(expect.objectContaining({ status: 200, response: expect.anything() })));
    },
  );

  describe.each([
    ['made for its host', 'localhost', "http2.connect('http://localhost:' + event)"],
    [
      'made for an address',
      'shop.example',
      "http2.connect('http://shop.example:' + event, { createConnection: () => require('net').connect(event, '127.0.0.1') })",
    ],
  ])('by a session %s, left to its host by a rule that has answered its calls,', (_kind, host, connect) => {
    const code = (run: string) => `const http2 = require('http2');
      const connect = (event) => ${connect}.on('error', () => {});
      const call = (session, headers, body, cancels) => new Promise((resolve) => {
        const seen = {};
        const stream = session.request(headers, { endStream: body === undefined });
        stream.on('response', (headers, flags) => Object.assign(seen, { status: headers[':status'], grpc: headers['grpc-status'], isWhole: (flags & 1) === 1 }))
          .on('data', (part) => {
            seen.text = (seen.text || '') + part;
            if (cancels) stream.close(8);
            else if (body === '') stream.write('more');
          })
          .on('trailers', (trailers) => { seen.trailer = trailers['x-trailer'] })
          .on('error', ({ code }) => { seen.error = code })
          .on('close', () => resolve({ ...seen, reset: stream.rstCode }));
        if (body) stream.end(body);
      });
      exports.run = async (event) => { ${run} }`;
    const leavingRule = { host, action: 'answer', body: 'mine', after: 1_000 } as const;
    const closing = 'const session = connect(event); const seen = await CALL; session.close(); return seen;';

    it.each([
      ['is reset before its response', "{ ':path': '/reset-first' }", { reset: 8 }],
      ['is reset during its response', "{ ':path': '/reset', ':method': 'POST' }, ''", { text: 'part', reset: 8 }],
      ['loses its connection', "{ ':path': '/lost', ':method': 'POST' }, ''", { text: 'part', reset: 8 }],
      [
        'ends with its response during its upload',
        "{ ':path': '/enough', ':method': 'POST' }, ''",
        { text: 'part', trailer: 'end', reset: 0 },
      ],
      ['has a response of headers only', "{ ':path': '/trailers-only' }", { grpc: '5', isWhole: true, reset: 0 }],
      [
        'has only headers during its upload',
        "{ ':path': '/trailers-only', ':method': 'POST' }, ''",
        { grpc: '5', isWhole: true, reset: 0 },
      ],
      ['has the method HEAD', "{ ':path': '/echo', ':method': 'HEAD' }", { isWhole: true, reset: 0 }],
      ['is a GET with a body', "{ ':path': '/echo', ':method': 'GET' }, 'body'", { text: 'body', reset: 0 }],
      ['is a DELETE with a body', "{ ':path': '/echo', ':method': 'DELETE' }, 'body'", { text: 'body', reset: 0 }],
    ])('ends as it does without the rule when it %s', async (_event, args, expected) => {
      const id = service.lambda(code(closing.replace('CALL', `call(session, ${args})`)));
      const direct = JSON.parse(resultOf(await service.invoke(id, `${ports.streams}`)));
      expect(direct).toMatchObject(expected);
      await setRules(leavingRule);
      const invocation = await service.invoke(id, `${ports.streams}`);
      expect(JSON.parse(resultOf(invocation))).toEqual(direct);
      expect(invocation.outbound).toMatchObject([{ url: expect.stringMatching(/^http:/) }]);
    });

    it('ends when a host responds without a body in two frames and needs no more of the request', async () => {
      await setRules(leavingRule);
      const run = closing.replace('CALL', "call(session, { ':method': 'POST' }, '')");
      expect(JSON.parse(resultOf(await service.run(code(run), {}, `${ports.bare}`)))).toMatchObject({
        status: 204,
        reset: 0,
      });
    });

    it('reaches its host as canceled when the lambda cancels it', async () => {
      await setRules(leavingRule);
      const run = closing.replace('CALL', "call(session, { ':path': '/open', ':method': 'POST' }, '', true)");
      expect(JSON.parse(resultOf(await service.run(code(run), {}, `${ports.streams}`)))).toMatchObject({ reset: 8 });
      await expect.poll(() => received).toEqual(['/open 8']);
    });

    it('is completed when its session is closed meanwhile', async () => {
      await setRules(leavingRule);
      const run = `const session = connect(event);
        const echo = (text) => call(session, { ':path': '/echo', ':method': 'POST' }, text);
        await echo('first');
        const last = echo('last');
        await new Promise(setImmediate);
        session.close();
        return (await last).text;`;
      expect(resultOf(await service.run(code(run), {}, `${ports.streams}`))).toBe('last');
    });

    it('reaches its host again after the host has closed its connection', async () => {
      await setRules(leavingRule);
      const run = `const session = connect(event);
        const last = await call(session, { ':path': '/last', ':method': 'POST' }, 'last');
        const next = session.closed || session.destroyed ? connect(event) : session;
        const echo = await call(next, { ':path': '/echo', ':method': 'POST' }, 'next');
        for (const each of [session, next]) each.close();
        return [last.text, echo.text].join();`;
      expect(resultOf(await service.run(code(run), {}, `${ports.streams}`))).toBe('part,next');
    });
  });

  it('fails and says why when its host does not respond where a rule has answered its calls', async () => {
    await setRules({ host: 'localhost', action: 'answer', after: 1_000 });
    const invocation = await service.run(`exports.run = () => new Promise((resolve) => {
      const session = require('http2').connect('http://localhost:1').on('error', () => {});
      session.request().on('error', () => resolve('failed'));
    })`);
    expect(resultOf(invocation)).toBe('failed');
    expect(invocation.outbound).toMatchObject([
      {
        url: 'http://localhost:1/',
        error: expect.stringMatching(/^localhost:1 did not respond: connect ECONNREFUSED/),
      },
    ]);
  });

  it.for([
    [
      'a list of headers',
      "Object.entries({ ':method': 'GET', ':authority': 'shop.example', ':scheme': 'http', ':path': '/' }).flat()",
      503,
    ],
    ['the method CONNECT', "{ ':method': 'CONNECT', ':authority': 'shop.example:443' }", 405],
  ] as const)('with %s follows a rule', async ([kind, headers, status], { skip }) => {
    const isTooOld = kind.startsWith('a list') && Number.parseInt(process.versions.node, 10) < 24;
    skip(isTooOld, 'Node.js before 24 takes no list of headers');
    await setRules({ host: 'shop.example', action: 'fail', status: 503 });
    const invocation = await service.run(
      `exports.run = (event) => new Promise((resolve, reject) => {
      const session = require('http2').connect('http://127.0.0.1:' + event).on('error', () => {});
      session.request(${headers}).on('error', reject).on('response', (headers) => { session.close(); resolve(headers[':status']); }).resume();
    })`,
      {},
      `${ports.http2}`,
    );
    expect(resultOf(invocation)).toBe(`${status}`);
  });

  it('by TLS, and its record has the address that the session was made for', async () => {
    await setRules({ host: 'shop.example', action: 'block' });
    const invocation = await service.run(`exports.run = () => new Promise((resolve) => {
      const session = require('http2').connect('https://shop.example').on('error', () => {});
      session.request({ ':path': '/orders' }).on('error', () => resolve('failed'));
    })`);
    expect(resultOf(invocation)).toBe('failed');
    expect(invocation.outbound).toMatchObject([{ url: 'https://shop.example/orders', blocked: true }]);
  });

  it.each([
    ['block', { action: 'block' }, /14 UNAVAILABLE.*outbound rule: block for localhost/],
    ['fail with a status', { action: 'fail', status: 503 }, /14 UNAVAILABLE.*503/],
    ['fail with an error', { action: 'fail', error: 'ECONNRESET' }, /14 UNAVAILABLE/],
  ] as const)('by gRPC: %s', async (_title, action, message) => {
    const code = `const grpc = require('@grpc/grpc-js');
      exports.run = (event) => new Promise((resolve) => {
        const client = new grpc.Client('localhost:' + event, grpc.credentials.createInsecure());
        const bytes = (value) => value;
        client.makeUnaryRequest('/shop.Orders/Create', bytes, bytes, Buffer.from('order'), { deadline: Date.now() + 60_000 }, (error) => { client.close(); resolve(error.message); });
      });`;
    await setRules({ host: 'localhost', ...action });
    const invocation = await service.run(code, { env: { NODE_PATH: packages } }, `${ports.http2}`);
    expect(resultOf(invocation)).toMatch(message);
    expect(invocation.outbound).not.toEqual([]);
    expect(received).toEqual([]);
  });
});

it('a call by gRPC has the status of a response without a message where a rule has answered its calls', async () => {
  const code = `const grpc = require('@grpc/grpc-js');
    exports.run = (event) => new Promise((resolve) => {
      const client = new grpc.Client('localhost:' + event, grpc.credentials.createInsecure());
      const bytes = (value) => value;
      client.makeUnaryRequest('/trailers-only', bytes, bytes, Buffer.from('order'), { deadline: Date.now() + 60_000 }, (error) => { client.close(); resolve(error.message); });
    });`;
  await setRules({ host: 'localhost', action: 'answer', after: 1_000 });
  const invocation = await service.run(code, { env: { NODE_PATH: packages } }, `${ports.streams}`);
  expect(resultOf(invocation)).toBe('5 NOT_FOUND: no such order');
});

describe('a connection that carries no HTTP is recorded', () => {
  it('with the bytes that it sent and received', async () => {
    const invocation = await service.run(
      handler(`await talk(tls.connect({ host: 'localhost', port: ${ports.tls}, rejectUnauthorized: false }), 'secret');
        return talk(net.connect(${ports.greeter}, '127.0.0.1'))`),
    );
    expect(resultOf(invocation)).toBe('hello got PING');
    expect(summaryOf(invocation)).toEqual([
      {
        method: 'TLS',
        url: `tls://localhost:${ports.tls}`,
        sentBytes: expect.any(Number),
        receivedBytes: expect.any(Number),
      },
      {
        method: 'TCP',
        url: expect.stringMatching(`^tcp://(127.0.0.1|localhost):${ports.greeter}$`),
        sentBytes: 4,
        receivedBytes: 15,
      },
    ]);
  });

  it('once, when it continues with TLS', async () => {
    const invocation = await service.run(
      handler(`const lower = net.connect(${ports.tls}, '127.0.0.1');
        await new Promise((resolve) => lower.once('connect', resolve));
        return talk(tls.connect({ socket: lower, rejectUnauthorized: false }))`),
    );
    expect(resultOf(invocation)).toBe('hello got PING');
    expect(invocation.outbound).toMatchObject([{ method: 'TLS', url: `tls://127.0.0.1:${ports.tls}` }]);
  });

  it.each(['EHLO me', 'USER ada', 'AUTH PLAIN Zm9v'])('when its first line resembles a request: %s', async (line) => {
    const invocation = await service.run(
      handler(`const socket = tls.connect({ host: 'localhost', port: ${ports.tls}, rejectUnauthorized: false });
        socket.write('${line}\\r\\n');
        let text = '';
        await new Promise((resolve) => socket.on('data', (part) => { text += part; if (text.includes('got')) socket.end(resolve); }))`),
    );
    expect(invocation.outcome).toMatchObject({ ok: true });
    expect(summaryOf(invocation)).toMatchObject([{ method: 'TLS', url: `tls://localhost:${ports.tls}` }]);
  });

  it('when it fails or is blocked', async () => {
    const refused = await service.run(handler("return talk(net.connect(1, '127.0.0.1'))"));
    expect(summaryOf(refused)).toMatchObject([{ url: 'tcp://127.0.0.1:1', error: 'connect ECONNREFUSED 127.0.0.1:1' }]);
    await setRules({ host: '*', action: 'block' });
    const blocked = await service.run(handler(`return talk(net.connect(5432, 'db.example'))`));
    expect(summaryOf(blocked)).toEqual([
      {
        method: 'TCP',
        url: 'tcp://db.example:5432',
        sentBytes: 0,
        receivedBytes: 0,
        error: 'connect ECONNREFUSED db.example:5432 (outbound rule: block for *)',
        blocked: true,
      },
    ]);
  });

  it.each([
    ['tcp', 5432, '.write(Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]))'],
    ['tcp', 6379, ".write('*1\\r\\n$4\\r\\nPING\\r\\n')"],
    ['tcp', 3306, ''],
    ['tls', 993, ''],
    ['tls', 995, ''],
    ['tls', 990, ''],
  ])('with the reason when a rule answers it in HTTP: %s://db.example:%d', async (transport, port, write) => {
    await setRules({ host: '*', action: 'answer' });
    const connect = `${transport === 'tls' ? 'tls' : 'net'}.connect(${port}, 'db.example')`;
    const code = `return new Promise((resolve) => ${connect}.on('error', (error) => resolve(error.message))${write})`;
    const invocation = await service.run(handler(code));
    const error = `connect ECONNREFUSED db.example:${port} (outbound rule: answer with 200 for *; its response is in HTTP, so use block, or fail with an error)`;
    expect(resultOf(invocation)).toBe(error);
    await expect.poll(() => summaryOf(invocation)).toMatchObject([{ url: `${transport}://db.example:${port}`, error }]);
  });

  it('when it fails while a call by undici waits for a connection to the same host', async () => {
    const code = `const sent = require('undici').request('http://127.0.0.1:1/').catch(() => {});
      await new Promise((resolve) => net.connect(1, '127.0.0.1').on('error', () => {}).on('close', resolve)); await sent`;
    const { outcome, outbound } = await service.run(handler(code), { env: { NODE_PATH: packages } });
    expect(outcome).toMatchObject({ ok: true });
    const error = 'connect ECONNREFUSED 127.0.0.1:1';
    expect(outbound.map(({ method }) => method).sort()).toEqual(['GET', 'TCP']);
    expect(outbound).toMatchObject([{ error }, { error }]);
  });

  it('in each invocation that uses it, and keeps no record open', async () => {
    const id = service.lambda(`let socket;
      exports.run = () => new Promise((resolve) => {
        socket ??= require('net').connect(${ports.greeter}, '127.0.0.1').unref();
        const late = () => socket.write('late');
        socket.once('data', () => { resolve('answered'); setTimeout(late, 20); });
        socket.write('A');
      });`);
    for (const count of [1, 2]) {
      const invocation = await service.invoke(id);
      expect([count, summaryOf(invocation)]).toEqual([
        count,
        [expect.objectContaining({ url: `tcp://127.0.0.1:${ports.greeter}`, sentBytes: expect.any(Number) })],
      ]);
    }
  });

  it('whose first HTTP call comes after a while has the record of that call only', async () => {
    const code = `exports.run = async (port) => {
      const session = require('node:http2').connect('http://127.0.0.1:' + port);
      await new Promise((resolve) => setTimeout(resolve, 1_200));
      const stream = session.request({ ':path': '/late' });
      for await (const chunk of stream);
      session.close();
    }`;
    const { outbound } = await service.run(code, {}, `${ports.http2}`);
    expect(outbound).toMatchObject([{ method: 'GET', url: `http://127.0.0.1:${ports.http2}/late`, status: 200 }]);
  });

  it('while it waits for a host that says nothing, until the invocation is ended', async () => {
    const id = service.lambda(
      handler(`net.connect(${ports.http2}, '127.0.0.1');
        // After the timer that ends the wait for a first byte.
        setTimeout(() => console.log('silent'), 1_500);
        return new Promise(() => {})`),
    );
    const invoked = service.invoke(id);
    await expect.poll(() => service.lambdas.log(id, {}).join()).toContain('silent');
    service.remove(id);
    const { outcome, outbound } = await invoked;
    expect(outcome).toMatchObject({ ok: false });
    expect(outbound).toMatchObject([{ method: 'TCP', connection: { port: ports.http2, sentBytes: 0 } }]);
  });

  it('from a worker thread', async () => {
    const source = `require('net').connect(${ports.greeter}, '127.0.0.1').on('data', function () { this.end('bye') })`;
    const invocation = await service.run(
      `exports.run = () => new Promise((resolve) => new (require('worker_threads').Worker)(${JSON.stringify(source)}, { eval: true }).on('exit', resolve))`,
    );
    await expect.poll(() => summaryOf(invocation)).toMatchObject([{ url: `tcp://127.0.0.1:${ports.greeter}` }]);
  });
});

describe('a look-up of DNS records other than addresses', () => {
  const resolver = `const resolver = new (require('dns').promises.Resolver)(); resolver.setServers([process.env.DNS]);`;
  const code = handler(
    `${resolver} return resolver.resolve(event, 'MX').then((records) => records.length, (error) => error.code + ': ' + error.message)`,
  );
  const properties = () => ({ env: { DNS: `127.0.0.1:${ports.dns}` } });

  it('is recorded, and fails where a rule blocks its name', async () => {
    const id = service.lambda(code, properties());
    const call = {
      method: 'DNS',
      url: 'dns://shop.example?type=MX',
      connection: { host: 'shop.example', transport: 'dns' },
    };
    const passed = await service.invoke(id, '_smtp._tcp.Shop.Example');
    expect(resultOf(passed)).toBe('0');
    expect(passed.outbound).toEqual([
      expect.objectContaining({ ...call, connection: expect.objectContaining(call.connection), leftMachine: true }),
    ]);
    expect(passed.outbound[0]).not.toHaveProperty('error');
    await setRules({ host: '*.example', action: 'block' });
    const blocked = await service.invoke(id, 'shop.example');
    expect(resultOf(blocked)).toBe(
      'ECONNREFUSED: queryMx ECONNREFUSED shop.example (outbound rule: block for *.example)',
    );
    expect(blocked.outbound).toMatchObject([{ ...call, blocked: true, rules: [{ text: 'block for *.example' }] }]);
    expect(blocked.outbound[0]).not.toHaveProperty('leftMachine');
  });

  it('by a function with a callback fails where the policy blocks hosts outside this machine', async () => {
    const run = handler(
      `return new Promise((resolve) => require('dns').resolveTxt(event, (error) => resolve(error.message)))`,
    );
    const { outbound, ...invocation } = await strictService.run(run, {}, 'shop.example');
    expect(resultOf({ outbound, ...invocation })).toMatch(
      /^queryTxt ECONNREFUSED shop.example .the setting outbound.default/,
    );
    expect(outbound).toMatchObject([{ url: 'dns://shop.example?type=TXT', blocked: true }]);
  });

  it('follows no rule that only HTTP can follow, but the next one or the policy', async () => {
    const id = service.lambda(code, properties());
    await setRules(
      { host: '*.example', action: 'delay', delayMs: 1 },
      { host: '*.example', action: 'fail', status: 503 },
      { host: '*.example', action: 'catch' },
      { host: '*.example', action: 'answer' },
      { host: 'blocked.example', action: 'block' },
    );
    const { outbound } = await service.invoke(id, 'shop.example');
    expect(outbound).toMatchObject([{ method: 'DNS', leftMachine: true }]);
    expect(outbound[0]).not.toHaveProperty('rules');
    expect((await service.invoke(id, 'blocked.example')).outbound).toMatchObject([
      { blocked: true, rules: [{ text: 'block for blocked.example' }] },
    ]);
    const strict = await strictService.run(code, properties(), 'shop.example');
    expect(strict.outbound).toMatchObject([{ blocked: true }]);
  });

  it('follows a rule for its host if its name ends with a dot', async () => {
    await setRules({ host: '*.example', action: 'block' });
    const { outbound } = await service.run(code, properties(), 'shop.example.');
    expect(outbound).toMatchObject([{ url: 'dns://shop.example?type=MX', blocked: true }]);
  });

  it('that cannot be sent has not left the machine', async () => {
    const { outbound } = await service.run(
      handler(`return require('dns').promises.reverse(event).then(String, String)`),
      {},
      'x',
    );
    expect(outbound).toMatchObject([{ method: 'DNS', error: 'getHostByAddr could not be sent for x' }]);
    expect(outbound[0]).not.toHaveProperty('leftMachine');
  });

  it('of an address has that address in its record, whatever name has led to it', async () => {
    const run = handler(`${resolver} await resolver.resolve4('shop.example');
      return resolver.reverse('127.0.0.1').then(String, String)`);
    const { outbound } = await service.run(run, properties());
    expect(outbound).toMatchObject([{ url: 'dns://127.0.0.1?type=PTR', connection: { host: '127.0.0.1' } }]);
  });

  it('that a name server cannot answer has the reason in its record', async () => {
    const run = code
      .replace('[process.env.DNS]', "['127.0.0.1:1']")
      .replace('Resolver)()', 'Resolver)({ timeout: 100, tries: 1 })');
    const { outbound } = await service.run(run, {}, 'shop.example');
    expect(outbound).toMatchObject([{ method: 'DNS', error: expect.stringMatching(/^queryMx E\w+ shop.example$/) }]);
  });
});

describe('datagrams', () => {
  const send = (calls: string): string =>
    handler(`const socket = dgram.createSocket('udp4'); const errors = [];
      const send = (...args) => new Promise((resolve) => socket.send(...args, (error) => { if (error) errors.push(error.message); resolve(); }));
      ${calls} socket.close(); return errors`);

  it('are recorded once for each destination', async () => {
    const invocation = await service.run(
      send(`await send('ab', ${ports.datagrams}, 'localhost'); await send(Buffer.from('xcdex'), 1, 3, ${ports.datagrams}, 'localhost');
        await send(['f', Buffer.from('g')], ${ports.datagrams}, '127.0.0.2');
        await new Promise((resolve) => socket.connect(${ports.datagrams}, '127.0.0.3', resolve)); await send('hi');`),
    );
    expect(resultOf(invocation)).toBe('[]');
    await expect.poll(() => received).toEqual(expect.arrayContaining(['ab', 'cde']));
    expect(summaryOf(invocation)).toEqual([
      { method: 'UDP', url: `udp://localhost:${ports.datagrams}`, sentBytes: 5, receivedBytes: 0 },
      { method: 'UDP', url: `udp://127.0.0.2:${ports.datagrams}`, sentBytes: 2, receivedBytes: 0 },
      { method: 'UDP', url: `udp://127.0.0.3:${ports.datagrams}`, sentBytes: 2, receivedBytes: 0 },
    ]);
  });

  it.each([
    [{ action: 'block' }, 'connect ECONNREFUSED localhost:PORT (outbound rule: block for *)'],
    [
      { action: 'fail', error: 'ETIMEDOUT' },
      'connect ETIMEDOUT localhost:PORT (outbound rule: fail with ETIMEDOUT for *)',
    ],
  ] as const)('that meet the rule %j are not sent', async (fields, message) => {
    await setRules({ host: '*', ...fields });
    const error = message.replace('PORT', `${ports.datagrams}`);
    const invocation = await service.run(
      send(`await send('ab', ${ports.datagrams}, 'localhost'); socket.send('quiet', ${ports.datagrams}, 'localhost');`),
    );
    expect(JSON.parse(resultOf(invocation))).toEqual([error]);
    expect(summaryOf(invocation)).toMatchObject([{ url: `udp://localhost:${ports.datagrams}`, sentBytes: 0, error }]);
    expect(received).toEqual([]);
  });
});

it("no rule and no policy applies to the platform's own addresses", async () => {
  await setRules({ host: '*', action: 'block' });
  const code = handler(`return talk(net.connect(${ports.platform}, '127.0.0.1'))`);
  expect(resultOf(await strictService.run(code))).toBe('hello got PING');
});

describe('without a rule, the policy decides on a host outside this machine (D-217)', () => {
  const connect = (host: string, port: number | string = 'Number(event)') =>
    handler(`return talk(net.connect({ host: '${host}', port: ${port}, ${LOOKUP_TO_LOOPBACK} }))`);

  it('block: the error says which rule allows the call', async () => {
    const id = strictService.lambda(connect('api.example'));
    const blocked = await strictService.invoke(id, `${ports.greeter}`);
    const error = `connect ECONNREFUSED api.example:${ports.greeter} (the setting outbound.default is 'block'; the outbound rule { "host": "api.example", "action": "pass" } allows the call)`;
    expect(resultOf(blocked)).toBe(`error ${error}`);
    expect(summaryOf(blocked)).toMatchObject([{ url: `tcp://api.example:${ports.greeter}`, error, blocked: true }]);
    await setRules({ host: 'api.example', action: 'pass' });
    const passed = await strictService.invoke(id, `${ports.greeter}`);
    expect(resultOf(passed)).toBe('hello got PING');
    expect(summaryOf(passed)).toMatchObject([{ leftMachine: true }]);
  });

  it('block: also for calls by HTTP', async () => {
    const code = `exports.run = () => fetch('http://api.example/x').catch((error) => error.cause.message)`;
    const invocation = await strictService.run(code);
    expect(resultOf(invocation)).toContain('{ "host": "api.example", "action": "pass" }');
    expect(summaryOf(invocation)).toMatchObject([{ url: 'http://api.example/x', blocked: true }]);
    expect(invocation.outbound).toHaveLength(1);
  });

  it.each(['localhost', '127.0.0.1', '127.1.2.3', 'shop.localhost'])('block: not for %s', async (host) => {
    const invocation = await strictService.run(connect(host), {}, `${ports.greeter}`);
    expect(resultOf(invocation)).toMatch(/^hello|ECONNREFUSED 127.1.2.3:\d+$/);
    expect(invocation.outbound).toEqual([expect.not.objectContaining({ blocked: true })]);
    expect(invocation.outbound).toEqual([expect.not.objectContaining({ leftMachine: true })]);
  });

  it('pass: a call that leaves the machine is marked', async () => {
    const connected = await service.run(connect('api.example'), {}, `${ports.greeter}`);
    expect(summaryOf(connected)).toMatchObject([{ url: `tcp://api.example:${ports.greeter}`, leftMachine: true }]);
    const unreachable = await service.run(connect('api.example', 1));
    expect(unreachable.outbound).toEqual([expect.not.objectContaining({ leftMachine: true })]);
    const answered = await service.run(
      `const http = require('http'); exports.run = (event) => new Promise((resolve) => http.get({ host: 'api.example', port: event, ${LOOKUP_TO_LOOPBACK} }).on('error', (error) => resolve(error.message)).on('response', resolve))`,
      {},
      `${ports.greeter}`,
    );
    expect(answered.outbound).toMatchObject([{ method: 'GET', leftMachine: true }]);
  });

  it.each(['metadata.google.internal', '169.254.169.254', '169.254.170.2', '[fd00:ec2::254]', '100.100.100.200'])(
    'the metadata service %s is blocked unless a rule names it',
    async (host) => {
      const plainHost = host.replace(/[[\]]/g, '');
      const id = service.lambda(connect(plainHost));
      await setRules({ host: '*', action: 'pass' });
      expect(resultOf(await service.invoke(id, `${ports.greeter}`))).toContain(
        `(metadata services of clouds are blocked; the outbound rule { "host": "${host}", "action": "pass" } allows the call)`,
      );
      await setRules({ host, action: 'fail', error: 'ETIMEDOUT' });
      expect(resultOf(await service.invoke(id, `${ports.greeter}`))).toContain('connect ETIMEDOUT');
    },
  );
});

it('a program that a lambda starts is named in the log where everything is to be blocked', async () => {
  const code = `const { execFileSync, execSync } = require('child_process');
    exports.run = () => { execFileSync('echo', ['a']); execFileSync('echo', ['b']); execSync('node --version'); }`;
  const linesOf = ({ logs }: Invocation) => logs.map(({ text }) => text);
  expect(linesOf(await service.run(code))).toEqual([]);
  const line = expect.stringContaining('unless it uses the variable HTTP_PROXY: echo a');
  expect(linesOf(await strictService.run(code))).toEqual([line]);
  await setRules({ host: '*', action: 'block' });
  expect(linesOf(await service.run(code))).toEqual([line]);
});
