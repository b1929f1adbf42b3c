import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { text } from '../testing/gateway.ts';
import { type InstanceServer, TestShop } from '../testing/test-shop.ts';

const started: TestShop[] = [];
async function shopWith(options: ConstructorParameters<typeof TestShop>[0] = {}): Promise<TestShop> {
  const shop = await new TestShop(options).start();
  started.push(shop);
  return shop;
}
afterEach(async () => {
  for (const shop of started.splice(0)) {
    await shop.stop();
    expect(shop.gateway.faults).toEqual([]);
  }
});

/** An instance that echoes every message, and returns the handshake on request. */
async function echo(shop: TestShop): Promise<{ instance: InstanceServer; sockets: WebSocketServer }> {
  const server = createServer();
  const sockets = new WebSocketServer({
    server,
    maxPayload: 64 * 1024 * 1024,
    handleProtocols: (offered) => (offered.has('chat.v2') ? 'chat.v2' : false),
  });
  sockets.on('connection', (socket, { url, headers }) => {
    socket.on('error', () => {});
    socket.on('message', (data, isBinary) => {
      if (!isBinary && String(data) === 'handshake') socket.send(JSON.stringify({ url, headers }));
      else socket.send(data, { binary: isBinary });
    });
  });
  return { instance: await shop.instance((_request, response) => response.end('plain'), server), sockets };
}

