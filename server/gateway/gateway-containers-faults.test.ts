import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect, createServer } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { InstanceServer, TestShop } from '../testing/test-shop.ts';

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

const read = (instance: InstanceServer | undefined) => instance?.requests ?? [];

describe('a container without an answer', () => {
  it('that has no instances is 503, with the reason and when to come back', async () => {
    const shop = await shopWith();
    const got = await shop.gateway.send('GET', '/web/shop');
    expect(got).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect(got.json).toEqual({
      code: 503,
      reason: 'container_not_running',
      message: "container 'shop' is not running: it has no instances (num_instances is 0)",
    });
    expect(got.headers).toHaveProperty('x-terrarium-upstream-latency');
  });

  it('that is deleted, or no longer exposes the port, is 503', async () => {
    const shop = await shopWith();
    const port = { name: 'web', protocol: 'tcp', container_port: 8080, expose_endpoint: false };
    const hidden = shop.gateway.patch(shop.shop, { port_mappings: [port] });
    expect(await shop.gateway.send('GET', '/web/shop')).toMatchObject({
      status: 503,
      json: { message: expect.stringContaining("no longer has an exposed port mapping 'web'") },
    });
    shop.gateway.remove(hidden);
    expect(await shop.gateway.send('GET', '/web/shop')).toMatchObject({
      status: 503,
      json: { message: expect.stringContaining('deleted') },
    });
  });

  it('where nothing listens is 502', async () => {
    const shop = await shopWith();
    const instance = await shop.instance(() => {});
    await instance.kill();
    expect(await shop.gateway.send('POST', '/web/shop', { body: 'x' })).toMatchObject({
      status: 502,
      json: {
        code: 502,
        reason: 'container_failed',
        message: expect.stringMatching(/'shop' cannot be reached: .*ECONNREFUSED.*port 'web'/),
      },
    });
  });

  it('that takes too long is 504, and its request is canceled', async () => {
    const shop = await shopWith({ answerTimeoutMs: 100 });
    let closed: Promise<unknown> = Promise.resolve();
    await shop.instance((_request, response) => {
      closed = once(response, 'close');
    });
    expect(await shop.gateway.send('POST', '/web/shop', { body: 'x' })).toMatchObject({
      status: 504,
      json: { code: 504, reason: 'container_timeout', message: "container 'shop' failed: no response within 0.1 s" },
    });
    await closed;
  });

  it('that does not take the body is 504', async () => {
    const shop = await shopWith({
      answerTimeoutMs: 100,
      gateway: { limits: { requestBodyBytes: 1024 ** 3 } },
    });
    await shop.instance(() => {});
    const stuck = connect(shop.gateway.port, '127.0.0.1');
    stuck.on('error', () => {});
    stuck.write(`POST /web/shop HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${64 * 1024 * 1024}\r\n\r\n`);
    stuck.write(Buffer.alloc(64 * 1024 * 1024));
    const [answer] = await once(stuck, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 504/);
    stuck.destroy();
  });

  it('is not at fault when its client is slow', async () => {
    const shop = await shopWith();
    let begin = () => {};
    const whenBegun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    await shop.instance((req, res) => {
      let body = '';
      req.on('data', (part) => {
        body += part;
        begin();
      });
      req.on('end', () => res.end(body));
    });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const upload = request({ port: shop.gateway.port, host: '127.0.0.1', method: 'POST', path: '/web/shop' });
      upload.write('a');
      await whenBegun;
      vi.advanceTimersByTime(10 * 60_000); // longer than an instance may think
      upload.end('b');
      const [response] = await once(upload, 'response');
      expect((await response.toArray()).join('')).toBe('ab');
    } finally {
      vi.useRealTimers();
    }
  });

  it.each([
    ['hangs up', ''],
    ['speaks something else', '220 mail.test ESMTP\r\n'],
    ['switches protocols unasked', 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'],
    ['has an impossible status', 'HTTP/1.1 099 Nope\r\nContent-Length: 0\r\n\r\n'],
    ['breaks off in the head', 'HTTP/1.1 200 OK\r\nContent-Le'],
    ['has an endless head', `HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(100_000)}\r\n\r\n`],
  ])('that %s is 502', async (_what, bytes) => {
    const shop = await shopWith();
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.end(bytes, 'latin1'));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
    shop.listed = [{ instanceId: 'odd', host: '127.0.0.1', port }];
    expect(await shop.gateway.send('GET', '/web/shop')).toMatchObject({
      status: 502,
      json: { code: 502, reason: 'container_failed', message: expect.stringContaining("container 'shop'") },
    });
    await new Promise((resolve) => server.close(resolve));
  });
});

