import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Outcome } from '../model/invocation.ts';
import { TestGateway, text } from '../testing/gateway.ts';
import { defaultLimits, type GatewayLimits } from './gateway-limits.ts';

const HOST = 'Host: localhost\r\n';

let gateway: TestGateway;
beforeEach(async () => {
  gateway = await startGateway({ drainTimeoutMs: 60_000 });
});
afterEach(async () => {
  expect(gateway.faults).toEqual([]);
  // The gateway still works after every test.
  expect(await gateway.send('POST', '/web/echo', { body: 'still here' })).toMatchObject({
    status: 200,
    body: 'still here',
  });
  await gateway.stop();
});

/**
 * A gateway whose `/web/echo` returns the request. Only tests that expect a disconnect use a short timeout: on a busy machine it would
 * disconnect anyone.
 */
async function startGateway(limits: Partial<GatewayLimits>): Promise<TestGateway> {
  const gateway = new TestGateway({ limits: { requestBodyBytes: 1000, ...limits } });
  await gateway.start();
  const echo = gateway.lambda(({ body }) => text(Buffer.from(body).toString()));
  gateway.endpoint(gateway.api('web'), echo, { resource: '/echo' });
  return gateway;
}

/** Starts a gateway with short limits for a test that stops it itself. */
async function startImpatientGateway(limits: Partial<GatewayLimits>): Promise<TestGateway> {
  const gateway = await startGateway(limits);
  onTestFinished(() => gateway.stop());
  return gateway;
}

/** Status, headers and JSON of each answer in a stream of them. */
function answersIn(stream: string): { status: number; head: string; json: { code: number; message: string } }[] {
  return stream
    .split(/(?=HTTP\/1\.1 \d)/)
    .filter(Boolean)
    .map((answer) => {
      const [head = '', body = ''] = answer.split('\r\n\r\n', 2);
      const isJson = /content-type: application\/json/i.test(head);
      return {
        status: Number(head.split(' ')[1]),
        head: head.toLowerCase(),
        json: isJson ? JSON.parse(body) : undefined,
      };
    });
}

async function open({ port } = gateway): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.on('error', () => {}); // being cut off is what some of these clients are about
  return socket;
}

/** The gateway's end of the next connection. */
function nextServed(): Promise<Socket> {
  return new Promise((resolve) => {
    const served = (message: unknown) => {
      unsubscribe('net.server.socket', served);
      resolve((message as { socket: Socket }).socket); // the data that Node.js adds
    };
    subscribe('net.server.socket', served);
  });
}

