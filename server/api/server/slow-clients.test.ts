import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { closeWithin, cutSlowClients, listenAt } from './listening.ts';

it('a listener without limits of its own gives a client 20 seconds for the headers and 60 for the whole request', () => {
  const { headersTimeout, requestTimeout } = createServer(cutSlowClients());
  expect({ headersTimeout, requestTimeout }).toEqual({ headersTimeout: 20_000, requestTimeout: 60_000 });
});

it('a client that does not send the rest of its body is disconnected', async () => {
  const server = createServer(cutSlowClients({ headersMs: 100, requestMs: 200 }), (request) => request.resume());
  const { port } = await listenAt(server, { host: '127.0.0.1', port: 0 });
  onTestFinished(() => closeWithin(server, 0));
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nhalf');
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 408 /);
});
