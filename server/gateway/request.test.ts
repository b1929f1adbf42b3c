import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ClientDisconnected } from '../api/server/whole-body.ts';
import { PlatformError } from '../model/errors.ts';
import { readBody } from './request.ts';

const server = createServer();
beforeEach(() => once(server.listen(0, '127.0.0.1'), 'listening'));
afterEach(() => {
  server.closeAllConnections();
  return once(server.close(), 'close');
});

/** Resolves to the text or the error of reading a request body of up to 10 bytes. */
async function reading(bytes: string, options: { hangUp?: boolean } = {}): Promise<string | Error> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write(`POST / HTTP/1.1\r\nHost: localhost\r\n${bytes}`);
  const [request, response]: [IncomingMessage, ServerResponse] = (await once(server, 'request')) as never;
  if (options.hangUp) socket.destroy();
  const outcome = await readBody(request, response, 10).then(
    (body) => Buffer.from(body).toString(),
    (failure: Error) => failure,
  );
  socket.destroy();
  return outcome;
}

it('is read whole, in chunks or not, or is empty', async () => {
  expect(await reading('Content-Length: 5\r\n\r\nhello')).toBe('hello');
  expect(await reading('Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n')).toBe('hello');
  expect(await reading('\r\n')).toBe('');
  expect(await reading('Content-Length: 0\r\n\r\n')).toBe('');
});

it('is rejected as soon as its size exceeds the limit, before it is complete', async () => {
  for (const head of ['Content-Length: 11\r\n\r\n', 'Transfer-Encoding: chunked\r\n\r\nb\r\nhello world\r\n']) {
    const failure = await reading(head);
    expect(failure).toBeInstanceOf(PlatformError);
    expect(failure).toMatchObject({ status: 413 });
  }
});

it('is given up when its client is gone', async () => {
  expect(await reading('Content-Length: 5\r\n\r\nhe', { hangUp: true })).toBeInstanceOf(ClientDisconnected);
});
