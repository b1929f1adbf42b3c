import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fetchInProcess, type Init } from './fetch-in-process.ts';

/** The port of the client's end of the last connection, if that was TCP. */
let clientPort: number | undefined;
let closed: Promise<unknown> | undefined;
const server = createServer(async (request, response) => {
  clientPort = request.socket.remotePort;
  closed = once(request.socket, 'close');
  if (request.url === '/broken') request.socket.destroy();
  else if (request.url === '/stream') response.write('one');
  else {
    const { method, url, headers } = request;
    response.setHeader('Set-Cookie', ['a=1', 'b=2']);
    response.statusCode = 404;
    response.end(JSON.stringify({ method, url, headers, body: await text(request) }));
  }
});
let address: string;

beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  // As: a server on a TCP port always has one.
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await fetchInProcess(address, { method: 'GET' });
  expect(clientPort).toBeDefined();
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

describe('a request without TCP', () => {
  it.each<[string, Init]>([
    ['without a body', { method: 'GET', headers: { 'X-One': '1' } }],
    ['of nothing', { method: 'POST' }],
    ['of text', { method: 'PUT', body: 'käse' }],
    ['of text with a type', { method: 'PATCH', headers: { 'Content-Type': 'application/json' }, body: '[]' }],
    ['of a form', { method: 'POST', body: new URLSearchParams({ a: 'b c' }) }],
    ['of bytes', { method: 'DELETE', body: new Uint8Array([65, 66]) }],
  ])('%s is what fetch sends', async (_, init) => {
    const inProcess = await fetchInProcess(`${address}/a b?c=d`, init);
    expect(clientPort).toBeUndefined();
    const overTcp = await fetch(`${address}/a b?c=d`, init);
    expect([inProcess.ok, inProcess.status, inProcess.headers.getSetCookie()]).toEqual([false, 404, ['a=1', 'b=2']]);
    const { headers, ...receivedRequest } = JSON.parse(await inProcess.text());
    const { headers: expectedHeaders, ...wantedSent } = JSON.parse(await overTcp.text());
    expect(receivedRequest).toEqual(wantedSent);
    for (const name of ['connection', 'accept-language', 'accept-encoding', 'sec-fetch-mode']) {
      delete headers[name];
      delete expectedHeaders[name];
    }
    expect(headers).toEqual(expectedHeaders);
  });

  it('fails when the server closes the connection', async () => {
    await expect(fetchInProcess(`${address}/broken`, { method: 'GET' })).rejects.toThrow('socket hang up');
  });

  it('closes the connection when its answer is canceled', async () => {
    const { body } = await fetchInProcess(`${address}/stream`, { method: 'GET' });
    await body?.cancel();
    await closed;
  });
});
