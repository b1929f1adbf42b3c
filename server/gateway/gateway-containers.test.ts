import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { TestShop } from '../testing/test-shop.ts';

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

/** Headers of a message, one line each, as they were sent. */
function linesOf(rawHeaders: readonly string[]): string[] {
  return rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${rawHeaders[at + 1]}`] : []));
}

it('a request reaches the container without the prefix, its headers as they were sent', async () => {
  const shop = await shopWith();
  let lines: string[] = [];
  await shop.instance((request, response) => {
    lines = linesOf(request.rawHeaders);
    response.end(`${request.method} ${request.url}`);
  });
  const headers = {
    Host: 'x.localhost:8080',
    'X-MiXed': 'One',
    Cookie: 'a=1',
    Authorization: 'Bearer unknown',
    'X-Twice': ['1', '2'],
    Connection: 'keep-alive, X-Mine',
    'Keep-Alive': 'timeout=9',
    'X-Mine': 'for the gateway only',
    TE: 'trailers',
    'Proxy-Authorization': 'secret',
  };
  const got = await shop.gateway.send('GET', '/web/shop/a%2Fb//c/?q=1&q=%20', { headers });
  expect(got).toMatchObject({ status: 200, body: 'GET /a%2Fb//c/?q=1&q=%20' });
  expect(lines).toEqual([
    `Host: shop.${shop.shop.parent}.svc.cluster.local`,
    'X-MiXed: One',
    'Cookie: a=1',
    'Authorization: Bearer unknown',
    'X-Twice: 1',
    'X-Twice: 2',
    'X-Forwarded-For: 127.0.0.1',
    'X-Forwarded-Proto: http',
    'X-Forwarded-Host: x.localhost:8080',
    'X-Forwarded-Prefix: /web/shop',
    expect.stringMatching(/^traceparent: 00-[0-9a-f]{32}-[0-9a-f]{16}-01$/),
    'Connection: keep-alive',
  ]);
});

it('headers of a proxy in front of the gateway are kept', async () => {
  const shop = await shopWith();
  await shop.instance((request, response) => response.end(JSON.stringify(request.headers)));
  const headers = {
    'X-Forwarded-For': '203.0.113.9',
    'X-Forwarded-Proto': 'https',
    'X-Forwarded-Host': 'shop.test',
    'X-Forwarded-Prefix': '/outer',
  };
  const { body } = await shop.gateway.send('GET', '/web/shop', { headers });
  expect(JSON.parse(body)).toMatchObject({
    'x-forwarded-for': '203.0.113.9, 127.0.0.1',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'shop.test',
    'x-forwarded-prefix': '/outer/web/shop',
  });
});

it('a container gets the trace of the request, with a new parent', async () => {
  const shop = await shopWith();
  await shop.instance((request, response) => response.end(JSON.stringify(request.headers)));
  const ask = async (traceparent: string) => {
    const { body } = await shop.gateway.send('GET', '/web/shop', {
      headers: { traceparent, tracestate: 'vendor=1' },
    });
    return JSON.parse(body);
  };
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
  const continuedTrace = await ask(`00-${trace}-00f067aa0ba902b7-00`);
  expect(continuedTrace).toMatchObject({
    traceparent: expect.stringMatching(`^00-${trace}-[0-9a-f]{16}-00$`),
    tracestate: 'vendor=1',
  });
  expect(continuedTrace.traceparent).not.toContain('00f067aa0ba902b7');
  const other = await ask('00-nonsense-01');
  expect(other.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  expect(other).not.toHaveProperty('tracestate');
  const traces = [trace, other.traceparent.slice(3, 35)];
  await expect.poll(() => shop.gateway.traffic.map(({ traceId }) => traceId)).toEqual(traces);
});

it("the container's status and headers pass unchanged, but for those of the connection", async () => {
  const shop = await shopWith();
  await shop.instance((_request, response) => {
    response.writeHead(418, 'Short and stout', [
      ['Set-Cookie', 'a=1'],
      ['Set-Cookie', 'b=2'],
      ['X-MiXed', 'One'],
      ['Connection', 'close, X-Mine'],
      ['X-Mine', 'for the gateway only'],
      ['X-Terrarium-Version', 'forged'],
      ['Access-Control-Allow-Origin', 'http://own.test'],
      ['Content-Type', 'text/x-tea'],
    ]);
    response.end('tea');
  });
  const got = await shop.gateway.send('GET', '/web/shop');
  expect(got).toMatchObject({ status: 418, body: 'tea' });
  const lines = linesOf(got.rawHeaders);
  expect(lines).toEqual(expect.arrayContaining(['Set-Cookie: a=1', 'Set-Cookie: b=2', 'X-MiXed: One']));
  expect(lines.filter((line) => /^(x-mine|x-terrarium-version|access-control-allow-origin)/i.test(line))).toEqual([
    'X-Terrarium-Version: 1.2.3',
    'Access-Control-Allow-Origin: http://own.test',
  ]);
  expect(got.headers['x-terrarium-upstream-latency']).toMatch(/^\d+$/);
});

it.each([
  ['HEAD', 200, { 'Content-Length': '1234' }],
  ['GET', 204, {}],
  ['GET', 304, { ETag: '"x"' }],
  ['GET', 200, { 'Content-Length': '0' }],
  ['HEAD', 200, { Trailer: 'X-Sum', 'Transfer-Encoding': 'chunked' }],
])(
  '%s answered %i with %j has no body, and the connection serves the next request',
  async (method, status, headers) => {
    const shop = await shopWith();
    await shop.instance((_request, response) => {
      response.writeHead(status, headers).end();
    });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ports = new Set<number | undefined>();
    for (let at = 0; at < 2; at++) {
      const outgoing = request({
        port: shop.gateway.port,
        host: '127.0.0.1',
        method,
        path: '/web/shop',
        agent,
      }).end();
      const [response] = await once(outgoing, 'response');
      expect(response).toMatchObject({ statusCode: status });
      ports.add(outgoing.socket?.localPort);
      expect(await response.toArray()).toEqual([]);
    }
    agent.destroy();
    expect(ports.size).toBe(1);
    expect(shop.instances[0]?.connections).toBe(1);
  },
);

it.each(['POST', 'PUT', 'DELETE', 'PATCH', 'GET'])('%s without a body is one without a body', async (method) => {
  const shop = await shopWith();
  await shop.instance((request, response) => {
    const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
    request.resume().on('end', () => response.end(`${length} ${coding}`));
  });
  const bytes = `${method} /web/shop HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;
  const got = await shop.gateway.sendRaw(bytes);
  expect(got).toContain(method === 'GET' || method === 'DELETE' ? 'undefined undefined' : '0 undefined');
});

