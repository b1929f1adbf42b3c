import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { codeOf } from '../model/errors.ts';
import { WINDOW_HOST } from '../model/window-host.ts';

const IPV6_LOOPBACK = '::1';
/** Without IPv6, browsers do not try the IPv6 address. */
const NO_IPV6: readonly unknown[] = ['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EINVAL'];

/** The result of listening at the window's name. */
export interface ListeningByName {
  /** True if the name leads to this platform and to no other program. */
  isOurs: boolean;
  /** The reason why the name does not lead here, if a user might wonder. */
  hint?: string;
  /** The additional listener; its connections are those of the HTTP server. */
  second?: Server;
}

/**
 * Also listens on the other loopback address. Browsers resolve the window's name to `::1` first, and use `127.0.0.1` if nothing listens
 * there. Otherwise, a process of another user that listens on our port at `::1` would get the codes and the cookie of the window (D-214).
 * @param server the server that already listens on TCP
 */
export async function listenByName(server: HttpServer): Promise<ListeningByName> {
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
    const hint =
      `port ${port} at [${IPV6_LOOPBACK}] is not available (${code}), where browsers look for http://${WINDOW_HOST}:${port} first. ` +
      'The window uses its plain address, which shares its cookies with every port there. To avoid this, choose another --base-port.';
    return { isOurs: false, hint };
  }
  second.on('error', () => {}); // one connection that could not be accepted
  return { isOurs: true, second };
}
