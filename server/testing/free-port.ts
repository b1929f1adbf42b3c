import { once } from 'node:events';
import { createServer } from 'node:http';
import { listenAt } from '../api/server/listening.ts';

/** Returns a port that nothing listens on at present, for a program that has to know it before it starts. */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  const server = createServer();
  const { port } = await listenAt(server, { host, port: 0 });
  await once(server.close(), 'close');
  return port;
}