/** Opened at the shop; a refusal rejects with "Unexpected server response: <status>". */
async function open(shop: TestShop, path = '/web/shop', protocols: string[] = [], headers = {}): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${shop.gateway.port}${path}`, protocols, { headers });
  await once(socket, 'open');
  return socket;
}

async function closed(socket: WebSocket): Promise<{ code: number; reason: string }> {
  const [code, reason] = await once(socket, 'close');
  return { code, reason: String(reason) };
}

async function ask(socket: WebSocket, message: string | Buffer): Promise<Buffer | string> {
  socket.send(message);
  const [data, isBinary] = await once(socket, 'message');
  return isBinary ? data : String(data);
}

/** A masked close frame without a code, and what a server answers. */
const EMPTY_CLOSE = '\x88\x80\x01\x02\x03\x04';
const CLOSE_ANSWER = '\x88\x00';

/** Longer than a test may take. */
const HOUR_MS = 3_600_000;

/** The bytes of a handshake. */
function handshake(path = '/web/shop', lines: string[] = []): string {
  const ownHeaders = ['Host: localhost', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
  const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
  return `GET ${path} HTTP/1.1\r\n${[...ownHeaders, key, ...lines].join('\r\n')}\r\n\r\n`;
}

describe('a WebSocket', () => {
  it('reaches the container with path, query, subprotocol and headers', async () => {
    const shop = await shopWith();
    await echo(shop);
    const headers = { Origin: 'http://page.test', Cookie: 'a=1' };
    const socket = await open(shop, '/web/shop/live/a%2Fb?room=1&room=2', ['chat.v1', 'chat.v2'], headers);
    expect(socket.protocol).toBe('chat.v2');
    expect(JSON.parse(String(await ask(socket, 'handshake')))).toMatchObject({
      url: '/live/a%2Fb?room=1&room=2',
      headers: {
        host: `shop.${shop.shop.parent}.svc.cluster.local`,
        origin: 'http://page.test',
        cookie: 'a=1',
        'x-forwarded-for': '127.0.0.1',
        'x-forwarded-prefix': '/web/shop',
      },
    });
    socket.close();
    await closed(socket);
  });

  it('carries text and binary messages of any size both ways, compressed or not', async () => {
    const shop = await shopWith();
    await echo(shop);
    const socket = await open(shop);
    for (const size of [0, 1, 125, 126, 65_535, 65_536, 5_000_000]) {
      const bytes = Buffer.alloc(size, 'abc');
      expect(bytes.equals((await ask(socket, bytes)) as Buffer)).toBe(true); // binary comes back as binary
    }
    expect(await ask(socket, 'grüße')).toBe('grüße');
    socket.close(4321, 'enough');
    expect(await closed(socket)).toEqual({ code: 4321, reason: 'enough' });
  });

  it('has the headers of every answer in its handshake', async () => {
    const shop = await shopWith();
    await echo(shop);
    const socket = new WebSocket(`ws://127.0.0.1:${shop.gateway.port}/web/shop`);
    const [[answer]] = await Promise.all([once(socket, 'upgrade'), once(socket, 'open')]);
    expect(answer.statusCode).toBe(101);
    expect(answer.headers).toMatchObject({ 'x-terrarium-version': '1.2.3', 'access-control-allow-origin': '*' });
    socket.terminate();
  });

  it('is recorded when it is over, with its duration', async () => {
    const shop = await shopWith();
    await echo(shop);
    const socket = await open(shop);
    await ask(socket, 'hello');
    expect(shop.gateway.traffic).toEqual([]);
    const over = shop.gateway.nextExchange();
    socket.close();
    expect(await over).toMatchObject({ method: 'GET', target: '/web/shop', status: 101, isComplete: true });
    expect(shop.gateway.traffic[0]?.durationMs).toBeGreaterThan(0);
  });

  it('can send before the handshake is complete', async () => {
    const shop = await shopWith();
    await echo(shop);
    const got = await shop.gateway.sendRaw(`${handshake()}${EMPTY_CLOSE}`);
    expect(got).toMatch(/^HTTP\/1\.1 101 /);
    expect(got.slice(got.indexOf('\r\n\r\n') + 4)).toBe(CLOSE_ANSWER);
  });

  it('waits its turn behind a request on the same connection', async () => {
    const shop = await shopWith();
    await echo(shop);
    const bytes = 'GET /web/shop HTTP/1.1\r\nHost: localhost\r\n\r\n';
    const got = await shop.gateway.sendRaw(`${bytes}${handshake()}${EMPTY_CLOSE}`);
    expect(got).toMatch(/^HTTP\/1\.1 200 .*plain.*HTTP\/1\.1 101 /s);
    expect(got.endsWith(`\r\n\r\n${CLOSE_ANSWER}`)).toBe(true);
  });

  it('is not read faster than the client reads', async () => {
    const shop = await shopWith();
    const { sockets } = await echo(shop);
    const senders: WebSocket[] = [];
    sockets.on('connection', (socket) => {
      senders.push(socket);
      for (let count = 0; count < 64; count++) socket.send(Buffer.alloc(1024 * 1024));
    });
    const receiveAll = async (socket: WebSocket) => {
      let received = 0;
      socket.on('message', () => received++);
      await expect.poll(() => received).toBe(64);
    };
    const slow = await open(shop);
    slow.pause();
    const fast = await open(shop);
    await receiveAll(fast);
    // While all of this went through the gateway, most of what is for the other client could have.
    expect(senders[0]?.bufferedAmount).toBeGreaterThan(16 * 1024 * 1024);
    slow.resume();
    await receiveAll(slow);
    for (const socket of [slow, fast]) socket.terminate();
  });
});

