import { once } from 'node:events';
import { type ClientRequest, get, type IncomingMessage, request } from 'node:http';
import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { startPlatform } from '../testing/platform.ts';
import { type Emulator, startEmulator } from './emulator.ts';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function started(options = {}): Promise<Emulator> {
  const platform = await startPlatform(options);
  cleanUps.push(() => platform.stop());
  return platform.emulator;
}

async function answerOf(
  clientRequest: ClientRequest,
): Promise<{ status: number; headers: IncomingMessage['headers'] }> {
  clientRequest.end();
  const [answer]: IncomingMessage[] = await once(clientRequest, 'response');
  answer?.resume();
  return { status: answer?.statusCode ?? 0, headers: answer?.headers ?? {} };
}

/** As a browser asks, which leads the name to either loopback address by itself. */
function ask(emulator: Emulator, host: string, path: string, options: { method?: string; headers?: object } = {}) {
  const { port } = new URL(emulator.baseUrl);
  const headers = { Host: `terrarium.localhost:${port}`, ...options.headers };
  return answerOf(request({ host, port, path, method: options.method ?? 'GET', headers, agent: false }));
}

describe('the window', () => {
  it('has a name of its own, at the port of the control plane', async () => {
    const emulator = await started();
    const url = new URL(emulator.windowUrl());
    expect(url.host).toBe(`terrarium.localhost:${new URL(emulator.baseUrl).port}`);
    expect(url.pathname).toBe('/ui/');
    expect(url.searchParams.get('code')).toMatch(/^[\w-]{20,}$/);
    for (const host of ['127.0.0.1', '::1'])
      expect(await ask(emulator, host, '/meta/health')).toMatchObject({ status: 200 });
  });

  it.each(['127.0.0.1', 'terrarium.localhost'])('signs in as %s, by a cookie of that name alone', async (name) => {
    const emulator = await started();
    const { port } = new URL(emulator.baseUrl);
    const headers = { Host: `${name}:${port}`, Origin: `http://${name}:${port}`, 'Content-Type': 'application/json' };
    const clientRequest = request({
      host: '127.0.0.1',
      port,
      path: '/inspect/session',
      method: 'POST',
      headers,
      agent: false,
    });
    clientRequest.write(JSON.stringify({ code: new URL(emulator.windowUrl()).searchParams.get('code') }));
    const { status, headers: got } = await answerOf(clientRequest);
    expect(status).toBe(200);
    const [cookie = ''] = got['set-cookie'] ?? [];
    expect(cookie).toMatch(/^terrarium_session_\d+=[\w-]+; Path=\/; HttpOnly; SameSite=Strict$/);
    const session = { Cookie: cookie.split(';', 1)[0], Host: `${name}:${port}` };
    const sync = (origin: string) =>
      ask(emulator, '127.0.0.1', '/meta/sync', { method: 'POST', headers: { ...session, Origin: origin } });
    expect((await sync(`http://${name}:${port}`)).status).toBe(200);
    // The other name is another site, and so is every other port.
    const other = name === '127.0.0.1' ? 'terrarium.localhost' : '127.0.0.1';
    expect((await sync(`http://${other}:${port}`)).status).toBe(403);
    expect((await sync(`http://${name}:${Number(port) - 1}`)).status).toBe(403);
  });

  it('binds its session to a key: the cookie alone, as other ports of the name are sent it, is good for nothing', async () => {
    const emulator = await started();
    const { baseUrl } = emulator;
    const key = 'k'.repeat(64);
    const code = new URL(emulator.windowUrl()).searchParams.get('code');
    const signIn = (body: object) =>
      fetch(`${baseUrl}/inspect/session`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
    expect((await signIn({ code, key: 'short' })).status).toBe(400);
    const answer = await signIn({ code, key });
    expect(await answer.text()).not.toContain(key);
    const Cookie = answer.headers.getSetCookie()[0]?.split(';', 1)[0] ?? '';
    const status = async (headers: Record<string, string>, method = 'GET') =>
      (await fetch(`${baseUrl}/inspect/session`, { method, headers: { Cookie, Origin: baseUrl, ...headers } })).status;
    expect(await status({})).toBe(401);
    expect(await status({ 'X-Terrarium-Session-Key': 'l'.repeat(64) })).toBe(401);
    await status({}, 'DELETE');
    expect(await status({ 'X-Terrarium-Session-Key': key })).toBe(200);
    expect(await status({ 'X-Terrarium-Session-Key': key }, 'DELETE')).toBe(204);
    expect(await status({ 'X-Terrarium-Session-Key': key })).toBe(401);
  });

  it('is at the plain address, and says why, where another process would be asked first', async () => {
    const other = createServer().listen(0, '::1');
    await once(other, 'listening');
    cleanUps.push(() => other.close());
    const address = other.address();
    const basePort = typeof address === 'object' && address ? address.port : 0;
    const warnings: string[] = [];
    const emulator = await startEmulator({ basePort }, { onWarning: (message) => warnings.push(message) });
    cleanUps.push(() => emulator.stop());
    expect(emulator.windowUrl()).toMatch(`http://127.0.0.1:${basePort}/ui/?code=`);
    expect(warnings).toEqual([expect.stringContaining(`port ${basePort} at [::1] is not available (EADDRINUSE)`)]);
  });

  it('is at the public address that is configured', async () => {
    const emulator = await started({ publicBaseUrl: 'https://jar.example.com' });
    expect(emulator.windowUrl()).toMatch('https://jar.example.com/ui/?code=');
  });

  it('leaves neither address taken', async () => {
    const emulator = await started();
    const port = Number(new URL(emulator.baseUrl).port);
    // A connection that is kept alive.
    await answerOf(get({ host: '::1', port, path: '/meta/health', headers: { Host: 'localhost' } }));
    await emulator.stop();
    for (const host of ['127.0.0.1', '::1']) {
      const next = createServer().listen(port, host);
      await once(next, 'listening');
      next.close();
    }
  });
});
