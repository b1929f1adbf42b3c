import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { ask } from './client.ts';

/** A server that does what it is asked, but drops the connection of the first request before it responds. */
async function startServer(): Promise<string[]> {
  const methods: string[] = [];
  const server = createServer(({ method = '', socket }, response) => {
    methods.push(method);
    if (methods.length === 1) socket.destroy();
    else response.writeHead(method === 'DELETE' ? 404 : 200).end('{"code":404,"message":"it is not there"}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // as: a listening TCP server has such an address
  const nodeFetch = globalThis.fetch;
  vi.stubGlobal('fetch', (path: string, init: RequestInit) => nodeFetch(`http://127.0.0.1:${port}${path}`, init));
  onTestFinished(() => {
    vi.unstubAllGlobals();
    server.close();
  });
  return methods;
}

it.each(['PUT', 'DELETE'] as const)('sends a %s again whose connection was lost', async (method) => {
  const methods = await startServer();
  expect(await ask(method, '/meta/demo/lambdas/one', { body: {} })).toMatchObject({ ok: true });
  expect(methods).toEqual([method, method]);
});

it('does not send a POST again, which may have been done', async () => {
  const methods = await startServer();
  const failure = { kind: 'offline', message: 'the server does not respond' };
  expect(await ask('POST', '/meta/demo/lambdas', { body: {} })).toMatchObject({ ok: false, failure });
  expect(methods).toEqual(['POST']);
});

it('says that the file may be the cause where the request with a file fails', async () => {
  await startServer();
  const failure = { message: 'the server does not respond, or the file cannot be read' };
  expect(await ask('POST', '/inspect/apply', { body: new Blob(['{}']) })).toMatchObject({ failure });
});

it('waits longer for a change, which can wait for a lambda, than for a read', async () => {
  await startServer();
  const limits = vi.spyOn(AbortSignal, 'timeout');
  onTestFinished(() => limits.mockRestore());
  await ask('POST', '/inspect/reset', { body: {} });
  await ask('GET', '/inspect/session');
  expect(limits.mock.calls).toEqual([[15 * 60_000], [60_000]]);
});