describe('a WebSocket that ends', () => {
  it('because its instance dies breaks off for the client', async () => {
    const shop = await shopWith();
    const { instance } = await echo(shop);
    const socket = await open(shop);
    await ask(socket, 'hello');
    const end = closed(socket);
    socket.on('error', () => {});
    await instance.kill();
    expect((await end).code).toBe(1006);
  });

  it('because its client vanishes breaks off for the instance', async () => {
    const shop = await shopWith();
    const { sockets } = await echo(shop);
    const arrived = once(sockets, 'connection');
    const socket = await open(shop);
    const [served] = await arrived;
    const end = closed(served);
    socket.terminate();
    expect((await end).code).toBe(1006);
  });

  it('because its instance is drained breaks off at both ends', async () => {
    const shop = await shopWith();
    const { sockets } = await echo(shop);
    const arrived = once(sockets, 'connection');
    const socket = await open(shop);
    const [served] = await arrived;
    const ends = [closed(socket), closed(served)];
    await shop.proxy.drain('i1', HOUR_MS);
    expect(await Promise.all(ends)).toMatchObject([{ code: 1006 }, { code: 1006 }]);
  });

  it('because the gateway stops breaks off, and does not delay the stop', async () => {
    const shop = await shopWith({ gateway: { limits: { drainTimeoutMs: 60_000 } } });
    await echo(shop);
    const socket = await open(shop);
    const end = closed(socket);
    await shop.gateway.stop();
    expect((await end).code).toBe(1006);
    expect(shop.gateway.traffic).toMatchObject([{ status: 101 }]);
  });

  it('because the gateway stops does not hold it up either when the client is deaf', async () => {
    const shop = await shopWith({ gateway: { limits: { drainTimeoutMs: 60_000 } } });
    await echo(shop);
    const socket = await open(shop);
    socket.pause();
    const raw = rawOf(socket);
    raw.pause();
    const end = once(raw, 'close');
    await shop.gateway.stop();
    raw.on('error', () => {});
    raw.resume();
    await end;
  });
});

/** The connection below a WebSocket of the library. */
function rawOf(socket: WebSocket): Socket {
  // It has no public name; tests need it to see bytes arrive.
  return (socket as unknown as { _socket: Socket })._socket;
}

