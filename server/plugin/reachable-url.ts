import type { IncomingHttpHeaders } from 'node:http';
import { isIPv4, type Socket } from 'node:net';

/** An address that works from this machine: a listener on all addresses is reached on the loopback one. */
export function reachableUrl(host: string, port: number, scheme: 'http' | 'https' | 'smtp'): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `${scheme}://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

/** Is the host reachable from this machine only? */
export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}

const FORWARDING_HEADER = /^(forwarded|via|x-real-ip|x-forwarded-.*)$/;

/** Is the client a program on this machine? A request with a header that reverse proxies add is not from one. */
export function isFromThisMachine({
  socket: { remoteAddress = '', localAddress },
  headers,
}: {
  socket: Partial<Pick<Socket, 'remoteAddress' | 'localAddress'>>;
  headers: IncomingHttpHeaders;
}): boolean {
  if (Object.keys(headers).some((name) => FORWARDING_HEADER.test(name))) return false;
  return remoteAddress === localAddress || isLoopbackHost(remoteAddress.replace('::ffff:', ''));
}
