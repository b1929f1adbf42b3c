import type { IncomingMessage } from 'node:http';
import { isWebSocketHandshake } from '../http/upgrades.ts';
import { readTraceParent, traceParentFor } from '../model/trace.ts';
import type { ContainerRequest } from './container-request.ts';
import { setsWindowCookie } from './window-cookies.ts';

/** Lines that are about one connection, not the message (RFC 9110, 7.6.1; RFC 2616, 13.5.1). */
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

/** What the gateway says itself of a request. */
const REWRITTEN: ReadonlySet<string> = new Set([
  'host',
  'traceparent',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-prefix',
  'x-forwarded-proto',
]);

/** Methods whose requests have no body unless they announce one. */
const BODILESS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE']);

/** Only the gateway tells these of its answers (D-156, D-157, D-199). */
const GATEWAYS_OWN = /^(x-terrarium-.*|x-ratelimit-(limit|remaining)-minute)$/i;

/**
 * The header lines of a request for an instance, names and values alternating, in the client's order and letter case:
 * without what concerned the client's connection, with where the request came from, for the service's host (D-159).
 */
export function requestLines({ request, serviceHost, askedHost, prefix, exchangeId }: ContainerRequest): string[] {
  const { headers, method = '' } = request;
  const isUpgrade = isWebSocketHandshake(request);
  const codings = headers['transfer-encoding'];
  const lines = ['Host', serviceHost];
  if (codings !== undefined) lines.push('Transfer-Encoding', codings);
  else if (headers['content-length'] === undefined && !BODILESS.has(method)) lines.push('Content-Length', '0');
  if (isUpgrade) lines.push('Connection', 'Upgrade', 'Upgrade', 'websocket');
  const trace = readTraceParent(only(headers.traceparent));
  const isLeftOut = (name: string) =>
    REWRITTEN.has(name) ||
    (name === 'trailer' && codings === undefined) ||
    // It belongs to the trace with which it came, and to no other.
    (name === 'tracestate' && !trace);
  pushEndToEnd(lines, request, isLeftOut);
  lines.push('X-Forwarded-For', listed(headers['x-forwarded-for'], request.socket.remoteAddress));
  // Whoever stands in front of the gateway, a tunnel that ends TLS for one, knows better what the client asked for.
  lines.push('X-Forwarded-Proto', only(headers['x-forwarded-proto']) || 'http');
  const host = only(headers['x-forwarded-host']) || askedHost;
  if (host) lines.push('X-Forwarded-Host', host);
  const fullPrefix = `${only(headers['x-forwarded-prefix'])}${prefix}`;
  if (fullPrefix !== '') lines.push('X-Forwarded-Prefix', fullPrefix);
  lines.push('traceparent', traceParentFor(exchangeId, trace));
  return lines;
}

/** The header lines of an instance's answer for the client, those that the gateway adds included. */
export function answerLines(answer: IncomingMessage, { request, controlHeaders }: ContainerRequest): string[] {
  const isChunked = answer.headers['transfer-encoding'] !== undefined && request.httpVersion === '1.1';
  const isWithoutBody = answer.statusCode === 204 || answer.statusCode === 304;
  const own: string[] = [];
  pushEndToEnd(
    own,
    answer,
    (name, value) => (name === 'trailer' && (!isChunked || isWithoutBody)) || setsWindowCookie(name, value),
  );
  // Without it, the end of the head would look like the end of the connection to some clients.
  if (isChunked && request.method === 'HEAD' && !isWithoutBody) own.push('Transfer-Encoding', 'chunked');
  const lines = controlHeaders(own);
  const told = new Set(lines.filter((name, at) => at % 2 === 0 && GATEWAYS_OWN.test(name)).map(lowerCased));
  for (let at = 0; at < own.length; at += 2) {
    const name = own[at] ?? '';
    if (!told.has(name.toLowerCase())) lines.push(name, own[at + 1] ?? '');
  }
  return lines;
}

/** Appends the lines of a message that are meant for its last recipient. */
function pushEndToEnd(
  lines: string[],
  message: IncomingMessage,
  isLeftOut: (name: string, value: string) => boolean,
): void {
  const { rawHeaders } = message;
  const named = tokensOf(message.headers.connection);
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = [rawHeaders[at], rawHeaders[at + 1]];
    const known = name.toLowerCase();
    if (HOP_BY_HOP.has(known) || isLeftOut(known, value)) continue;
    // Whatever is said of the connection, the length of the body is about the message.
    if (named.includes(known) && known !== 'content-length') continue;
    lines.push(name, value);
  }
}

function listed(before: string | string[] | undefined, peer: string | undefined): string {
  const address = (peer ?? 'unknown').replace(/^::ffff:(?=\d+\.)/i, '');
  const sent = only(before);
  return sent === '' ? address : `${sent}, ${address}`;
}

/** node:http joins the lines of a header of that kind with commas. */
function only(value: string | string[] | undefined): string {
  return Array.isArray(value) ? value.join(', ') : (value ?? '');
}

function tokensOf(value: string | undefined): string[] {
  return value === undefined ? [] : value.split(',').map((token) => token.trim().toLowerCase());
}

function lowerCased(text: string): string {
  return text.toLowerCase();
}