describe('an answer that breaks off', () => {
  it.each([
    ['with a length', { 'Content-Length': '1000' }],
    ['in chunks', {}],
  ])('%s breaks off for the client, too', async (_how, headers) => {
    const shop = await shopWith();
    await shop.instance((_request, response) => {
      response.writeHead(200, headers);
      response.write('half', () => response.socket?.destroy());
    });
    const over = shop.gateway.nextExchange();
    await expect(shop.gateway.send('GET', '/web/shop')).rejects.toThrow(/aborted|ECONNRESET/);
    expect(await over).toMatchObject({ status: 200, isComplete: false });
  });
});

describe('a client that goes away', () => {
  it.each(['before the answer', 'in the midst of it'])('%s takes its request back', async (when) => {
    const shop = await shopWith();
    const agent = new Agent();
    let whenClosed: Promise<unknown> = Promise.resolve();
    const whenReceived = new Promise<void>((resolve) => {
      void shop.instance((_request, response) => {
        whenClosed = once(response, 'close');
        if (when !== 'before the answer') response.write('first words');
        resolve();
      });
    });
    await expect.poll(() => shop.instances.length).toBe(1);
    const over = shop.gateway.nextExchange();
    const outgoing = request({ port: shop.gateway.port, host: '127.0.0.1', path: '/web/shop', agent }).end();
    outgoing.on('error', () => {});
    await whenReceived;
    if (when !== 'before the answer') {
      const [response] = await once(outgoing, 'response');
      response.on('error', () => {});
    }
    outgoing.destroy();
    await whenClosed;
    const status = when === 'before the answer' ? undefined : 200;
    expect(await over).toMatchObject({ status, isComplete: false });
  });

  it('in the midst of its body takes its request back', async () => {
    const shop = await shopWith();
    let broken: Promise<unknown> = Promise.resolve();
    const whenReceived = new Promise<void>((resolve) => {
      void shop.instance((req) => {
        broken = once(req, 'error');
        req.once('data', () => resolve());
      });
    });
    await expect.poll(() => shop.instances.length).toBe(1);
    const socket = connect(shop.gateway.port, '127.0.0.1');
    socket.write('POST /web/shop HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nhalf');
    await whenReceived;
    socket.destroy();
    await broken;
  });
});

describe('an instance that is gone', () => {
  it('is passed over for one that listens, whatever the request', async () => {
    const shop = await shopWith();
    const stoppedInstance = await shop.instance(() => {});
    await stoppedInstance.kill();
    await shop.instance((req, res) => req.pipe(res));
    for (let at = 0; at < 6; at++) {
      expect(await shop.gateway.send('POST', '/web/shop', { body: `order ${at}` })).toMatchObject({
        status: 200,
        body: `order ${at}`,
      });
    }
  });

  /** A server that answers one request on each connection, then closes it the moment another one begins. */
  async function forgetful(shop: TestShop): Promise<void> {
    const usedSockets = new WeakSet<object>();
    await shop.instance((req, res) => {
      if (usedSockets.has(req.socket)) req.socket.resetAndDestroy();
      else {
        usedSockets.add(req.socket);
        req.pipe(res);
      }
    });
  }

  it.each([
    ['GET', ''],
    ['PUT', 'a body'],
    ['DELETE', ''],
  ])('a kept connection that just closed costs no %s its answer', async (method, body) => {
    const shop = await shopWith();
    await forgetful(shop);
    for (let at = 0; at < 4; at++) {
      expect(await shop.gateway.send(method, '/web/shop', { body })).toMatchObject({ status: 200, body });
    }
    // Two were sent twice: the kept connection was tried, then a new one.
    expect(read(shop.instances[0]).length).toBeGreaterThan(4);
  });

  it('a POST that was sent over such a connection is not sent again: it may have been acted upon', async () => {
    const shop = await shopWith();
    await forgetful(shop);
    const statuses = [];
    for (let at = 0; at < 2; at++) statuses.push((await shop.gateway.send('POST', '/web/shop', { body: 'x' })).status);
    expect(statuses).toEqual([200, 502]);
    expect(read(shop.instances[0])).toHaveLength(2);
  });

  it('a POST whose body was not sent yet is', async () => {
    const shop = await shopWith();
    await forgetful(shop);
    expect((await shop.gateway.send('GET', '/web/shop')).status).toBe(200);
    const outgoing = request({ port: shop.gateway.port, host: '127.0.0.1', method: 'POST', path: '/web/shop' });
    outgoing.setHeader('Content-Length', '5');
    outgoing.flushHeaders();
    await expect.poll(() => read(shop.instances[0]).length).toBe(3);
    outgoing.end('hello');
    const [response] = await once(outgoing, 'response');
    expect((await response.toArray()).join('')).toBe('hello');
  });

  it('killed between two requests and started again costs none of them', async () => {
    const shop = await shopWith();
    const first = await shop.instance((req, res) => req.pipe(res));
    await shop.instance((req, res) => req.pipe(res));
    for (let at = 0; at < 4; at++) expect((await shop.gateway.send('GET', '/web/shop')).status).toBe(200);
    await first.kill();
    for (let at = 0; at < 4; at++) {
      expect((await shop.gateway.send('POST', '/web/shop', { body: 'x' })).status).toBe(200);
    }
    await first.start(first.port);
    const before = read(first).length;
    for (let at = 0; at < 4; at++) expect((await shop.gateway.send('GET', '/web/shop')).status).toBe(200);
    expect(read(first).length).toBe(before + 2);
  });
});