it.each([
  ['with a length', { 'Content-Length': String(10 * 1024 * 1024) }],
  ['in chunks', { 'Transfer-Encoding': 'chunked' }],
])('10 MiB %s go there and come back byte for byte', async (_how, headers) => {
  const shop = await shopWith();
  await shop.instance((request, response) => {
    response.writeHead(200, { Trailer: 'X-Sum' });
    const hash = createHash('sha256');
    request.on('data', (chunk) => hash.update(chunk));
    request.on('end', () => response.addTrailers({ 'X-Sum': `${hash.digest('hex')} ${request.trailers['x-note']}` }));
    request.pipe(response);
  });
  const body = Buffer.alloc(10 * 1024 * 1024, 'abcdefghijklmnopqrstuvwxyz0123456789-');
  const sum = createHash('sha256').update(body).digest('hex');
  const outgoing = request({
    port: shop.gateway.port,
    host: '127.0.0.1',
    method: 'POST',
    path: '/web/shop',
    headers,
  });
  const isChunked = 'Transfer-Encoding' in headers;
  if (isChunked) outgoing.addTrailers({ 'X-Note': 'last words' });
  outgoing.end(body);
  const [response] = await once(outgoing, 'response');
  const got = createHash('sha256');
  for await (const chunk of response) got.update(chunk);
  expect(got.digest('hex')).toBe(sum);
  expect(response.trailers).toEqual({ 'x-sum': `${sum} ${isChunked ? 'last words' : 'undefined'}` });
});

it.each([
  ['announced', {}],
  ['in chunks', { 'Transfer-Encoding': 'chunked' }],
])('a body over the limit, %s, is refused with 413', async (_how, headers) => {
  const shop = await shopWith({ gateway: { limits: { requestBodyBytes: 100_000 } } });
  let isWhole = false;
  await shop.instance((request, response) => {
    request.resume().on('end', () => {
      isWhole = true;
      response.end();
    });
  });
  const got = await shop.gateway.send('POST', '/web/shop', { headers, body: Buffer.alloc(100_001) });
  expect(got).toMatchObject({ status: 413, json: { code: 413 } });
  expect((await shop.gateway.send('POST', '/web/shop', { headers, body: Buffer.alloc(100_000) })).status).toBe(200);
  expect(shop.instances[0]?.requests.length).toBe('Transfer-Encoding' in headers ? 2 : 1);
  expect(isWhole).toBe(true);
});

