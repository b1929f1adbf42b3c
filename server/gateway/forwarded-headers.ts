import type { IncomingMessage } from 'node:http';
import { isWebSocketHandshake } from '../api/server/upgrades.ts';
import { readTraceParent, traceParentFor } from '../model/trace.ts';
import type { ContainerRequest } from './container-request.ts';

/** Headers about one connection instead of the message (RFC 9110, 7.6.1; RFC 2616, 13.5.1). */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
]);

const REWRITTEN: ReadonlySet<string> = new Set([
  'expect',
  'host',
  'traceparent',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-prefix',
  'x-forwarded-proto',
]);

/** Headers of a response in which a container may name itself by the host that it was asked as. */
const ADDRESS_HEADERS: ReadonlySet<string> = new Set(['content-location', 'location', 'refresh']);

const BODILESS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE']);

/** Headers of a response that only the gateway sets (D-156, D-157, D-199). */
const GATEWAY_HEADERS = /^(x-terrarium-.*|x-ratelimit-(limit|remaining)-minute)$/i;

/** A request's headers for an instance, in the client's order and letter case, with forwarding headers and the service's host (D-159). */
export function requestLines({ request, serviceHost, askedHost, prefix, exchangeId }: ContainerRequest): string[] {
  const { headers, method = '' } = request;
  const isUpgrade = isWebSocketHandshake(request);
  const codings = headers['transfer-encoding'];
  const lines = ['Host', serviceHost];
  if (codings !== undefined) lines.push('Transfer-Encoding', codings);
  else if (headers['content-length'] === undefined && !BODILESS.has(method)) lines.push('Content-Length', '0');
  if (isUpgrade) lines.push('Connection', 'Upgrade', 'Upgrade', 'websocket');
  const trace = readTraceParent(singleValue(headers.traceparent));
  const isLeftOut = (name: string) =>
    REWRITTEN.has(name) ||
    (name === 'trailer' && codings === undefined) ||
    // The trace headers of the client are replaced.
    (name === 'tracestate' && !trace);
  pushEndToEnd(lines, request, isLeftOut);
  lines.push('X-Forwarded-For', listed(headers['x-forwarded-for'], request.socket.remoteAddress));
  const { protocol, host, fullPrefix } = publicAddress({ request, askedHost, prefix });
  lines.push('X-Forwarded-Proto', protocol);
  if (host) lines.push('X-Forwarded-Host', host);
  if (fullPrefix !== '') lines.push('X-Forwarded-Prefix', fullPrefix);
  lines.push('traceparent', traceParentFor(exchangeId, trace));
  return lines;
}

export function answerLines(answer: IncomingMessage, call: ContainerRequest): string[] {
  const { request, controlHeaders } = call;
  const isChunked = answer.headers['transfer-encoding'] !== undefined && request.httpVersion === '1.1';
  const isWithoutBody = answer.statusCode === 204 || answer.statusCode === 304;
  const ownLines: string[] = [];
  pushEndToEnd(
    ownLines,
    answer,
    (name, value) => (name === 'trailer' && (!isChunked || isWithoutBody)) || affectsWindow(name, value),
  );
  for (let at = 0; at < ownLines.length; at += 2)
    if (ADDRESS_HEADERS.has((ownLines[at] ?? '').toLowerCase()))
      ownLines[at + 1] = withPublicAddress(ownLines[at + 1] ?? '', call);
  // Without it, some clients would take the end of the headers for the end of the connection.
  if (isChunked && request.method === 'HEAD' && !isWithoutBody) ownLines.push('Transfer-Encoding', 'chunked');
  const lines = controlHeaders(ownLines);
  const reported = new Set(
    lines.filter((name, at) => at % 2 === 0 && GATEWAY_HEADERS.test(name)).map((name) => name.toLowerCase()),
  );
  for (let at = 0; at < ownLines.length; at += 2) {
    const name = ownLines[at] ?? '';
    if (!reported.has(name.toLowerCase())) lines.push(name, ownLines[at + 1] ?? '');
  }
  return lines;
}

/** A proxy in front of the gateway, for example one that terminates TLS, knows better what the client requested. */
function publicAddress({ request, askedHost, prefix }: Pick<ContainerRequest, 'request' | 'askedHost' | 'prefix'>) {
  const { headers } = request;
  return {
    protocol: singleValue(headers['x-forwarded-proto']) || 'http',
    host: singleValue(headers['x-forwarded-host']) || askedHost,
    fullPrefix: `${singleValue(headers['x-forwarded-prefix'])}${prefix}`,
  };
}

/** Replaces the service's own address, which no client can resolve, as nginx does by default (D-159). */
function withPublicAddress(value: string, call: ContainerRequest): string {
  const { protocol, host, fullPrefix } = publicAddress(call);
  const start = /^(?:\s*\d+\s*[;,]\s*(?:url\s*=\s*)?["']?)?/i.exec(value)?.[0] ?? '';
  const address = value.slice(start.length);
  const internalAddress = ['http://', 'https://']
    .map((scheme) => scheme + call.serviceHost)
    .find((prefix) => address.toLowerCase().startsWith(prefix.toLowerCase()));
  if (host === undefined || internalAddress === undefined) return value;
  const path = address.slice(internalAddress.length);
  // Another port, or a longer name.
  if (!/^([/?#"']|$)/.test(path)) return value;
  return `${start}${protocol}://${host}${fullPrefix}${path.startsWith('/') ? '' : '/'}${path}`;
}

function pushEndToEnd(
  lines: string[],
  message: IncomingMessage,
  isLeftOut: (name: string, value: string) => boolean,
): void {
  const { rawHeaders } = message;
  const named = (message.headers.connection ?? '').split(',').map((token) => token.trim().toLowerCase());
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = [rawHeaders[at], rawHeaders[at + 1]];
    const lowerName = name.toLowerCase();
    if (HOP_BY_HOP.has(lowerName) || isLeftOut(lowerName, value)) continue;
    // Content-Length is about the message even if the Connection header names it.
    if (named.includes(lowerName) && lowerName !== 'content-length') continue;
    lines.push(name, value);
  }
}

function listed(before: string | string[] | undefined, peer: string | undefined): string {
  const address = (peer ?? 'unknown').replace(/^::ffff:(?=\d+\.)/i, '');
  const earlierAddresses = singleValue(before);
  return earlierAddresses === '' ? address : `${earlierAddresses}, ${address}`;
}

/** node:http joins repeated headers of this kind with commas. */
function singleValue(value: string | string[] | undefined): string {
  return Array.isArray(value) ? value.join(', ') : (value ?? '');
}

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
