import { isWebSocketHandshake } from './upgrades.ts';

const READING: readonly (string | undefined)[] = ['GET', 'HEAD', 'OPTIONS'];
/** What browsers say of requests that the page itself, or the person in front of it, has made. */
const OWN_SITES: readonly unknown[] = [undefined, 'same-origin', 'none'];

/** Does a request change something? A WebSocket counts: what is sent over it may do anything, and any page may open one. */
export function isWrite(request: Parameters<typeof isWebSocketHandshake>[0]): boolean {
  return !READING.includes(request.method) || isWebSocketHandshake(request);
}

/**
 * Would this request change something on behalf of a web page from elsewhere? Browsers send plain forms to anywhere, and name the
 * page's origin with them; other clients name none.
 */
export function isForeignWrite(request: Parameters<typeof isWrite>[0]): boolean {
  if (!isWrite(request)) return false;
  const { headers } = request;
  if (!OWN_SITES.includes(headers['sec-fetch-site'])) return true;
  const { origin, host } = headers;
  if (origin === undefined) return false;
  return !URL.canParse(origin) || new URL(origin).host !== host?.toLowerCase();
}
