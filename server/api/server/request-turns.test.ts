import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { startPlatform } from '../../testing/platform.ts';
import { RequestTurns } from './request-turns.ts';

const requestTo = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`;

async function listen(listener: RequestListener): Promise<{ server: Server; open(): Promise<Socket> }> {
  const server = createServer(new RequestTurns().schedule(listener)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo; // listening on TCP it is not a string
  return { server, open: () => openAt(port) };
}

async function openAt(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

/** Counts responses. */
function answersOn(socket: Socket): { count: number } {
  const answers = { count: 0 };
  socket.on('data', (chunk) => {
    answers.count += String(chunk).split('HTTP/1.1 ').length - 1;
  });
  return answers;
}

it('requests on other connections are handled between pipelined requests of one client', async () => {
  const startedUrls: (string | undefined)[] = [];
  const { open } = await listen(({ url }, response) => {
    startedUrls.push(url);
    response.end();
  });
  const [ahead, other] = [await open(), await open()];
  ahead.write(requestTo('/ahead').repeat(1_000));
  other.write(requestTo('/other'));
  await once(other, 'data');
  await expect.poll(() => startedUrls.length).toBe(1_001);
  expect(startedUrls.indexOf('/other')).toBeLessThan(1_000);
});

it('a request begins when the previous response is over', async () => {
  const responses: ServerResponse[] = [];
  const { open } = await listen((_request, response) => void responses.push(response));
  const socket = await open();
  const answers = answersOn(socket);
  socket.write(requestTo('/').repeat(3));
  for (const count of [1, 2, 3]) {
    await expect.poll(() => responses.length).toBe(count);
    responses.at(-1)?.end();
    await expect.poll(() => answers.count).toBe(count);
  }
});

it('a connection with many waiting requests is paused, and all get a response in the end', async () => {
  const responses: ServerResponse[] = [];
  const { server, open } = await listen((_request, response) => {
    responses.push(response);
    if (responses.length > 1) response.end();
  });
  const accepted = once(server, 'connection');
  const socket = await open();
  const [served]: Socket[] = await accepted;
  let parsed = 0;
  server.prependListener('request', () => parsed++);
  const answers = answersOn(socket);
  // More than the system buffers for a connection that is not read.
  const count = 15_000;
  socket.write(requestTo('/', `X-Long: ${'x'.repeat(1_000)}\r\n`).repeat(count));
  await expect.poll(() => served?.isPaused()).toBe(true);
  const readBytes = served?.bytesRead;
  // Other connections are served for a while, and this one is not read.
  for (let at = 0; at < 20; at++) {
    const other = await open();
    other.end(requestTo('/other', 'Connection: close\r\n'));
    await once(other.resume(), 'close');
  }
  expect(served?.bytesRead).toBe(readBytes);
  expect(parsed).toBeLessThan(1_000);
  responses[0]?.end();
  await expect.poll(() => answers.count).toBe(count);
});

it('a body that waits with its request arrives whole', async () => {
  const responses: ServerResponse[] = [];
  const bodies: number[] = [];
  const { open } = await listen((request, response) => {
    responses.push(response);
    let length = 0;
    request.on('data', (chunk) => {
      length += chunk.length;
    });
    request.on('end', () => {
      bodies.push(length);
      if (responses.length > 1) response.end();
    });
  });
  const socket = await open();
  const answers = answersOn(socket);
  socket.write(requestTo('/').repeat(100));
  socket.write(`${requestTo('/', 'Content-Length: 1000000\r\n')}${'x'.repeat(1_000_000)}`);
  await expect.poll(() => bodies).toEqual([0]);
  responses[0]?.end();
  await expect.poll(() => answers.count).toBe(101);
  expect(bodies.at(-1)).toBe(1_000_000);
});

it('what waits on a connection that is closed never begins', async () => {
  const responses: ServerResponse[] = [];
  const { open } = await listen((_request, response) => void responses.push(response));
  const socket = await open();
  socket.write(requestTo('/').repeat(3));
  await expect.poll(() => responses.length).toBe(1);
  socket.destroy();
  await once(responses[0] ?? socket, 'close');
  const other = await open();
  other.write(requestTo('/'));
  await expect.poll(() => responses.length).toBe(2);
  expect(responses[1]?.req.socket).not.toBe(responses[0]?.req.socket);
});

it('invalid bytes are refused on the control plane after the earlier responses', async () => {
  const { emulator, stop } = await startPlatform();
  onTestFinished(stop);
  const socket = await openAt(Number(new URL(emulator.baseUrl).port));
  socket.write(`${requestTo('/meta/health').repeat(2)}NONSENSE\r\n\r\n`);
  const got = (await socket.toArray()).join('');
  expect([...got.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['200', '200', '400']);
});