it('the head of an answer does not wait for its body', async () => {
  const shop = await shopWith();
  let finish = () => {};
  await shop.instance((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders();
    finish = () => response.end('data: 1\n\n');
  });
  const outgoing = request({ port: shop.gateway.port, host: '127.0.0.1', path: '/web/shop' }).end();
  const [response] = await once(outgoing, 'response');
  expect(response.headers['content-type']).toBe('text/event-stream');
  finish();
  expect((await response.toArray()).join('')).toBe('data: 1\n\n');
});

it('an instance is not read faster than the client reads', async () => {
  const shop = await shopWith();
  const [offered, chunk] = [512, Buffer.alloc(256 * 1024)];
  const takenCounts: number[] = [];
  await shop.instance((_request, response) => {
    const index = takenCounts.push(0) - 1;
    const write = () => {
      while ((takenCounts[index] ?? 0) < offered) {
        takenCounts[index] = (takenCounts[index] ?? 0) + 1;
        if (!response.write(chunk)) return;
      }
      response.end();
    };
    response.on('drain', write);
    write();
  });
  const get = async () => {
    const outgoing = request({ port: shop.gateway.port, host: '127.0.0.1', path: '/web/shop' }).end();
    const [response]: IncomingMessage[] = await once(outgoing, 'response');
    if (!response) throw new Error('there is no response');
    return response;
  };
  const sizeOf = async (response: IncomingMessage) => {
    let size = 0;
    for await (const part of response) size += part.length;
    return size;
  };
  const unread = await get();
  expect(await sizeOf(await get())).toBe(offered * chunk.length);
  // While all of this went through the gateway, most of the other response could have.
  expect(takenCounts[0]).toBeLessThan(offered / 2);
  expect(await sizeOf(unread)).toBe(offered * chunk.length);
});

it('a client is not read faster than the instance reads', async () => {
  const shop = await shopWith({ gateway: { limits: { requestBodyBytes: 1024 ** 3 } } });
  const goes: (() => void)[] = [];
  await shop.instance((request, response) => {
    const read = () => void request.resume().on('end', () => response.end('done'));
    if (request.url === '/later') goes.push(read);
    else read();
  });
  const total = 128 * 1024 * 1024;
  const upload = (path: string) => {
    const socket = connect(shop.gateway.port, '127.0.0.1');
    const head = `POST /web/shop${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: ${total}\r\n\r\n`;
    socket.write(head);
    socket.write(Buffer.alloc(total));
    return { socket, answer: socket.toArray().then((parts) => parts.join('')) };
  };
  const { socket, answer } = upload('/later');
  await expect.poll(() => goes).toHaveLength(1);
  expect(await upload('/now').answer).toMatch(/^HTTP\/1\.1 200.*done/s);
  // While all of this went through the gateway, all of the other body could have.
  expect(socket.writableLength).toBeGreaterThan(0);
  for (const go of goes) go();
  expect(await answer).toMatch(/^HTTP\/1\.1 200.*done/s);
});

it('a client with Expect: 100-continue gets 100 from the gateway, and the container the body', async () => {
  const shop = await shopWith();
  await shop.instance((request, response) => {
    response.setHeader('X-Expect', String(request.headers.expect));
    request.pipe(response);
  });
  const headers = { Expect: '100-continue', 'Content-Length': '5' };
  const outgoing = request({
    port: shop.gateway.port,
    host: '127.0.0.1',
    method: 'POST',
    path: '/web/shop',
    headers,
  });
  outgoing.on('continue', () => outgoing.end('hello'));
  outgoing.flushHeaders();
  const [response] = await once(outgoing, 'response');
  expect((await response.toArray()).join('')).toBe('hello');
  expect(response.headers['x-expect']).toBe('undefined');
});

it('an HTTP/1.0 client gets an HTTP/1.0 response', async () => {
  const shop = await shopWith();
  await shop.instance((_request, response) => {
    response.write('no');
    response.end(' length');
  });
  const got = await shop.gateway.sendRaw('GET /web/shop HTTP/1.0\r\nHost: localhost\r\n\r\n');
  expect(got).toMatch(/\r\n\r\nno length$/);
  expect(got).not.toMatch(/transfer-encoding/i);
});

