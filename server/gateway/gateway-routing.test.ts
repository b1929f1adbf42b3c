import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { json, ok, TestGateway, text } from '../testing/gateway.ts';
import { TestShop } from '../testing/test-shop.ts';

let gateway: TestGateway;
beforeEach(async () => {
  gateway = await new TestGateway().start();
});
afterEach(() => gateway.stop());

describe('an endpoint', () => {
  it('calls its lambda with the body verbatim and the context of D-136', async () => {
    const lambda = gateway.lambda(() => text('SUCCESS'));
    const endpoint = gateway.endpoint(gateway.api('web'), lambda, { resource: '/lead', methods: ['post'] });
    const got = await gateway.send('POST', '/web/lead/a%20b/?x=1&x=2', {
      body: '{"payload":{}}',
      headers: { 'Content-Type': 'application/json', 'X-Twice': ['a', 'b'] },
    });
    expect(got).toMatchObject({ status: 200, body: 'SUCCESS' });
    expect(got.headers['content-type']).toBe('text/plain; charset=utf-8');
    const [call] = gateway.calls;
    expect(call).toMatchObject({
      trigger: 'gateway',
      context: { method: 'POST', path: '/a%20b/', creds: '', user: null, apiEndpointId: endpoint.id, httpAware: false },
    });
    expect(Buffer.from(call?.body ?? []).toString()).toBe('{"payload":{}}');
    expect({ ...call?.context.params }).toEqual({ x: ['1', '2'] });
    expect(call?.context.headers).toMatchObject({ 'content-type': 'application/json', 'x-twice': 'a, b' });
    expect(got.headers['x-terrarium-execution-id']).toBe(call?.executionId);
  });

  it('without a body calls its lambda with none', async () => {
    gateway.endpoint(
      gateway.api('web'),
      gateway.lambda(() => ok({ kind: 'nothing' })),
      { resource: '/lead' },
    );
    expect(await gateway.send('GET', '/web/lead')).toMatchObject({ status: 200, body: '' });
    expect(gateway.calls[0]?.body).toHaveLength(0);
  });

  it('is found by the longest prefix, decoded, and with any trailing slashes', async () => {
    const web = gateway.api('web');
    gateway.endpoint(
      web,
      gateway.lambda(() => text('root')),
      { resource: '/' },
    );
    gateway.endpoint(
      web,
      gateway.lambda(() => text('longer')),
      { resource: '/lead/new form/' },
    );
    for (const [path, answer] of [
      ['/web', 'root'],
      ['/web/', 'root'],
      ['/web/lead', 'root'],
      ['/web/lead/new%20form', 'longer'],
      ['/%77eb//lead/new%20form//', 'longer'],
      ['/web/lead%2Fnew%20form', 'root'],
    ] as const) {
      expect((await gateway.send('GET', path)).body, path).toBe(answer);
    }
    expect(gateway.calls.map(({ context }) => context.path)).toEqual(['', '', '/lead', '', '', '/lead%2Fnew%20form']);
  });

  it('is found where a client has encoded the slashes of its path, unless the path as sent has an endpoint', async () => {
    const web = gateway.api('web');
    gateway.endpoint(
      web,
      gateway.lambda(() => text('orders')),
      { resource: '/shop/orders' },
    );
    expect(await gateway.send('GET', '/web/shop%2Forders%2f1001?x=%2F')).toMatchObject({ status: 200, body: 'orders' });
    expect(gateway.calls[0]?.context).toMatchObject({ path: '/1001', params: { x: ['/'] } });
    expect(await gateway.send('GET', '/web/shop%2Fcarts')).toMatchObject({ status: 404 });
    expect(await gateway.send('GET', '/web/shop%2F..%2Forders')).toMatchObject({ status: 400 });
  });

  it('with hosts serves them alone, with precedence over others', async () => {
    const web = gateway.api('web');
    gateway.endpoint(
      web,
      gateway.lambda(() => text('by host')),
      { resource: '/lead', hosts: ['Form.test:8080'], methods: ['GET'] },
    );
    gateway.endpoint(
      web,
      gateway.lambda(() => text('by path')),
      { resource: '/lead', methods: ['POST'] },
    );
    expect(await gateway.send('GET', '/web/lead', { headers: { Host: 'form.TEST:99' } })).toMatchObject({
      body: 'by host',
    });
    expect(await gateway.send('POST', '/web/lead', { headers: { Host: 'form.test' } })).toMatchObject({
      body: 'by path',
    });
    expect(await gateway.send('GET', '/web/lead')).toMatchObject({ status: 405 });
  });

  it('with an internationalized host name serves its encoded form', async () => {
    const site = gateway.lambda(() => text('site'));
    gateway.endpoint(gateway.api('web'), site, { hosts: ['bücher.test'] });
    const headers = { Host: 'xn--bcher-kva.test' };
    expect(await gateway.send('GET', '/', { headers })).toMatchObject({ body: 'site' });
  });

  it('with hosts and no resource has every path of them, unstripped', async () => {
    gateway.endpoint(
      gateway.api('web'),
      gateway.lambda(() => text('site')),
      { hosts: ['site.test'] },
    );
    for (const path of ['/', '/a/b/', '/results', '/api']) {
      expect(await gateway.send('POST', path, { headers: { Host: 'site.test' } })).toMatchObject({
        status: 200,
        body: 'site',
      });
      expect(gateway.calls.at(-1)?.context.path).toBe(path);
    }
    expect((await gateway.send('GET', '/a')).status).toBe(404);
  });

  it('that does not exist is a 404 with the headers of every answer', async () => {
    const got = await gateway.send('GET', '/nothing/here');
    expect(got.status).toBe(404);
    expect(got.json).toEqual({ code: 404, reason: 'no_endpoint', message: 'no API found with those values' });
    expect(got.headers).toMatchObject({
      'content-type': 'application/json',
      'x-terrarium-version': '1.2.3',
      'x-terrarium-proxy-latency': expect.stringMatching(/^\d+$/),
      'x-terrarium-upstream-latency': '0',
      'server-timing': expect.stringMatching(/^proxy;dur=[\d.]+, upstream;dur=0\.0$/),
    });
  });

  it('that does not take the method is a 405 with the methods of its path', async () => {
    const web = gateway.api('web');
    const lambda = gateway.lambda(() => text('x'));
    gateway.endpoint(web, lambda, { resource: '/lead', methods: ['POST'] });
    gateway.endpoint(web, lambda, { resource: '/lead', methods: ['GET'] });
    const got = await gateway.send('DELETE', '/web/lead');
    expect(got).toMatchObject({
      status: 405,
      json: { code: 405, reason: 'method_not_allowed', message: expect.stringContaining('GET, HEAD, POST') },
    });
    expect(got.headers.allow).toBe('GET, HEAD, POST');
  });

  it('takes HEAD where GET is, and answers it without the body', async () => {
    gateway.endpoint(
      gateway.api('web'),
      gateway.lambda(() => text('12345')),
      { resource: '/lead', methods: ['GET'] },
    );
    const got = await gateway.send('HEAD', '/web/lead');
    expect(got).toMatchObject({ status: 200, body: '' });
    expect(got.headers['content-length']).toBe('5');
    expect(gateway.calls[0]?.context.method).toBe('HEAD');
  });

  it('is followed through creation, change, a renamed API, and removal', async () => {
    const [old, lambda] = [gateway.api('web'), gateway.lambda(() => text('x'))];
    const statuses = async () =>
      Promise.all(['/web/a', '/web/b', '/net/b'].map(async (path) => (await gateway.send('GET', path)).status));
    expect(await statuses()).toEqual([404, 404, 404]);
    const endpoint = gateway.endpoint(old, lambda, { resource: '/a' });
    expect(await statuses()).toEqual([200, 404, 404]);
    const moved = gateway.patch(endpoint, { resource: '/b' });
    expect(await statuses()).toEqual([404, 200, 404]);
    gateway.put({ ...old, name: 'net' });
    expect(await statuses()).toEqual([404, 404, 200]);
    gateway.remove(moved);
    expect(await statuses()).toEqual([404, 404, 404]);
  });

  it('exists from the start when the world has it', async () => {
    gateway.endpoint(
      gateway.api('web'),
      gateway.lambda(() => text('x')),
      { resource: '/a' },
    );
    const other = new TestGateway({ view: gateway.world });
    await other.start();
    expect((await other.send('GET', '/web/a')).status).toBe(503); // its invoker does not know the lambda
    await other.stop();
  });

  it('of a deleted lambda is a 503 until it is pointed at another', async () => {
    const [deletedLambda, other] = [gateway.lambda(() => text('x')), gateway.lambda(() => text('y'))];
    const endpoint = gateway.endpoint(gateway.api('web'), deletedLambda, {
      resource: '/a',
      implementation_id: '11111111-1111-4111-8111-111111111111',
    });
    const got = await gateway.send('GET', '/web/a');
    expect(got).toMatchObject({ status: 503, json: { code: 503, executionId: gateway.calls[0]?.executionId } });
    gateway.patch(endpoint, { implementation_id: other.id.toUpperCase() });
    expect(await gateway.send('GET', '/web/a')).toMatchObject({ body: 'y' });
  });
});

