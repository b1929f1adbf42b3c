import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Body } from './place.ts';

/** What lambdas of a test say of themselves: a loopback server that keeps every JSON body it is sent, in order. */
export interface Witness {
  /** Source of a lambda that tells its event, and is done when it is told. */
  readonly code: string;
  /** Waits until `count` bodies have come since the last call, and takes them. */
  take(count: number): Promise<Body[]>;
  /** Lets those who tell from now on wait for their answer until what is returned is called. */
  hold(): () => void;
  /** What has come since the last call of `take`. */
  readonly untaken: readonly Body[];
  stop(): Promise<void>;
}

/** Starts a witness. */
export async function startWitness(): Promise<Witness> {
  const told: Body[] = [];
  let held = Promise.resolve();
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk);
    told.push(JSON.parse(Buffer.concat(chunks).toString()));
    server.emit('told');
    await held;
    res.end('told');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // a listening TCP server has one
  return {
    code: `
      const http = require('http');
      exports.run = (event, context, callback) => {
        const options = { host: '127.0.0.1', port: ${port}, method: 'POST', agent: false };
        const req = http.request(options, (res) => res.resume().on('end', () => callback(null, 'told')));
        req.on('error', callback).end(event);
      };`,
    async take(count) {
      while (told.length < count) await once(server, 'told');
      return told.splice(0, count);
    },
    hold() {
      let release = () => {};
      held = new Promise((resolve) => {
        release = resolve;
      });
      return () => release();
    },
    untaken: told,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