describe('a drain', () => {
  it('lets requests under way end, and sends no new ones', async () => {
    const shop = await shopWith();
    let finish = () => {};
    const first = await shop.instance((_req, res) => {
      finish = () => res.end('old');
    });
    const slow = shop.gateway.send('GET', '/web/shop');
    await expect.poll(() => read(first).length).toBe(1);
    await shop.instance((_req, res) => res.end('new'));
    let isDrained = false;
    const drained = shop.proxy.drain('i1', 60_000).then(() => {
      isDrained = true;
    });
    for (let at = 0; at < 4; at++) expect((await shop.gateway.send('GET', '/web/shop')).body).toBe('new');
    expect(isDrained).toBe(false);
    finish();
    expect((await slow).body).toBe('old');
    await drained;
    expect(read(first)).toHaveLength(1);
  });

  it('ends when its time is up', async () => {
    const shop = await shopWith();
    const first = await shop.instance(() => {});
    const slow = shop.gateway.send('GET', '/web/shop').catch(() => undefined);
    await expect.poll(() => read(first).length).toBe(1);
    await shop.proxy.drain('i1', 20);
    await first.kill();
    await slow;
  });

  it('of the last instance leaves none: 503', async () => {
    const shop = await shopWith();
    await shop.instance((_req, res) => res.end());
    await shop.proxy.drain('i1', 1_000);
    expect((await shop.gateway.send('GET', '/web/shop')).status).toBe(503);
  });

  it('is forgotten when the instance still serves a minute later', async () => {
    const shop = await shopWith();
    await shop.instance((_req, res) => res.end('still here'));
    await shop.proxy.drain('i1', 1_000);
    shop.gateway.nowMs += 61_001;
    expect((await shop.gateway.send('GET', '/web/shop')).body).toBe('still here');
  });

  it('rolls a container over under load without one failed request', async () => {
    const shop = await shopWith();
    const serve = (name: string) => (instance: { isStopped: boolean }) =>
      new InstanceServer(name, (req, res) => {
        // A request that comes after its instance was stopped is one that a roll-over lost.
        setTimeout(() => (instance.isStopped ? res.destroy() : req.pipe(res)), 2);
      });
    const start = async (name: string) => {
      const state = { isStopped: false };
      const server = serve(name)(state);
      shop.instances.push(await server.start());
      return { server, state };
    };
    let running = [await start('v0-a'), await start('v0-b')];
    let isLoading = true;
    const results: (number | string)[] = [];
    const agent = new Agent({ keepAlive: true });
    const client = async (body: string) => {
      while (isLoading) {
        const outgoing = request({
          port: shop.gateway.port,
          host: '127.0.0.1',
          method: 'POST',
          path: '/web/shop',
          agent,
        });
        outgoing.end(body);
        try {
          const [response] = await once(outgoing, 'response');
          const got = (await response.toArray()).join('');
          results.push(got === body ? response.statusCode : `wrong answer: ${got}`);
        } catch (fault) {
          results.push(String(fault));
        }
      }
    };
    const clients = Array.from({ length: 16 }, (_, at) => client(`client ${at}`));
    for (let version = 1; version <= 4; version++) {
      const next = [];
      for (const old of running) {
        next.push(await start(`v${version}-${old.server.instanceId}`));
        const before = results.length;
        await expect.poll(() => results.length).toBeGreaterThan(before + 50);
        await shop.proxy.drain(old.server.instanceId, 10_000);
        old.state.isStopped = true;
        shop.instances.splice(shop.instances.indexOf(old.server), 1);
        await old.server.kill();
      }
      running = next;
    }
    isLoading = false;
    await Promise.all(clients);
    agent.destroy();
    expect(results.filter((result) => result !== 200)).toEqual([]);
    expect(results.length).toBeGreaterThan(400);
  });
});