describe('an http-aware endpoint', () => {
  it('returns the result of the lambda', async () => {
    const result = { statusCode: 302, headers: { Location: '/x', 'Set-Cookie': ['a=1', 'b=2'] } };
    gateway.endpoint(
      gateway.api('web'),
      gateway.lambda(() => json(result)),
      { resource: '/a', is_http_aware: true },
    );
    const got = await gateway.send('GET', '/web/a');
    expect(got).toMatchObject({ status: 302, body: '' });
    expect(got.headers).toMatchObject({ location: '/x', 'set-cookie': ['a=1', 'b=2'], 'content-length': '0' });
    expect(gateway.calls[0]?.context.httpAware).toBe(true);
  });

  it.each([
    ['cookies', 'a=1', "'cookies' is not an array"],
    ['headers', 'a: 1', "'headers' is not an object"],
    ['headers', { a: { b: 1 } }, "header 'a' is neither a string nor an array of strings"],
    ['multiValueHeaders', { 'a b': ['1'] }, "header 'a b' is not valid in HTTP"],
  ])('with unusable %s %j returns 502, and the log says why', async (name, value, why) => {
    gateway.endpoint(
      gateway.api('web'),
      gateway.lambda(() => json({ statusCode: 200, [name]: value })),
      { resource: '/a', is_http_aware: true },
    );
    const got = await gateway.send('GET', '/web/a');
    expect(got.status).toBe(502);
    expect(gateway.logged).toEqual([`the handler returned an http-aware result that cannot be sent: ${why} (D-140)`]);
    expect(got.body).toContain(why);
  });

  it.each([204, 304])('sends no body with %i', async (status) => {
    gateway.endpoint(
      gateway.api('web'),
      gateway.lambda(() => json({ status, body: 'x' })),
      { resource: '/a', is_http_aware: true },
    );
    const got = await gateway.send('GET', '/web/a');
    expect(got).toMatchObject({ status, body: '' });
    expect(got.headers['content-length']).toBeUndefined();
  });
});

