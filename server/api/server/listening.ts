import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Starts to listen; rejects with the error of the operating system. @param at.port 0 selects a free port */
export async function listenAt(server: Server, at: { host: string; port: number }): Promise<AddressInfo> {
  server.listen(at.port, at.host);
  await once(server, 'listening');
  return server.address() as AddressInfo; // a server on a TCP port always has an address
}

/** Stops listening; running requests get a moment to finish. */
export async function closeWithin(server: Server, graceMs: number): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearTimeout(timer);
}
