import type { IncomingMessage } from 'node:http';

const OF_THE_WINDOW = /^(__(host|secure)-)?terrarium_/i;

/** Removes the window's cookies, which browsers send to every port of its host: they sign in to the control plane (D-214). */
export function hideWindowCookies(request: IncomingMessage): void {
  const { headers, rawHeaders } = request;
  if (headers.cookie === undefined) return;
  const appCookies = withoutWindowCookies(headers.cookie);
  if (appCookies === headers.cookie) return;
  if (appCookies === '') delete headers.cookie;
  else headers.cookie = appCookies;
  for (let at = rawHeaders.length - 2; at >= 0; at -= 2) {
    if (rawHeaders[at]?.toLowerCase() !== 'cookie') continue;
    const value = withoutWindowCookies(rawHeaders[at + 1] ?? '');
    if (value === '') rawHeaders.splice(at, 2);
    else rawHeaders[at + 1] = value;
  }
}

function withoutWindowCookies(header: string): string {
  const cookies = header.split(';').map((cookie) => cookie.trim());
  const appCookies = cookies.filter((cookie) => !OF_THE_WINDOW.test(cookie));
  return appCookies.length === cookies.length ? header : appCookies.filter((cookie) => cookie !== '').join('; ');
}

/** Headers whose effect is on the whole host, with the window, and not on the port of the gateway. */
const OF_THE_HOST: ReadonlySet<string> = new Set(['clear-site-data', 'alt-svc']);

/** Could this header of a response sign the window out, redirect it, or set a cookie that a browser sends like one of the window? */
export function affectsWindow(name: string, value: string): boolean {
  const lowerName = name.toLowerCase();
  // A cookie without a name is sent as its value: `=terrarium_x=1` is sent as `terrarium_x=1`.
  return OF_THE_HOST.has(lowerName) || (lowerName === 'set-cookie' && OF_THE_WINDOW.test(value.replace(/^[\s=]+/, '')));
}