describe('whatever an http-aware lambda gives', () => {
  it('is answered with its status, or with 502 when it is no HTTP', async () => {
    const name = fc.oneof(
      fc.string(),
      fc.constantFrom('Content-Type', 'Set-Cookie', 'Vary', 'Date', 'Connection', 'Trailer'),
    );
    const value = fc.oneof(fc.string({ unit: 'binary' }), fc.string(), fc.jsonValue({ maxDepth: 1 }));
    const parts = {
      statusCode: fc.integer({ min: 200, max: 599 }),
      headers: fc.dictionary(name, value, { maxKeys: 4 }),
      body: fc.jsonValue(),
    };
    let result: { statusCode: number } = { statusCode: 200 };
    const lambda = gateway.lambda(() => json(result));
    gateway.endpoint(gateway.api('web'), lambda, { resource: '/a', is_http_aware: true });
    await fc.assert(
      fc.asyncProperty(fc.record(parts, { requiredKeys: ['statusCode'] }), async (any) => {
        result = any;
        const got = await gateway.send('GET', '/web/a');
        expect([any.statusCode, 502]).toContain(got.status);
        expect(got.headers['x-terrarium-version']).toBe('1.2.3');
      }),
      { numRuns: 200 },
    );
    expect(gateway.faults).toEqual([]);
  });
});

