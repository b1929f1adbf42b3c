import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { startPlatform } from '../../testing/platform.ts';
import { keepIdleConnections } from './listening.ts';

/** Sends two requests on a connection, the second one when a server that keeps exactly to the same announcement has closed its own. */
async function answersAfterAnnouncedTime(port: number, announcedMs: number): Promise<string[]> {
  const exact = createServer((_, response) => response.end()).listen(0, '127.0.0.1');
  exact.keepAliveTimeout = announcedMs;
  await once(exact, 'listening');
  const connection = (toPort: number) => {
    const socket = connect(toPort, '127.0.0.1');
    return { socket, ask: () => socket.write('GET /meta/health HTTP/1.1\r\nHost: localhost\r\n\r\n') };
  };
  const tested = connection(port);
  tested.ask();
  const first = String((await once(tested.socket, 'data'))[0]);
  const closed = connection((exact.address() as AddressInfo).port); // a server on a TCP port has one
  closed.ask();
  closed.socket.resume();
  await once(closed.socket, 'close');
  tested.ask();
  const second = String((await once(tested.socket, 'data'))[0]);
  tested.socket.destroy();
  exact.close();
  return [first, second];
}

it('keeps a connection longer than it announces', async () => {
  const server = createServer(keepIdleConnections(1_000), (_request, response) => response.end('ok'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const [first, second] = await answersAfterAnnouncedTime((server.address() as AddressInfo).port, 1_000);
  expect(first).toContain('Keep-Alive: timeout=1\r\n');
  expect(second).toMatch(/^HTTP\/1.1 200/);
  server.close();
});

it('is how the control plane and the gateway keep them', async () => {
  const platform = await startPlatform();
  const { baseUrl, gatewayUrl } = platform.emulator;
  const answers = [baseUrl, gatewayUrl].map((url) => answersAfterAnnouncedTime(Number(new URL(url).port), 5_000));
  for (const [first, second] of await Promise.all(answers)) {
    expect(first).toContain('Keep-Alive: timeout=5\r\n');
    expect(second).toMatch(/^HTTP\/1.1 (200|404)/);
  }
  await platform.stop();
});

it('lets a client that reads nothing before all of its request is sent read an early response', async () => {
  const platform = await startPlatform();
  const { baseUrl, gatewayUrl } = platform.emulator;
  const body = Buffer.alloc(20_000_000);
  const head = `POST /none HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`;
  for (const url of [baseUrl, gatewayUrl]) {
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true });
    socket.write(head);
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject);
      socket.write(body, () => resolve());
    });
    expect(await text(socket)).toMatch(/^HTTP\/1.1 404/);
  }
  await platform.stop();
});
