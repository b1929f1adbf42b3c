import { isWebSocketHandshake } from './upgrades.ts';

const READING: readonly (string | undefined)[] = ['GET', 'HEAD', 'OPTIONS'];
/** Values of Sec-Fetch-Site for requests from the page itself or from the user. */
const OWN_SITES: readonly unknown[] = [undefined, 'same-origin', 'none'];

/** Can a request change something? A WebSocket counts, because any page can open one and send anything. */
export function isWrite(request: Parameters<typeof isWebSocketHandshake>[0]): boolean {
  return !READING.includes(request.method) || isWebSocketHandshake(request);
}

/**
 * True if this is a write request from a page of another origin. Browsers send plain forms anywhere and include the
 * origin of the page; other clients send no origin.
 */
export function isForeignWrite(request: Parameters<typeof isWrite>[0]): boolean {
  if (!isWrite(request)) return false;
  const { headers } = request;
  if (!OWN_SITES.includes(headers['sec-fetch-site'])) return true;
  const { origin, host } = headers;
  if (origin === undefined) return false;
  return !URL.canParse(origin) || new URL(origin).host !== host?.toLowerCase();
}