describe('a container endpoint', () => {
  it('returns an error if no engine is attached or the container was deleted', async () => {
    const box = gateway.container('shop');
    gateway.endpoint(gateway.api('web'), box, { resource: '/shop', container_port_name: 'web', synchronous: false });
    const got = await gateway.send('GET', '/web/shop');
    expect(got).toMatchObject({ status: 503, json: { message: expect.stringMatching(/'shop'.*no container engine/) } });
    gateway.remove(box);
    expect(await gateway.send('GET', '/web/shop')).toMatchObject({
      status: 503,
      json: { message: expect.stringContaining('deleted') },
    });
  });

  it('hands the stripped target to the container, whose answer carries the control headers', async () => {
    const shop = await new TestShop({ endpoint: { resource: '/my shop' } }).start();
    await shop.instance(({ headers, url }, response) => {
      response.setHeader('access-control-allow-origin', 'http://own.test');
      response.writeHead(207).end(`${headers['x-forwarded-prefix']} ${url}`);
    });
    const got = await shop.gateway.send('GET', '/web/my%20shop/a%2Fb/?q=1');
    expect(got).toMatchObject({ status: 207, body: '/web/my%20shop /a%2Fb/?q=1' });
    expect(got.headers).toMatchObject({
      'access-control-allow-origin': 'http://own.test',
      'x-terrarium-version': '1.2.3',
    });
    expect((await shop.gateway.send('GET', '/web/my%20shop?q')).body).toBe('/web/my%20shop /?q');
    await shop.stop();
  });
});

describe('the Host of a request', () => {
  it('can lead to the gateway at either loopback address', async () => {
    for (const host of ['127.0.0.1', '[::1]']) {
      const response = await fetch(`http://${host}:${gateway.port}/a`);
      expect([host, response.status]).toEqual([host, 404]);
    }
  });

  it.each(['localhost', 'x.localhost:1', '127.0.0.9:4701', '[::1]:80', 'GATEWAY.test'])('may be %s', async (host) => {
    expect((await gateway.send('GET', '/a', { headers: { Host: host } })).status).toBe(404);
  });

  it.each(['evil.test', '127.0.0.1.evil.test', '192.168.1.5', 'a b', '127.0.0.1@evil.test'])(
    'that is "%s" is refused with the list of accepted names',
    async (host) => {
      const got = await gateway.send('GET', '/a', { headers: { Host: host } });
      expect(got).toMatchObject({
        status: 403,
        json: {
          code: 403,
          reason: 'host_not_allowed',
          message: expect.stringMatching(/localhost.*gateway\.test.*allowedHosts/),
        },
      });
    },
  );

  it('may be that of the public address of a gateway provider', async () => {
    const provider = gateway.provider({ config: { env: { public: { PUBLIC_URL_VHOST_0: 'Public.test:8443' } } } });
    const status = async () => (await gateway.send('GET', '/a', { headers: { Host: 'public.test' } })).status;
    expect(await status()).toBe(404);
    gateway.remove(provider);
    expect(await status()).toBe(403);
  });
});

describe('traffic', () => {
  it('is reported after each request', async () => {
    const endpoint = gateway.endpoint(
      gateway.api('web'),
      gateway.lambda(() => text('x')),
      { resource: '/a' },
    );
    const caller = gateway.caller('Bearer me');
    await gateway.send('POST', '/web/a?b', { body: 'hello', headers: { Authorization: 'Bearer me' } });
    await gateway.send('GET', '/none');
    await gateway.stop();
    expect(gateway.traffic).toMatchObject([
      {
        method: 'POST',
        target: '/web/a?b',
        status: 200,
        isComplete: true,
        endpointId: endpoint.id,
        userId: caller.userId,
        executionId: gateway.calls[0]?.executionId,
        atMs: gateway.nowMs,
      },
      {
        method: 'GET',
        target: '/none',
        status: 404,
        endpointId: undefined,
        executionId: undefined,
        traceId: undefined,
        requestBody: undefined,
      },
    ]);
    expect(Buffer.from(gateway.traffic[0]?.requestBody?.bytes ?? []).toString()).toBe('hello');
    expect(gateway.calls[0]?.context).toMatchObject({
      creds: 'Bearer me',
      user: { id: caller.userId, name: 'Bearer me' },
    });
  });
});
