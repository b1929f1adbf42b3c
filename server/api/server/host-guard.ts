import type { IncomingMessage } from 'node:http';
import { isIP, isIPv4 } from 'node:net';
import { isWebSocketHandshake } from './upgrades.ts';

/** The host name in a Host header: lower case, without port, brackets or trailing dot; undefined if malformed. */
export function hostNameOf(hostHeader: string): string | undefined {
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9_](?:[a-z0-9._-]*[a-z0-9_-])?))\.?(?::\d{1,5})?$/i.exec(hostHeader);
  return (match?.[1] ?? match?.[2])?.toLowerCase();
}

/** The setting `host` for all addresses of the machine. Requests to any of them are accepted: DNS rebinding needs a name. */
const EVERY_ADDRESS = ['0.0.0.0', '::'];

function isLoopback(name: string): boolean {
  return (
    name === 'localhost' || name.endsWith('.localhost') || name === '::1' || (isIPv4(name) && name.startsWith('127.'))
  );
}

/** Is the Host header one of this platform? A page that uses DNS rebinding sends its own name and is refused. @param allowed in lower case, without port */
export function isOurHost(hostHeader: string | undefined, allowed: ReadonlySet<string>): boolean {
  const name = hostHeader === undefined ? undefined : hostNameOf(hostHeader);
  return name !== undefined && isOurName(name, allowed);
}

/** True for a loopback name or address, a configured host, and any IP address where the platform listens on all of them. */
export function isOurName(name: string, allowed: ReadonlySet<string>): boolean {
  return isLoopback(name) || allowed.has(name) || (isIP(name) !== 0 && EVERY_ADDRESS.some((host) => allowed.has(host)));
}

/** The base address as the client sees it, without a trailing slash (D-011). Malformed values of a proxy count as absent. */
export function baseUrlOf(req: IncomingMessage, publicUrl: string | undefined, ownUrl: string): string {
  if (publicUrl !== undefined) return publicUrl;
  const forwardedProto = firstOf(req.headers['x-forwarded-proto']);
  const forwardedHost = firstOf(req.headers['x-forwarded-host']);
  const protocol = forwardedProto === 'https' || forwardedProto === 'http' ? forwardedProto : 'http';
  const host = [forwardedHost, req.headers.host].find(
    (candidate) => candidate !== undefined && hostNameOf(candidate) !== undefined,
  );
  return host === undefined ? ownUrl : `${protocol}://${host}`;
}

function firstOf(header: string | string[] | undefined): string | undefined {
  return (Array.isArray(header) ? header[0] : header)?.split(',', 1)[0]?.trim().toLowerCase();
}

const READING: readonly (string | undefined)[] = ['GET', 'HEAD', 'OPTIONS'];
/** Values of Sec-Fetch-Site for requests from the page itself or from the user. */
const OWN_SITES: readonly unknown[] = [undefined, 'same-origin', 'none'];

/** Can a request change something? A WebSocket counts, because any page can open one and send anything. */
export function isWrite(request: Parameters<typeof isWebSocketHandshake>[0]): boolean {
  return !READING.includes(request.method) || isWebSocketHandshake(request);
}

/** True for a write from a page of another origin: browsers send plain forms anywhere, with the origin of the page. */
export function isForeignWrite(request: Parameters<typeof isWrite>[0]): boolean {
  if (!isWrite(request)) return false;
  const { headers } = request;
  if (!OWN_SITES.includes(headers['sec-fetch-site'])) return true;
  const { origin, host } = headers;
  if (origin === undefined) return false;
  return !URL.canParse(origin) || new URL(origin).host !== host?.toLowerCase();
}
