import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ErrorCode, errorCodes } from '../../model/error-codes.ts';

/** Time for which a rejected client can continue to send before its connection is closed. */
const LINGER_MS = 2_000;

/** Connections with a sent response: newer versions of node:http report a fault again for every further packet. */
const refused = new WeakSet<Duplex>();

export interface ConnectionRefusal {
  reason: ErrorCode;
  message: string;
}

interface ConnectionFault extends Error {
  code?: string;
  rawPacket?: Buffer;
}

/** The error for invalid bytes; undefined if the connection is already closed. */
function diagnose(fault: ConnectionFault, requestTargetBytes: number): ConnectionRefusal | undefined {
  switch (fault.code) {
    case 'ECONNRESET':
    case 'EPIPE':
      return undefined;
    case 'HPE_HEADER_OVERFLOW':
      return hasLongTarget(fault.rawPacket, requestTargetBytes)
        ? { reason: 'url_too_long', message: `the request target is longer than ${requestTargetBytes} bytes` }
        : { reason: 'headers_too_large', message: 'the request headers are too large' };
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { reason: 'request_timeout', message: 'the request did not arrive in time' };
    default:
      return { reason: 'invalid_request', message: `the bytes received are not an HTTP request (${fault.message})` };
  }
}

/** A header overflow does not name the cause. The packet does if it contains the start of the request. */
function hasLongTarget(packet: Buffer | undefined, maxBytes: number): boolean {
  const line = packet?.toString('latin1').split('\n', 1)[0] ?? '';
  return /^[A-Z]+ /.test(line) && line.length > maxBytes;
}

/**
 * Sends a client the reason of a refusal as JSON (D-160, D-180), and closes the connection. For errors without a response object of
 * node:http.
 *
 * @param headers headers of every response of this listener
 */
export function refuseConnection(
  socket: Duplex,
  { reason, message }: ConnectionRefusal,
  headers: Readonly<Record<string, string>>,
): void {
  const { status } = errorCodes[reason];
  const body = JSON.stringify({ code: status, reason, message });
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

/** Responds to invalid bytes, or just closes the connection if the client has disconnected. */
export function refuseMalformed(
  fault: Error,
  socket: Duplex,
  { headers, requestTargetBytes }: { headers: Readonly<Record<string, string>>; requestTargetBytes: number },
): void {
  if (refused.has(socket)) return;
  const refusal = socket.writable ? diagnose(fault, requestTargetBytes) : undefined;
  if (refusal) refuseConnection(socket, refusal, headers);
  else socket.destroy();
}
