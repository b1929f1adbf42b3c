import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { listenTo, type StreamEvent } from './event-stream.ts';

const cleanUps: (() => unknown)[] = [];
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp();
});

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A stream from a server that answers the first, second ... request so, and what was heard of it. */
async function streamOf(...answers: Answer[]) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    answers[Math.min(requests.push(request), answers.length) - 1]?.(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // a server on a TCP port has one
  const received: StreamEvent[] = [];
  const reported: string[] = [];
  const end = listenTo(`http://127.0.0.1:${port}/`, {
    onOpen: () => reported.push('open'),
    onEvent: (event) => received.push(event),
    onEnd: (isRefused) => reported.push(isRefused ? 'refused' : 'broken'),
  });
  cleanUps.push(() => {
    end();
    server.closeAllConnections();
    server.close();
  });
  return { received, reported, requests };
}

const begin = (response: ServerResponse) =>
  response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8' });

it('delivers events, however the stream is split', async () => {
  const { received, reported } = await streamOf(async (_request, response) => {
    begin(response);
    const bytes = Buffer.from(
      ': hello\n\nid: a-1\nevent: lines\ndata: grün\ndata: and more\n\nevent: other\ndata: x\n\n',
    );
    for (const byte of bytes) {
      response.write(Buffer.of(byte));
      await new Promise(setImmediate);
    }
    response.write('event: lines\ndata: second\n\nevent: lines\ndata: no end');
  });
  await vi.waitFor(() => expect(received).toHaveLength(3), { timeout: 20_000 });
  expect(received).toEqual([
    { name: 'lines', data: 'grün\nand more' },
    { name: 'other', data: 'x' },
    { name: 'lines', data: 'second' },
  ]);
  expect(reported).toEqual(['open']);
});

it('continues after the last event when the connection breaks, and after refusals', async () => {
  const { received, reported, requests } = await streamOf(
    (_request, response) => {
      begin(response).write('retry: 1\n\nid: 7\nevent: lines\ndata: one\n\n', () => response.destroy());
    },
    (_request, response) => void response.writeHead(503).end('{}'),
    (_request, response) => void begin(response).write('id: 8\nevent: lines\ndata: two\n\n'),
  );
  await expect.poll(() => received.map(({ data }) => data)).toEqual(['one', 'two']);
  expect(reported).toEqual(['open', 'broken', 'refused', 'open']);
  expect(requests.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '7', '7']);
});
