import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { countBody, type FlightLimits, limitBytesInFlight } from './bytes-in-flight.ts';
import { closeWithin, listenAt } from './listening.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

async function listener(
  limits: FlightLimits,
  answer: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>,
) {
  const server = createServer((request, response) => void answer(request, response));
  limitBytesInFlight(server, limits);
  const { port } = await listenAt(server, { host: '127.0.0.1', port: 0 });
  onTestFinished(() => closeWithin(server, 0));
  return {
    async open(): Promise<Socket> {
      const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
      onTestFinished(() => void socket.destroy());
      socket.on('error', () => {}); // it may be closed while it sends
      await once(socket, 'connect');
      return socket;
    },
  };
}

const head = (bytes: number) => `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${bytes}\r\n\r\n`;

describe('request bodies that are never complete', () => {
  async function upload(limits: FlightLimits) {
    const arrived = new EventEmitter();
    let bytes = 0;
    const { open } = await listener(limits, async (request, response) => {
      countBody(request);
      request.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        arrived.emit('bytes');
      });
      const body = await buffer(request).catch(() => undefined);
      if (body) response.end(String(body.length));
    });
    const waitUntilArrived = async (total: number) => {
      while (bytes < total) await once(arrived, 'bytes');
    };
    return { open, sent: waitUntilArrived };
  }

  it('are refused with 503, those first that have waited longest, and others are accepted', async () => {
    const { open, sent: waitUntilSent } = await upload({ maxBytes: 3 * MIB, headers: { 'X-Terrarium-Version': '1' } });
    const stalled: Socket[] = [];
    for (const at of [1, 2, 3]) {
      const socket = await open();
      socket.write(Buffer.concat([Buffer.from(head(2 * MIB)), Buffer.alloc(MIB - KIB)]));
      stalled.push(socket);
      await waitUntilSent(at * (MIB - KIB));
    }
    const [first, second, third] = stalled;
    first?.write('x');
    await waitUntilSent(3 * (MIB - KIB) + 1);
    const next = await open();
    next.end(Buffer.concat([Buffer.from(head(MIB)), Buffer.alloc(MIB)]));
    expect(await text(next)).toMatch(/^HTTP\/1\.1 200 [\s\S]*1048576$/);
    const refusal = await text(second ?? next);
    expect(refusal).toMatch(/^HTTP\/1\.1 503 /);
    expect(refusal).toContain('X-Terrarium-Version: 1');
    expect(refusal).toContain('Repeat the request later.');
    for (const socket of [first, third]) expect(socket?.readableLength, 'is still open').toBe(0);
  });

  it('do not count any more when they have a response', async () => {
    const { open } = await upload({ maxBytes: MIB + KIB });
    const socket = await open();
    for (let times = 0; times < 5; times += 1) {
      socket.write(Buffer.concat([Buffer.from(head(MIB)), Buffer.alloc(MIB)]));
      const [answer] = await once(socket, 'data');
      expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /);
    }
  });

  it('are counted with those whose response is still awaited, which are not refused', async () => {
    const openResponses: ServerResponse[] = [];
    const events = new EventEmitter();
    const { open } = await listener({ maxBytes: MIB }, async (request, response) => {
      countBody(request);
      if (await buffer(request).catch(() => undefined)) openResponses.push(response);
      events.emit('held');
    });
    const waiting = await open();
    waiting.write(Buffer.concat([Buffer.from(head(MIB - KIB)), Buffer.alloc(MIB - KIB)]));
    await once(events, 'held');
    const next = await open();
    next.write(Buffer.concat([Buffer.from(head(MIB)), Buffer.alloc(MIB / 2)]));
    expect(await text(next)).toMatch(/^HTTP\/1\.1 503 /);
    openResponses[0]?.end('done');
    const [answer] = await once(waiting, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('responses that are not read', () => {
  const LARGE_BYTES = 16 * MIB; // more than the system takes of a response
  const get = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';

  it('end with their connections, those first that have waited longest', async () => {
    const closed: ServerResponse[] = [];
    const { open } = await listener({ maxBytes: 2 * LARGE_BYTES }, (_request, response) => {
      response.once('close', () => closed.push(response)).end(Buffer.alloc(LARGE_BYTES));
    });
    const sockets = await Promise.all([1, 2, 3, 4].map(() => open()));
    for (const socket of sockets) socket.pause().write(get);
    await expect.poll(() => closed.length).toBeGreaterThanOrEqual(2);
    const last = await open();
    last.end(get);
    expect((await buffer(last)).length).toBeGreaterThan(LARGE_BYTES);
  });

  it('end with their connections, also if they begin long after their requests', async () => {
    const closed: ServerResponse[] = [];
    const { open } = await listener({ maxBytes: LARGE_BYTES }, (_request, response) => {
      response.once('close', () => closed.push(response));
      setTimeout(() => response.end(Buffer.alloc(LARGE_BYTES)), 1_000); // later than they are first looked at
    });
    const sockets = await Promise.all([1, 2, 3].map(() => open()));
    for (const socket of sockets) socket.pause().write(get);
    await expect.poll(() => closed.length, { timeout: 60_000 }).toBeGreaterThanOrEqual(2);
  });

  it('of one client alone is not ended by its size', async () => {
    const { open } = await listener({ maxBytes: MIB }, (_request, response) => {
      setTimeout(() => socket.resume(), 1_000); // longer than it takes to look at it
      response.end(Buffer.alloc(LARGE_BYTES));
    });
    const socket = await open();
    socket.pause().end(get);
    const [answer] = await Promise.all([buffer(socket)]);
    expect(answer.length).toBeGreaterThan(LARGE_BYTES);
  });
});
