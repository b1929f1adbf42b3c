import type { IncomingMessage } from 'node:http';

const READING: readonly (string | undefined)[] = ['GET', 'HEAD', 'OPTIONS'];
/** What browsers say of requests that the page itself, or the person in front of it, has made. */
const OWN_SITES: readonly unknown[] = [undefined, 'same-origin', 'none'];

/**
 * Would this request change something on behalf of a web page from elsewhere? Browsers send plain forms to anywhere, and name the
 * page's origin with them; other clients name none.
 */
export function isForeignWrite({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): boolean {
  if (READING.includes(method)) return false;
  if (!OWN_SITES.includes(headers['sec-fetch-site'])) return true;
  const { origin, host } = headers;
  if (origin === undefined) return false;
  return !URL.canParse(origin) || new URL(origin).host !== host?.toLowerCase();
}
