import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, createServer, type Server as NetServer } from 'node:net';
import { codeOf } from '../../model/errors.ts';

const IPV6_LOOPBACK = '::1';
/** Without IPv6, clients do not try the IPv6 address. */
const NO_IPV6: readonly unknown[] = ['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EINVAL'];

/** Starts to listen; rejects with the error of the operating system. @param at.port 0 selects a free port */
export async function listenAt(server: Server, at: { host: string; port: number }): Promise<AddressInfo> {
  server.listen(at.port, at.host);
  await once(server, 'listening');
  return server.address() as AddressInfo; // a server on a TCP port always has an address
}

/** The result of listening on both loopback addresses. */
export interface LoopbackListening {
  /** True if `localhost` leads to this server and to no other program, whichever address a client tries first. */
  isOurs: boolean;
  /** The additional listener; its connections are those of the HTTP server. */
  second?: NetServer;
  /** The reason why the port at `::1` is not available, if it is not. */
  conflict?: string;
}

/**
 * Also listens on the other loopback address, because clients resolve `localhost` and its subdomains to `::1` first. Without a listener
 * there, some fail and the others are led to any process of another user that listens on our port (D-214).
 * @param server the server that already listens on TCP
 */
export async function listenOnIpv6Loopback(server: Server): Promise<LoopbackListening> {
  const { address, port } = server.address() as AddressInfo; // a server on a TCP port always has one
  if (address === '::' || address === IPV6_LOOPBACK) return { isOurs: true };
  if (address !== '127.0.0.1' && address !== '0.0.0.0') return { isOurs: false };
  // As node:http makes its own.
  const second = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit('connection', socket));
  second.listen({ host: IPV6_LOOPBACK, port, ipv6Only: true });
  try {
    await once(second, 'listening');
  } catch (failure) {
    const code = codeOf(failure);
    if (NO_IPV6.includes(code)) return { isOurs: true };
    return { isOurs: false, conflict: `port ${port} at [${IPV6_LOOPBACK}] is not available (${code})` };
  }
  second.on('error', () => {}); // one connection that could not be accepted
  return { isOurs: true, second };
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
