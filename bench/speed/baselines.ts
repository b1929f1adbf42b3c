import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import express from 'express';
import { SUCCESS_TEXT } from './handler.ts';

/*
 * Lower bounds for the same work, and what a developer would write without a framework: servers that do a part of the work and
 * nothing else.
 */

/** Answers in its own process. */
function bare(): Server {
  return createServer(
    withBody((body, answer) => {
      if (body.length === 0) answer('text/plain', Buffer.from(SUCCESS_TEXT));
      else answer('application/json', Buffer.from(JSON.stringify(JSON.parse(body.toString()))));
    }),
  );
}

function withExpress(): Server {
  const app = express();
  app.use(express.json({ limit: '1mb' }));
  app.get('/', (_request, response) => void response.type('text/plain').send(SUCCESS_TEXT));
  app.post('/', (request, response) => void response.json(request.body));
  return createServer(app);
}

/** Two child processes take calls in turn over a pipe (length, body); nothing is recorded, watched or limited. */
function pool(self: string): Server {
  const workers = [0, 1].map(() => {
    const child = fork(self, ['pool-child'], { stdio: ['ignore', 'inherit', 'inherit', 'ipc', 'pipe'] });
    const pipe = child.stdio[4] as Duplex; // asked for as a pipe
    const waiting: ((body: Buffer) => void)[] = [];
    readRaw(pipe, (body) => waiting.shift()?.(body));
    return { pipe, waiting };
  });
  let turn = 0;
  return createServer(
    withBody((body, answer) => {
      const worker = workers[turn++ % workers.length];
      worker?.waiting.push((result) => answer('application/json', result));
      if (worker) writeRaw(worker.pipe, body);
    }),
  );
}

/** The other end of that pipe. */
export function runPoolChild(): void {
  const pipe = new Socket({ fd: 4, readable: true, writable: true });
  readRaw(pipe, (body) =>
    writeRaw(pipe, Buffer.from(body.length === 0 ? SUCCESS_TEXT : JSON.stringify(JSON.parse(body.toString())))),
  );
  process.on('disconnect', () => process.exit());
}

function writeRaw(pipe: Duplex, body: Buffer): void {
  const prefix = Buffer.allocUnsafe(4);
  prefix.writeUInt32BE(body.length);
  pipe.cork();
  pipe.write(prefix);
  pipe.write(body);
  pipe.uncork();
}

function readRaw(pipe: Duplex, take: (body: Buffer) => void): void {
  let pendingBytes: Buffer = Buffer.alloc(0);
  pipe.on('data', (chunk: Buffer) => {
    pendingBytes = pendingBytes.length > 0 ? Buffer.concat([pendingBytes, chunk]) : chunk;
    while (pendingBytes.length >= 4 && pendingBytes.length >= 4 + pendingBytes.readUInt32BE(0)) {
      const end = 4 + pendingBytes.readUInt32BE(0);
      take(pendingBytes.subarray(4, end));
      pendingBytes = pendingBytes.subarray(end);
    }
  });
}

/** A line of every body, on disk before the answer; those that come meanwhile are written together. */
async function journal(folder: string): Promise<Server> {
  const file = await open(join(folder, 'baseline.journal'), 'a');
  let waiting: { line: string; done(): void }[] = [];
  let isWriting = false;
  const write = async (): Promise<void> => {
    isWriting = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      await file.write(batch.map(({ line }) => line).join('\n'));
      await file.datasync();
      for (const { done } of batch) done();
    }
    isWriting = false;
  };
  return createServer(
    withBody((body, answer) => {
      const line = JSON.stringify(JSON.parse(body.toString()));
      waiting.push({ line, done: () => answer('application/json', Buffer.from(line)) });
      if (!isWriting) void write();
    }),
  );
}

function withBody(take: (body: Buffer, answer: (type: string, body: Buffer) => void) => void): RequestListener {
  return (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () =>
      take(Buffer.concat(chunks), (type, body) => {
        response.writeHead(200, { 'Content-Type': type, 'Content-Length': body.length }).end(body);
      }),
    );
  };
}

/**
 * The environment of the processes that others are compared with. It contains no variables that Node reads at its
 * start, because the certificates that such variables name on some machines triple the start time.
 */
export const PLAIN_ENV = { PATH: process.env.PATH };

/** A kind of server; its process is started with this argument. */
export type Baseline = 'bare' | 'pool' | 'express' | 'journal';

/** A separate process that serves, reports its port, and ends with its parent. */
export async function runBaseline(kind: Baseline, self: string, folder: string): Promise<void> {
  const makers = { bare, pool: () => pool(self), express: withExpress, journal: () => journal(folder) };
  const server = await makers[kind]();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.on('disconnect', () => process.exit());
  process.send?.((server.address() as AddressInfo).port); // a server on a TCP port always has one
}

export async function startBaseline(
  kind: Baseline,
  self: string,
  folder: string,
): Promise<{ child: ChildProcess; port: number }> {
  const child = fork(self, ['baseline', kind, folder], { env: PLAIN_ENV });
  const [port] = await once(child, 'message');
  return { child, port };
}
