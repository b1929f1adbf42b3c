import { createServer, type IncomingMessage, type RequestOptions, type Server } from 'node:http';
import { BlockList, isIPv4 } from 'node:net';
import { listenAt } from '../../api/server/listening.ts';
import { NO_TIME_LIMITS, passOn, passOnUpgrade } from './pass-on.ts';

/** Network of a job in a container engine. */
export interface JobNetwork {
  /** `172.18.0.0/16` */
  subnet: string;
  /** The address of this machine in it. */
  gateway: string;
}

/** The name that the network of an engine in a virtual machine passes on to loopback of this machine. */
export const LOOPBACK_FROM_MACHINE = 'host.docker.internal';

/** The route by which a job in a network of its own reaches the platform. */
export interface PlatformRoute {
  /** The text with addresses that are valid in the network in place of those of the platform. */
  translate(text: string): string;
  close(): void;
}

const LOOPBACK = /^(?:127\.[\d.]+|(?:[\w-]+\.)*localhost|\[::1\])$/;

/**
 * Opens a forwarder for each address of the platform, on the gateway address of the network: it answers only clients in that network,
 * and leads only to those addresses. Rejects if the gateway is not an address of this machine.
 *
 * @param network undefined for one in a virtual machine: then the forwarders are on loopback, as the platform itself
 */
export async function openPlatformRoute(
  network: JobNetwork | undefined,
  urls: readonly string[],
): Promise<PlatformRoute> {
  const { gateway, subnet } = network ?? { gateway: '127.0.0.1', subnet: '127.0.0.0/8' };
  const name = network ? gateway : LOOPBACK_FROM_MACHINE;
  const clients = new BlockList();
  const [first = '', prefix = ''] = subnet.split('/');
  clients.addSubnet(first, Number(prefix));
  const isClient = (address = '') =>
    isIPv4(address) && (address !== gateway || network === undefined) && clients.check(address);
  const servers: Server[] = [];
  const close = () => {
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
  };
  const replacements: { pattern: RegExp; address: string }[] = [];
  const translate = (text: string) =>
    replacements.reduce((changed, { pattern, address }) => changed.replace(pattern, address), text);
  try {
    for (const [port, host] of hostsByPort(urls)) {
      const server = createServer(NO_TIME_LIMITS);
      server.on('connection', (socket) => {
        if (!isClient(socket.remoteAddress)) socket.destroy();
      });
      server.on('request', (req, res) => passOn(req, res, onward(req, { port, host, name }), { translate }));
      server.on('upgrade', (req, socket, head) => passOnUpgrade({ socket, head }, onward(req, { port, host, name })));
      const { port: ownPort } = await listenAt(server, { host: gateway, port: 0 });
      servers.push(server);
      // However a variable writes the loopback address.
      const names = `(?<![\\w.-])(?:127\\.[\\d.]+|(?:[\\w-]+\\.)*localhost|\\[::1\\])`;
      replacements.push({ pattern: new RegExp(`${names}:${port}(?!\\d)`, 'g'), address: `${name}:${ownPort}` });
    }
  } catch (failure) {
    close();
    throw failure;
  }
  return { translate, close };
}

/** Returns the hosts of the addresses on loopback that use HTTP, by port. */
function hostsByPort(urls: readonly string[]): Map<string, string> {
  const found = urls
    .map((url) => new URL(url))
    .filter((url) => url.protocol === 'http:' && LOOPBACK.test(url.hostname));
  return new Map(found.map(({ port, host }) => [port, host]));
}

/** Returns the options of the same request to the platform, under the name by which it knows itself. */
function onward(
  req: IncomingMessage,
  { port, host, name }: { port: string; host: string; name: string },
): RequestOptions {
  const { method = 'GET', url: path = '/' } = req;
  const isOurs = req.headers.host === `${name}:${req.socket.localPort}`;
  const headers = { ...req.headers, ...(isOurs && { host }) };
  // Names below localhost are not known to every resolver.
  const hostname = new URL(`http://${host}`).hostname.replace(/^\[|\]$/g, '').replace(/^.*localhost$/, 'localhost');
  return { hostname, port, method, path, headers, agent: false };
}
