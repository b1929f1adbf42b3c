import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { type WebSocket as ClientSocket, WebSocket, WebSocketServer } from 'ws';
import { json, TestGateway, text } from '../testing/gateway.ts';
import { TestShop } from '../testing/test-shop.ts';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

const SESSION = 'terrarium_session_4700=let-me-in';
/**
 * Cookie headers of a browser whose window is open on another port of the same host, and the part that belongs to the
 * app.
 */
const COOKIE_HEADERS: readonly [string, string, string | undefined][] = [
  ['alone', SESSION, undefined],
  ['in the midst of others', `a=1; ${SESSION}; b=2`, 'a=1; b=2'],
  ['in another letter case', `Terrarium_Session_1=x; a=1`, 'a=1'],
  ['with the prefixes of browsers', `__Host-terrarium_session=x; __Secure-TERRARIUM_x=y; a=1`, 'a=1'],
  ['without a value, without blanks', `a=1;terrarium_;${SESSION}`, 'a=1'],
  ['of apps alone', 'a=1; my_terrarium_=2;  b=terrarium_x', 'a=1; my_terrarium_=2;  b=terrarium_x'],
];
/** Lines of an answer that would give a browser such a cookie, or one that is sent as if it was. */
const FORGED = [
  SESSION,
  'Terrarium_Session_4700=x; Path=/; HttpOnly',
  '__Host-terrarium_session=x; Secure; Path=/',
  '__SECURE-terrarium_x=1',
  ' terrarium_x=1',
  '=terrarium_session_4700=x',
  '= ==terrarium_session_4700=x',
  'terrarium_session_4700',
];

async function lambdaAt(path: string, result?: unknown): Promise<TestGateway> {
  const gateway = await new TestGateway().start();
  cleanUps.push(() => gateway.stop());
  const lambda = gateway.lambda(() => (result === undefined ? text('seen') : json(result)));
  gateway.endpoint(gateway.api('web'), lambda, { resource: path, is_http_aware: true });
  return gateway;
}

async function shop(): Promise<TestShop> {
  const started = new TestShop();
  cleanUps.push(() => started.stop());
  await started.gateway.start();
  return started;
}

describe('a cookie of the window (D-214)', () => {
  it.each(COOKIE_HEADERS)('reaches no lambda, and no record: %s', async (_title, cookies, appCookies) => {
    const gateway = await lambdaAt('/x');
    await gateway.send('GET', '/web/x', { headers: { Cookie: cookies } });
    expect(gateway.calls[0]?.context.headers.cookie).toBe(appCookies);
    const at = gateway.traffic[0]?.requestHeaders.indexOf('Cookie') ?? -1;
    expect(at < 0 ? undefined : gateway.traffic[0]?.requestHeaders[at + 1]).toBe(appCookies);
  });

  it('reaches none in a header of its own either', async () => {
    const gateway = await lambdaAt('/x');
    await gateway.sendRaw(
      `GET /web/x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nCookie: ${SESSION}\r\ncOOkie: a=1; ${SESSION}\r\nCookie: b=2\r\n\r\n`,
    );
    expect(gateway.calls[0]?.context.headers.cookie).toBe('a=1; b=2');
    expect(gateway.traffic[0]?.requestHeaders.join()).not.toContain('let-me-in');
  });

  it.each(COOKIE_HEADERS)('reaches no container: %s', async (_title, cookies, appCookies) => {
    const web = await shop();
    let receivedCookies: string | undefined = 'nothing came';
    await web.instance((request, response) => {
      receivedCookies = request.headers.cookie;
      response.end();
    });
    await web.gateway.send('GET', '/web/shop', { headers: { Cookie: cookies } });
    expect(receivedCookies).toBe(appCookies);
  });

  it('reaches no container by a WebSocket, nor by a request that offers another protocol', async () => {
    const web = await shop();
    const receivedCookies: (string | undefined)[] = [];
    const instance = await web.instance((request, response) => {
      receivedCookies.push(request.headers.cookie);
      response.end();
    });
    const sockets = new WebSocketServer({ server: instance.server });
    sockets.on('connection', (_socket: ClientSocket, request) => receivedCookies.push(request.headers.cookie));
    const headers = { Cookie: `${SESSION}; a=1` };
    const socket = new WebSocket(`ws://127.0.0.1:${web.gateway.port}/web/shop`, { headers });
    await once(socket, 'open');
    socket.close();
    await once(socket, 'close');
    await web.gateway.send('GET', '/web/shop', {
      headers: { ...headers, Connection: 'Upgrade', Upgrade: 'h2c' },
    });
    expect(receivedCookies).toEqual(['a=1', 'a=1']);
  });

  it.each(FORGED)('comes from no lambda: %j', async (line) => {
    const gateway = await lambdaAt('/x', { statusCode: 200, headers: { 'sEt-cookie': [line, 'a=1', 'terrarium=2'] } });
    const got = await gateway.send('GET', '/web/x');
    expect(got.headers['set-cookie']).toEqual(['a=1', 'terrarium=2']);
    const alone = await lambdaAt('/x', { statusCode: 200, headers: { 'Set-Cookie': line } });
    expect((await alone.send('GET', '/web/x')).headers['set-cookie']).toBeUndefined();
  });

  it.each(FORGED)('comes from no container: %j', async (line) => {
    const web = await shop();
    await web.instance((_request, response) =>
      response.writeHead(200, ['SET-COOKIE', line, 'Set-Cookie', 'a=1']).end(),
    );
    const got = await web.gateway.send('GET', '/web/shop');
    expect(got.headers['set-cookie']).toEqual(['a=1']);
    expect(web.gateway.traffic[0]?.responseHeaders).not.toContain(line);
  });

  it.each(['Clear-Site-Data', 'ALT-SVC'])(
    'cannot be cleared or redirected by %s of a lambda or container',
    async (name) => {
      const value = '"cookies", "storage"';
      const lambda = await lambdaAt('/x', { statusCode: 200, headers: { [name]: value, 'x-own': '1' } });
      const web = await shop();
      await web.instance((_request, response) => response.writeHead(200, [name, value, 'x-own', '1']).end());
      for (const got of [await lambda.send('GET', '/web/x'), await web.gateway.send('GET', '/web/shop')]) {
        expect([got.status, got.headers['x-own'], got.headers[name.toLowerCase()]]).toEqual([200, '1', undefined]);
      }
    },
  );

  it('comes from no container in the handshake of a WebSocket', async () => {
    const web = await shop();
    const instance = await web.instance((_request, response) => response.end());
    const sockets = new WebSocketServer({ server: instance.server });
    sockets.on('headers', (lines) => lines.push(`Set-Cookie: ${SESSION}`, 'Set-Cookie: a=1'));
    const socket = new WebSocket(`ws://127.0.0.1:${web.gateway.port}/web/shop`);
    const [answer] = await once(socket, 'upgrade');
    expect(answer.headers['set-cookie']).toEqual(['a=1']);
    socket.close();
    await once(socket, 'close');
  });

  it.each(['terrarium.localhost', 'TERRARIUM.localhost.:4701'])(
    'has no page of the gateway beside it: nothing answers as %s',
    async (host) => {
      const gateway = await lambdaAt('/x');
      expect(await gateway.send('GET', '/web/x', { headers: { Host: host } })).toMatchObject({
        status: 403,
        json: { code: 403, reason: 'host_not_allowed', message: expect.stringContaining('use localhost') },
      });
      expect(gateway.calls).toEqual([]);
    },
  );
});
