import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** Returns a port that nothing listens on at present, for a program that has to know it before it starts. */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // a listening TCP server has one
  server.close();
  await once(server, 'close');
  return port;
}
