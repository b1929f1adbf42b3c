import { once } from 'node:events';
import { createServer } from 'node:http';
import { closeWithin, listenAt } from '../api/server/listening.ts';
import type { Body } from './tenant.ts';

/** A loopback server that records every JSON body that the lambdas of a test report, in order. */
export interface RequestRecorder {
  /** Source of a lambda that sends its event, and ends after the response. */
  readonly code: string;
  /** Waits until `count` bodies have arrived since the last call, and returns them. */
  take(count: number): Promise<Body[]>;
  /** Delays the responses from now on until the returned function is called. */
  suspend(): () => void;
  /** The bodies since the last call of `take`. */
  readonly untaken: readonly Body[];
  stop(): Promise<void>;
}

/** Starts a recorder. */
export async function startRequestRecorder(): Promise<RequestRecorder> {
  const reported: Body[] = [];
  let whenReleased = Promise.resolve();
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk);
    reported.push(JSON.parse(Buffer.concat(chunks).toString()));
    server.emit('reported');
    await whenReleased;
    res.end('reported');
  });
  const { port } = await listenAt(server, { host: '127.0.0.1', port: 0 });
  return {
    code: `
      const http = require('http');
      exports.run = (event, context, callback) => {
        const options = { host: '127.0.0.1', port: ${port}, method: 'POST', agent: false };
        const req = http.request(options, (res) => res.resume().on('end', () => callback(null, 'reported')));
        req.on('error', callback).end(event);
      };`,
    async take(count) {
      while (reported.length < count) await once(server, 'reported');
      return reported.splice(0, count);
    },
    suspend() {
      let release = () => {};
      whenReleased = new Promise((resolve) => {
        release = resolve;
      });
      return () => release();
    },
    untaken: reported,
    stop: () => closeWithin(server, 0),
  };
}