describe('a WebSocket that cannot be', () => {
  it('is refused as the container refuses it', async () => {
    const shop = await shopWith();
    const server = createServer();
    server.on('upgrade', (_request, socket) => {
      socket.end('HTTP/1.1 403 Forbidden\r\nX-Why: not you\r\nContent-Length: 2\r\n\r\nno');
    });
    await shop.instance(() => {}, server);
    const over = shop.gateway.nextExchange();
    const got = await shop.gateway.sendRaw(handshake());
    expect(got).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n.*X-Why: not you.*Connection: close.*\r\n\r\nno$/s);
    expect(await over).toMatchObject({ status: 403, isComplete: true });
  });

  it.each([
    ['its instance is drained', (shop: TestShop) => shop.proxy.drain('i1', HOUR_MS)],
    ['the gateway stops', (shop: TestShop) => shop.gateway.stop()],
  ])('is refused to the end of the response while %s', async (_event, begin) => {
    const shop = await shopWith({ gateway: { limits: { drainTimeoutMs: 60_000 } } });
    const server = createServer();
    const upgraded = once(server, 'upgrade');
    await shop.instance(() => {}, server);
    const got = shop.gateway.sendRaw(handshake());
    const [, socket] = await upgraded;
    const end = begin(shop);
    socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno');
    expect(await got).toMatch(/^HTTP\/1\.1 403 .*\r\n\r\nno$/s);
    await end;
  });

  it('is refused as a plain answer by a container that knows no WebSockets', async () => {
    const shop = await shopWith();
    await shop.instance((_request, response) => response.end('just a page'));
    expect(await shop.gateway.sendRaw(handshake())).toMatch(/^HTTP\/1\.1 200 OK\r\n.*just a page/s);
  });

  it('is refused with 503 when nothing runs, 502 when nothing listens, 504 when there is no response', async () => {
    const shop = await shopWith();
    expect(await shop.gateway.sendRaw(handshake())).toMatch(/^HTTP\/1\.1 503 .*"code":503/s);
    const stoppedInstance = await shop.instance(() => {});
    await stoppedInstance.kill();
    expect(await shop.gateway.sendRaw(handshake())).toMatch(/^HTTP\/1\.1 502 .*"code":502/s);
    const slowShop = await shopWith({ answerTimeoutMs: 700 });
    await slowShop.instance(() => {});
    expect(await slowShop.gateway.sendRaw(handshake())).toMatch(/^HTTP\/1\.1 504 .*"code":504/s);
  });

  it('passes over an instance that is gone', async () => {
    const shop = await shopWith();
    const stoppedInstance = await shop.instance(() => {});
    await stoppedInstance.kill();
    await echo(shop);
    for (let at = 0; at < 4; at++) {
      const socket = await open(shop);
      expect(await ask(socket, 'hello')).toBe('hello');
      socket.terminate();
    }
  });

  it('is refused where a lambda answers, with 501', async () => {
    const shop = await shopWith();
    shop.gateway.endpoint(
      shop.gateway.api('fn'),
      shop.gateway.lambda(() => text('x')),
      { resource: '/' },
    );
    expect(await shop.gateway.sendRaw(handshake('/fn'))).toMatch(/^HTTP\/1\.1 501 .*"code":501/s);
    expect(shop.gateway.calls).toEqual([]);
  });

  it('counts against the rate limit of its endpoint', async () => {
    const shop = await shopWith({ endpoint: { plugins: { rateLimit: { enabled: true, perMinute: 2 } } } });
    await echo(shop);
    const first = await open(shop);
    expect(await (await fetch(`http://127.0.0.1:${shop.gateway.port}/web/shop`)).text()).toBe('plain');
    const got = await shop.gateway.sendRaw(handshake());
    expect(got).toMatch(/^HTTP\/1\.1 429 .*"code":429/s);
    expect(got).toContain('Retry-After: 60');
    first.terminate();
  });

  it('needs the credentials, the address, the method and the host that its endpoint asks for', async () => {
    const shop = await shopWith({
      endpoint: { methods: ['GET'], plugins: { platformSecurity: { enabled: true, users: [] } } },
    });
    await echo(shop);
    shop.gateway.caller('Bearer root', { isRoot: true });
    shop.gateway.caller('Bearer guest');
    expect(await shop.gateway.sendRaw(handshake())).toMatch(/^HTTP\/1\.1 401 .*WWW-Authenticate: Bearer/s);
    expect(await shop.gateway.sendRaw(handshake('/web/shop', ['Authorization: Bearer guest']))).toMatch(
      /^HTTP\/1\.1 403 /,
    );
    expect(await shop.gateway.sendRaw(handshake('/none'))).toMatch(/^HTTP\/1\.1 404 /);
    const socket = await open(shop, '/web/shop', [], { Authorization: 'Bearer root' });
    socket.terminate();
    shop.gateway.patch(shop.endpoint, { whitelist: ['10.0.0.0/8'] });
    expect(await shop.gateway.sendRaw(handshake('/web/shop', ['Authorization: Bearer root']))).toMatch(
      /^HTTP\/1\.1 403 .*whitelist/s,
    );
    shop.gateway.patch(shop.endpoint, { methods: ['POST'] });
    expect(await shop.gateway.sendRaw(handshake('/web/shop', ['Authorization: Bearer root']))).toMatch(
      /^HTTP\/1\.1 405 /,
    );
  });

  it('is a plain request unless it is a GET', async () => {
    const shop = await shopWith();
    await shop.instance((req, res) => req.pipe(res));
    const headers = { Connection: 'Upgrade', Upgrade: 'websocket' };
    const outgoing = request({
      port: shop.gateway.port,
      host: '127.0.0.1',
      method: 'POST',
      path: '/web/shop',
      headers,
    });
    outgoing.end('a body');
    const [response] = await once(outgoing, 'response');
    expect((await response.toArray()).join('')).toBe('a body');
  });

  it('leaves no trace when the client goes before it is answered', async () => {
    const shop = await shopWith();
    const server = createServer();
    const whenUpgraded = once(server, 'upgrade');
    await shop.instance(() => {}, server);
    const over = shop.gateway.nextExchange();
    const socket = connect(shop.gateway.port, '127.0.0.1');
    socket.write(handshake());
    const [, served]: Socket[] = await whenUpgraded;
    socket.resetAndDestroy();
    served?.on('error', () => {});
    served?.resume();
    await Promise.all([over, served && once(served, 'end')]);
    expect(shop.gateway.traffic).toMatchObject([{ status: undefined, isComplete: false }]);
  });
});