it('an early response ends the body, and the connection stays usable', async () => {
  const shop = await shopWith();
  await shop.instance((request, response) => {
    if (request.method === 'GET') response.end('next');
    else response.writeHead(403, { 'Content-Length': '2' }).end('no');
  });
  const socket = connect(shop.gateway.port, '127.0.0.1');
  socket.write('POST /web/shop HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\nhalf');
  const [first] = await once(socket, 'data');
  expect(String(first)).toMatch(/^HTTP\/1\.1 403/);
  socket.write(Buffer.alloc(100_000 - 4));
  socket.write('GET /web/shop HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  expect((await socket.toArray()).join('')).toMatch(/^HTTP\/1\.1 200.*next/s);
});

it('a request that offers HTTP/2 is served as a plain one, body and all', async () => {
  const shop = await shopWith();
  await shop.instance((request, response) => {
    response.setHeader('X-Upgrade', String(request.headers.upgrade));
    request.pipe(response);
  });
  const body = Buffer.alloc(1024 * 1024, 'x');
  const headers = { Connection: 'Upgrade, HTTP2-Settings', Upgrade: 'h2c', 'HTTP2-Settings': 'AAMAAABkAAQAAP__' };
  const got = await shop.gateway.send('POST', '/web/shop', { headers, body });
  expect(got.status).toBe(200);
  expect(got.body.length).toBe(body.length);
  expect(got.headers['x-upgrade']).toBe('undefined');
});

it('requests take turns among the instances', async () => {
  const shop = await shopWith();
  for (const name of ['a', 'b', 'c']) await shop.instance((_request, response) => response.end(name));
  const bodies: string[] = [];
  for (let at = 0; at < 6; at++) bodies.push((await shop.gateway.send('GET', '/web/shop')).body);
  expect(bodies.join('')).toBe('abcabc');
});

it('the recorder gets the response and its duration', async () => {
  const shop = await shopWith();
  await shop.instance((_request, response) => {
    response.writeHead(201).end('made');
  });
  const over = shop.gateway.nextExchange();
  await shop.gateway.send('POST', '/web/shop/x', { body: 'hello' });
  const reported = await over;
  expect(reported).toMatchObject({
    method: 'POST',
    target: '/web/shop/x',
    status: 201,
    isComplete: true,
    endpointId: shop.endpoint.id,
  });
  expect(reported.upstreamMs).toBeGreaterThan(0);
  expect(reported.durationMs).toBeGreaterThanOrEqual(reported.upstreamMs);
});

it('an endpoint /async of an API named api gets the body that the gateway read to look for a lambda', async () => {
  const shop = await shopWith();
  await shop.instance(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    response.end(`${request.method} ${Buffer.concat(chunks)}`);
  });
  const { gateway } = shop;
  gateway.endpoint(gateway.api('api'), shop.shop, { resource: '/async', container_port_name: 'web' });
  const chunked = { headers: { 'Transfer-Encoding': 'chunked' }, body: 'second' };
  expect((await gateway.send('POST', '/api/async', { body: '{"order":1}' })).body).toBe('POST {"order":1}');
  expect((await gateway.send('POST', '/api/async', chunked)).body).toBe('POST second');
  expect((await gateway.send('POST', '/api/async')).body).toBe('POST ');
});

it('an address of the service itself in a redirect becomes the public one, and any other address stays', async () => {
  const shop = await shopWith();
  const host = `shop.${shop.shop.parent}.svc.cluster.local`;
  await shop.instance((request, response) => {
    const { name = '', value = '' } = Object.fromEntries(new URL(request.url ?? '', 'http://x').searchParams);
    response.writeHead(301, { [name]: value.replace('HOST', request.headers.host ?? '') }).end();
  });
  const headerOf = async (name: string, value: string, headers = {}) => {
    const query = new URLSearchParams({ name, value });
    const requestHeaders = { Host: 'x.localhost:8080', ...headers };
    const got = await shop.gateway.send('GET', `/web/shop/a?${query}`, { headers: requestHeaders });
    return got.headers[name.toLowerCase()];
  };
  expect(await headerOf('Location', 'http://HOST/folder/?q=1')).toBe('http://x.localhost:8080/web/shop/folder/?q=1');
  expect(await headerOf('Location', 'https://HOST')).toBe('http://x.localhost:8080/web/shop/');
  expect(await headerOf('Content-Location', `http://${host}/x`)).toBe('http://x.localhost:8080/web/shop/x');
  expect(await headerOf('Refresh', `5; url=http://${host}/x`)).toBe('5; url=http://x.localhost:8080/web/shop/x');
  const outer = { 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'shop.test', 'X-Forwarded-Prefix': '/outer' };
  expect(await headerOf('Location', 'http://HOST/x', outer)).toBe('https://shop.test/outer/web/shop/x');
  for (const value of ['/folder/', 'folder/', 'http://HOST.evil/x', 'http://HOST:8081/x', 'https://example.com/HOST/'])
    expect(await headerOf('Location', value)).toBe(value.replace('HOST', host));
  expect(await headerOf('X-Other', 'http://HOST/x')).toBe(`http://${host}/x`);
});