describe('bytes that are no request', () => {
  it.each([
    ['noise', '\x16\x03\x01\x02\x00\x01\r\n\r\n', 400],
    ['no version, hence no Host', 'GET /\r\n\r\n', 403],
    ['a space in the target', `GET /a b HTTP/1.1\r\n${HOST}\r\n`, 400],
    ['a NUL in the target', `GET /a\0b HTTP/1.1\r\n${HOST}\r\n`, 400],
    ['a header without a colon', `GET / HTTP/1.1\r\n${HOST}bad\r\n\r\n`, 400],
    ['a header with a space', `GET / HTTP/1.1\r\n${HOST}Bad Name: x\r\n\r\n`, 400],
    ['a bad length', `POST /web/echo HTTP/1.1\r\n${HOST}Content-Length: -1\r\n\r\n`, 400],
    ['two lengths', `POST /web/echo HTTP/1.1\r\n${HOST}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`, 400],
    [
      'length and chunks',
      `POST /web/echo HTTP/1.1\r\n${HOST}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
    ],
    ['a bad chunk', `POST /web/echo HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\nzz\r\n`, 400],
    ['no Host', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    ['two Hosts', `GET / HTTP/1.1\r\n${HOST}hOST: evil.test\r\nConnection: close\r\n\r\n`, 400],
    ['an empty Host', 'GET / HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n', 403],
    ['no Host in HTTP/1.0', 'GET / HTTP/1.0\r\n\r\n', 403],
    ['a foreign absolute target', `GET http://evil.test/ HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`, 403],
    ['an asterisk', `OPTIONS * HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`, 400],
    ['dot segments', `GET /web/../x HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`, 400],
    ['a header flood', `GET / HTTP/1.1\r\n${HOST}${'X-Flood: yes\r\n'.repeat(500_000)}\r\n`, 431],
    ['a huge header', `GET / HTTP/1.1\r\n${HOST}X-Huge: ${'x'.repeat(5_000_000)}\r\n\r\n`, 431],
    ['a long target', `GET /${'a'.repeat(9_000)} HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`, 414],
    ['a huge target', `GET /${'a'.repeat(200_000)} HTTP/1.1\r\n${HOST}\r\n`, 414],
    [
      'an unknown expectation',
      `POST /web/echo HTTP/1.1\r\n${HOST}Expect: tea\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
      417,
    ],
    ['CONNECT', 'CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test:443\r\n\r\n', 501],
    ['a WebSocket', `GET /web/echo HTTP/1.1\r\n${HOST}Connection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n`, 501],
  ])('%s: gets a JSON error with the headers of every response', async (_what, bytes, status) => {
    const [answer, ...more] = answersIn(await gateway.sendRaw(bytes));
    expect(answer).toMatchObject({ status, json: { code: status } });
    for (const name of [
      'x-terrarium-version: 1.2.3',
      'x-terrarium-proxy-latency: ',
      'x-terrarium-upstream-latency: 0',
      'server-timing: proxy',
    ]) {
      expect(answer?.head).toContain(name);
    }
    expect(more).toEqual([]);
    expect(gateway.calls).toEqual([]);
  });

  it('after a valid request do not affect its response', async () => {
    const good = `POST /web/echo HTTP/1.1\r\n${HOST}Content-Length: 2\r\n\r\nhi`;
    const answers = answersIn(await gateway.sendRaw(`${good}${good}NONSENSE\r\n\r\n`));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 400]);
  });
});

describe('requests that are unusual', () => {
  it('are served: an absolute target, HTTP/1.0', async () => {
    const absolute = `GET http://localhost/web/echo HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n`;
    expect(answersIn(await gateway.sendRaw(absolute)).map(({ status }) => status)).toEqual([200]);
    expect(
      answersIn(await gateway.sendRaw(`GET /web/echo HTTP/1.0\r\n${HOST}\r\n`)).map(({ status }) => status),
    ).toEqual([200]);
  });

  it.each([
    ['POST', 'HTTP/2', { Connection: 'Upgrade, HTTP2-Settings', Upgrade: 'h2c', 'HTTP2-Settings': 'x' }],
    ['POST', 'a WebSocket', { Connection: 'Upgrade', Upgrade: 'websocket' }],
    ['GET', 'a WebSocket', { Connection: 'Upgrade', Upgrade: 'websocket', 'Content-Length': 2 }],
  ])('are served though a %s with a body asks for %s, and so is the next one on their connection', async (...row) => {
    const [method, , upgrade] = row;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (const headers of [upgrade, { 'Content-Length': 2 }]) {
      const outgoing = request({
        port: gateway.port,
        host: '127.0.0.1',
        method,
        path: '/web/echo',
        agent,
        headers,
      });
      outgoing.end('hi');
      const [response] = await once(outgoing, 'response');
      expect(response.statusCode).toBe(200);
      expect((await response.toArray()).join('')).toBe('hi');
    }
    agent.destroy();
  });

  it('are answered in order when they are pipelined', async () => {
    const echoRequest = (body: string) =>
      `POST /web/echo HTTP/1.1\r\n${HOST}Content-Length: ${body.length}\r\n\r\n${body}`;
    const last = `GET /none HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`;
    const got = await gateway.sendRaw(`${echoRequest('first')}${echoRequest('second')}${last}`);
    expect(answersIn(got).map(({ status }) => status)).toEqual([200, 200, 404]);
    expect(got.indexOf('first')).toBeLessThan(got.indexOf('second'));
  });

  it('have query and headers that are hostile', async () => {
    await gateway.send('GET', '/web/echo?__proto__=1&%=%zz', {
      headers: { __proto__: 'x', constructor: 'y' },
    });
    expect(JSON.stringify(gateway.calls[0]?.context.params)).toBe('{"__proto__":["1"],"%":["%zz"]}');
    expect(gateway.calls[0]?.context.headers.constructor).toBe('y');
  });
});

describe('a request body', () => {
  it.each([1000, 1001])('of %i bytes, with a length or in chunks, against a limit of 1000', async (size) => {
    const status = size > 1000 ? 413 : 200;
    expect((await gateway.send('POST', '/web/echo', { body: 'x'.repeat(size) })).status).toBe(status);
    const headers = { 'Transfer-Encoding': 'chunked' };
    expect((await gateway.send('POST', '/web/echo', { body: 'x'.repeat(size), headers })).status).toBe(status);
    expect(gateway.calls).toHaveLength(status === 200 ? 2 : 0);
  });

  it('that is far too large does not keep its client from the answer, nor the connection from the next request', async () => {
    const chunk = `1000\r\n${'x'.repeat(4096)}\r\n`;
    const large = `POST /web/echo HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(500)}0\r\n\r\n`;
    const next = `GET /web/echo HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`;
    const answers = answersIn(await gateway.sendRaw(large + next));
    expect(answers.map(({ status }) => status)).toEqual([413, 200]);
  });

  it('is requested with 100 when the client waits for it, and not when it is not needed', async () => {
    const ask = (path: string, length: number) =>
      new Promise<(number | undefined)[]>((resolve, reject) => {
        const statuses: (number | undefined)[] = [];
        const headers = { Expect: '100-continue', 'Content-Length': String(length) };
        const outgoing = request({
          port: gateway.port,
          host: '127.0.0.1',
          method: 'POST',
          path,
          headers,
          agent: false,
        });
        outgoing.on('continue', () => {
          statuses.push(100);
          outgoing.end('x'.repeat(length));
        });
        outgoing.on('response', (response) => {
          statuses.push(response.statusCode);
          response.resume();
          response.on('end', () => resolve(statuses));
          outgoing.destroy();
        });
        outgoing.on('error', (error) => (statuses.length > 0 ? resolve(statuses) : reject(error)));
        outgoing.flushHeaders();
      });
    expect(await ask('/web/echo', 5)).toEqual([100, 200]);
    expect(await ask('/web/echo', 5000)).toEqual([413]);
    expect(await ask('/none', 5)).toEqual([404]);
  });
});

describe('a client', () => {
  it.each([
    ['sends half a head', `GET / HTTP/1.1\r\n${HOST}`, { headersTimeoutMs: 100 }],
    [
      'sends half a body',
      `POST /web/echo HTTP/1.1\r\n${HOST}Content-Length: 10\r\n\r\nhalf`,
      { headersTimeoutMs: 200, requestTimeoutMs: 200 },
    ],
  ])('that %s and waits is cut off with 408, and so is the next one', async (_what, bytes, limits) => {
    const gateway = await startImpatientGateway(limits);
    for (let client = 0; client < 2; client++) {
      const [answer] = answersIn(await gateway.sendRaw(bytes));
      expect(answer).toMatchObject({ status: 408, json: { code: 408 } });
    }
    expect(gateway.calls).toEqual([]);
    expect(gateway.faults).toEqual([]);
  });

  it('that hangs up in the middle of its body calls no lambda', async () => {
    const socket = await open();
    const over = gateway.nextExchange();
    socket.write(`POST /web/echo HTTP/1.1\r\n${HOST}Content-Length: 10\r\n\r\nhalf`, () => socket.destroy());
    expect(await over).toMatchObject({ status: undefined, isComplete: false });
    expect(gateway.calls).toEqual([]);
  });

  it('that hangs up while its lambda runs leaves its request with the invocation', async () => {
    let finish: (outcome: Outcome) => void = () => {};
    const outcome = new Promise<Outcome>((resolve) => {
      finish = resolve;
    });
    const socket = await open();
    const over = gateway.nextExchange();
    const lambda = gateway.lambda(() => {
      socket.destroy();
      return outcome;
    });
    gateway.endpoint(gateway.api('slow'), lambda, { resource: '/' });
    socket.write(`GET /slow HTTP/1.1\r\n${HOST}\r\n`);
    const exchange = await over;
    const executionId = gateway.calls.at(-1)?.executionId;
    expect(executionId).toBeTypeOf('string');
    expect(exchange).toMatchObject({ status: undefined, isComplete: false, executionId });
    finish(text('too late'));
  });

  it('that hangs up while pipelined requests wait for their turn leaves no trace', async () => {
    let finish: (outcome: Outcome) => void = () => {};
    const outcome = new Promise<Outcome>((resolve) => {
      finish = resolve;
    });
    const socket = await open();
    const slow = gateway.lambda(() => {
      socket.destroy();
      return outcome;
    });
    gateway.endpoint(gateway.api('slow'), slow, { resource: '/' });
    const over = gateway.nextExchange();
    socket.write(`GET /slow HTTP/1.1\r\n${HOST}\r\n`.repeat(3));
    await over;
    finish(text('too late'));
    await gateway.stop(); // waits for what is still open
    expect(gateway.calls).toHaveLength(1);
    expect(gateway.traffic).toMatchObject([{ isComplete: false }]);
    await gateway.start();
  });

  it('that hangs up in the middle of a large answer leaves no trace', async () => {
    gateway.endpoint(
      gateway.api('large'),
      gateway.lambda(() => text('x'.repeat(20_000_000))),
      { resource: '/' },
    );
    const socket = await open();
    socket.once('data', () => socket.destroy());
    const over = gateway.nextExchange();
    socket.write(`GET /large HTTP/1.1\r\n${HOST}\r\n`);
    expect(await over).toMatchObject({ status: 200, isComplete: false });
  });

  it('that takes nothing of an answer is cut off', async () => {
    const gateway = await startImpatientGateway({ answerStallMs: 100 });
    const large = gateway.lambda(() => text('x'.repeat(20_000_000)));
    gateway.endpoint(gateway.api('large'), large, { resource: '/' });
    for (let client = 0; client < 2; client++) {
      const deaf = await open(gateway);
      deaf.pause();
      const over = gateway.nextExchange();
      deaf.write(`GET /large HTTP/1.1\r\n${HOST}\r\n`);
      expect(await over).toMatchObject({ status: 200, isComplete: false });
    }
    expect(gateway.faults).toEqual([]);
  });

  it('that has taken its answer waits for the next as long as that takes', async () => {
    let finish: (outcome: Outcome) => void = () => {};
    const outcome = new Promise<Outcome>((resolve) => {
      finish = resolve;
    });
    const large = gateway.lambda(() => text('x'.repeat(20_000_000)));
    gateway.endpoint(gateway.api('large'), large, { resource: '/' });
    const late = gateway.lambda(() => outcome);
    gateway.endpoint(gateway.api('late'), late, { resource: '/' });
    const served = nextServed();
    const socket = await open();
    const connection = await served;
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    const taking = once(socket, 'data');
    const last = `GET /late HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`;
    socket.write(`GET /large HTTP/1.1\r\n${HOST}\r\n${last}`);
    await taking;
    expect(connection.timeout).toBe(defaultLimits.answerStallMs);
    // No time runs once it has all of it.
    await expect.poll(() => connection.timeout).toBe(0);
    finish(text('late'));
    await once(socket, 'end');
    const got = Buffer.concat(chunks).toString('latin1');
    expect(answersIn(got).map(({ status }) => status)).toEqual([200, 200]);
    expect(got.slice(-4)).toBe('late');
  });
});
