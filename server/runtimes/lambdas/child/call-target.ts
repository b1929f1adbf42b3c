import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import type { OutboundTarget } from '../../../model/outbound-rule.ts';
import type { CrmHost, OwnCrm } from '../process/protocol.ts';

export interface ConnectOptions {
  host?: string;
  port?: number | string;
  path?: string;
  servername?: string;
  ALPNProtocols?: unknown;
  timeout?: number;
  lookup?: LookupFunction;
  [name: string]: unknown;
}

type LookupFunction = typeof import('node:dns').lookup;

/** The options among the arguments of net.connect, tls.connect or Socket.connect, which can be an array that Node has made of them. */
export function connectOptionsIn(args: readonly unknown[]): ConnectOptions {
  const [first, second, third] = Array.isArray(args[0]) ? (args[0] as unknown[]) : args;
  // As: a missing member is undefined, and no caller relies on more.
  if (typeof first === 'object' && first !== null) return first as ConnectOptions;
  const isPort = typeof first === 'number' || (typeof first === 'string' && /^\d+$/.test(first));
  const options = [second, third].find((argument) => typeof argument === 'object' && argument !== null) as
    | ConnectOptions
    | undefined;
  if (!isPort) return { ...options, path: String(first) };
  return { ...options, port: first, ...(typeof second === 'string' && { host: second }) };
}

/**
 * Returns the target of a connection; undefined when it is not a TCP connection.
 *
 * @param findName returns the name by which the lambda has looked up an address
 */
export function targetOf(
  options: ConnectOptions,
  crm: OwnCrm | undefined,
  findName: (address: string) => string | undefined,
): OutboundTarget | undefined {
  const port = Number(options.port);
  if (options.path || !(port > 0)) return undefined;
  const host = String(options.host || 'localhost').replace(/^\[|\]$/g, '');
  // A client that has looked up the address itself names the host for TLS. In a request to a proxy, this is the host behind it.
  const serverName = options.method === 'CONNECT' ? undefined : options.servername;
  const name = isIP(host) ? String(serverName || findName(host) || host) : host;
  const asciiName = (/^\p{ASCII}*$/u.test(name) ? '' : domainToASCII(name)) || name.toLowerCase();
  const hostname = asciiName.replace(/\.$/, '');
  const isOne = (host: CrmHost) => hostname === host.hostname && (host.port === undefined || port === host.port);
  const isCrm = crm?.hosts.some(isOne) === true;
  return { hostname, port, isCrm, ...(name !== host && { address: host }) };
}
