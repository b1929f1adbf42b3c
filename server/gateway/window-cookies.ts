import type { IncomingMessage } from 'node:http';

/** Cookies of the window, and what a browser would take for one of them. */
const OF_THE_WINDOW = /^(__(host|secure)-)?terrarium_/i;

/**
 * Takes the cookies of the window out of a request, for everybody who reads it later: browsers send a cookie to every port of
 * its host, and one of the window signs in to the control plane (D-214).
 */
export function hideWindowCookies(request: IncomingMessage): void {
  const { headers, rawHeaders } = request;
  if (headers.cookie === undefined) return;
  const kept = withoutWindowCookies(headers.cookie);
  if (kept === headers.cookie) return;
  if (kept === '') delete headers.cookie;
  else headers.cookie = kept;
  for (let at = rawHeaders.length - 2; at >= 0; at -= 2) {
    if (rawHeaders[at]?.toLowerCase() !== 'cookie') continue;
    const value = withoutWindowCookies(rawHeaders[at + 1] ?? '');
    if (value === '') rawHeaders.splice(at, 2);
    else rawHeaders[at + 1] = value;
  }
}

/** A Cookie header without those of the window; the very same text when it has none. */
function withoutWindowCookies(header: string): string {
  const cookies = header.split(';').map((cookie) => cookie.trim());
  const kept = cookies.filter((cookie) => !OF_THE_WINDOW.test(cookie));
  return kept.length === cookies.length ? header : kept.filter((cookie) => cookie !== '').join('; ');
}

/** Would a browser that is sent this header line have a cookie of the window's name, or send one that looks like it? */
export function setsWindowCookie(name: string, value: string): boolean {
  // A cookie without a name is sent back as its value alone: `=terrarium_x=1` would come as `terrarium_x=1`.
  return name.toLowerCase() === 'set-cookie' && OF_THE_WINDOW.test(value.replace(/^[\s=]+/, ''));
}
