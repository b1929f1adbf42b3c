import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

/** How long a refused client may go on sending before its connection is cut. */
const LINGER_MS = 2_000;

/** Connections that were told: newer versions of node:http report a fault again for every further packet. */
const refused = new WeakSet<Duplex>();

/** Why a connection's bytes did not make a request. */
interface ConnectionFault extends Error {
  code?: string;
  rawPacket?: Buffer;
}

/** What a client is told whose bytes are no request; undefined when there is nobody left to tell. */
function diagnose(fault: ConnectionFault, requestTargetBytes: number): { status: number; message: string } | undefined {
  switch (fault.code) {
    case 'ECONNRESET':
    case 'EPIPE':
      return undefined;
    case 'HPE_HEADER_OVERFLOW':
      return hasLongTarget(fault.rawPacket, requestTargetBytes)
        ? { status: 414, message: `the request target is over ${requestTargetBytes} bytes` }
        : { status: 431, message: 'the request headers are too large' };
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: 408, message: 'the request did not arrive in time' };
    default:
      return { status: 400, message: `the bytes received are not an HTTP request (${fault.message})` };
  }
}

/** A header overflow does not say what overflowed; the packet does when the request began in it. */
function hasLongTarget(packet: Buffer | undefined, maxBytes: number): boolean {
  const line = packet?.toString('latin1').split('\n', 1)[0] ?? '';
  return /^[A-Z]+ /.test(line) && line.length > maxBytes;
}

/**
 * Tells a client why its bytes are refused, in JSON as every error (D-160, D-180), and closes the connection. For where
 * node:http has no response object to answer with.
 *
 * @param headers what every answer of this listener carries
 */
export function refuseConnection(
  socket: Duplex,
  { status, message }: { status: number; message: string },
  headers: Readonly<Record<string, string>>,
): void {
  const body = JSON.stringify({ code: status, message });
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
  socket.on('error', () => {}); // the client may be gone before it reads this
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  linger(socket);
}

/** Lets a client read the last answer: closed at once with bytes unread, the connection would be reset and it might never see that. */
export function linger(socket: Duplex): void {
  socket.on('end', () => socket.destroy());
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.on('close', () => clearTimeout(timer));
  socket.resume();
}

/** Answers a connection whose bytes are no request, or just closes it when there is nobody left to tell. */
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
