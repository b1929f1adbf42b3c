import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { PlatformError } from '../../model/errors.ts';

/** Time for which a rejected client can continue to send before its connection is closed. */
const LINGER_MS = 2_000;

/** Connections with a sent response: newer versions of node:http report a fault again for every further packet. */
const refused = new WeakSet<Duplex>();

interface ConnectionFault extends Error {
  code?: string;
  rawPacket?: Buffer;
}

/** The error for invalid bytes; undefined if the connection is already closed. */
function diagnose(fault: ConnectionFault, requestTargetBytes: number): PlatformError | undefined {
  switch (fault.code) {
    case 'ECONNRESET':
    case 'EPIPE':
      return undefined;
    case 'HPE_HEADER_OVERFLOW':
      // The error does not name the cause; the packet does if it contains the start of the request.
      return targetIn(fault).length > requestTargetBytes
        ? new PlatformError('url_too_long', `the request target is longer than ${requestTargetBytes} bytes`)
        : new PlatformError('headers_too_large', 'the request headers are too large');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new PlatformError('request_timeout', 'the request did not arrive in time');
    default:
      return new PlatformError('invalid_request', `the bytes received are not an HTTP request (${fault.message})`);
  }
}

/** The request target in the first packet of a connection; '' if the packet has none. */
function targetIn({ rawPacket }: ConnectionFault): string {
  const line = rawPacket?.toString('latin1').split('\n', 1)[0] ?? '';
  return /^[A-Z]+ (?<target>\S*)/.exec(line)?.groups?.target ?? '';
}

/** Sends the reason of a refusal where node:http has no response object (D-160, D-180), and closes the connection. */
export function refuseConnection(
  socket: Duplex,
  error: PlatformError,
  headers: Readonly<Record<string, string>>,
  form: object = error.body(),
): void {
  const { status } = error;
  const body = JSON.stringify(form);
  const lines = {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
    ...headers,
  };
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...Object.entries(lines).map(([name, value]) => `${name}: ${value}`),
  ];
  refused.add(socket);
  socket.on('error', () => {}); // the client may disconnect before it reads this
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  linger(socket);
}

/** Gives a client time to read the last response: closing a connection with unread bytes resets it, and the response can be lost. */
export function linger(socket: Duplex): void {
  socket.on('end', () => socket.destroy());
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.on('close', () => clearTimeout(timer));
  socket.resume();
}

interface MalformedOptions {
  headers: Readonly<Record<string, string>>;
  requestTargetBytes: number;
  /** The form of an error by path (default: that of the resource service). @param path '' if unknown */
  bodyOf?(path: string, error: PlatformError): object;
}

/** Responds to invalid bytes, or just closes the connection if the client has disconnected. */
export function refuseMalformed(
  fault: Error,
  socket: Duplex,
  { headers, requestTargetBytes, bodyOf }: MalformedOptions,
): void {
  if (refused.has(socket)) return;
  const refusal = socket.writable ? diagnose(fault, requestTargetBytes) : undefined;
  const [path = ''] = targetIn(fault).split('?', 1);
  if (refusal) refuseConnection(socket, refusal, headers, bodyOf?.(path, refusal));
  else socket.destroy();
}
