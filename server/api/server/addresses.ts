import type { IncomingMessage } from 'node:http';
import { hostNameOf } from './host-guard.ts';

/**
 * The base address as the client sees it (D-011): the configured public address, X-Forwarded-Proto and X-Forwarded-Host from a proxy, or
 * the Host header. Malformed forwarded values count as absent.
 *
 * @returns an address without trailing slash, e.g. `http://127.0.0.1:4700`
 */
export function baseUrlOf(req: IncomingMessage, publicUrl: string | undefined, ownUrl: string): string {
  if (publicUrl !== undefined) return publicUrl;
  const forwardedProto = firstOf(req.headers['x-forwarded-proto']);
  const forwardedHost = firstOf(req.headers['x-forwarded-host']);
  const protocol = forwardedProto === 'https' || forwardedProto === 'http' ? forwardedProto : 'http';
  const host = [forwardedHost, req.headers.host].find((one) => one !== undefined && hostNameOf(one) !== undefined);
  return host === undefined ? ownUrl : `${protocol}://${host}`;
}

function firstOf(header: string | string[] | undefined): string | undefined {
  return (Array.isArray(header) ? header[0] : header)?.split(',', 1)[0]?.trim().toLowerCase();
}
