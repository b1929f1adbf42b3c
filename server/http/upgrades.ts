import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { linger } from './connection-faults.ts';

/** The connection of a request that asked for an upgrade. */
export interface UpgradedConnection {
  socket: Socket;
  /** What the client sent after its request already. */
  head: Buffer;
}

/**
 * A response for a request whose connection node:http has let go of for an upgrade. Whatever is answered but 101, the
 * connection is closed then.
 */
export function responseOn(socket: Socket, request: IncomingMessage): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  socket.setTimeout(0);
  response.on('finish', () => {
    if (response.statusCode === 101) return;
    socket.end();
    linger(socket);
  });
  return response;
}

/** Is the request the opening handshake of a WebSocket (RFC 6455, 4.1)? */
export function isWebSocketHandshake({
  method,
  httpVersion,
  headers,
}: Pick<IncomingMessage, 'method' | 'httpVersion' | 'headers'>): boolean {
  const asked = (headers.upgrade ?? '').split(',').map((token) => token.trim().toLowerCase());
  return method === 'GET' && httpVersion === '1.1' && asked.includes('websocket');
}

/** Handshakes that wait for their answer. */
const handshakes = new WeakMap<IncomingMessage, UpgradedConnection & { response: ServerResponse }>();

/** Has a handshake answered as any request is, unless whoever answers it takes its connection. */
export function responseToHandshake(request: IncomingMessage, connection: UpgradedConnection): ServerResponse {
  const response = responseOn(connection.socket, request);
  handshakes.set(request, { ...connection, response });
  return response;
}

/** The connection of a handshake, from now on the caller's, for whom its response is over; undefined for any other request. */
export function takeConnection(request: IncomingMessage): UpgradedConnection | undefined {
  const taken = handshakes.get(request);
  if (!taken) return undefined;
  handshakes.delete(request);
  const { response, socket, head } = taken;
  response.detachSocket(socket);
  response.emit('close');
  return { socket, head };
}

/**
 * Has a server read a request again that asked for an upgrade nobody can give, as if it had not asked: that is everyone's
 * right (RFC 9110, 7.8), but with a listener for upgrades node:http passes them all to it, body unread.
 */
export function readAsPlainRequest(server: Server, socket: Socket, request: IncomingMessage, head: Buffer): void {
  const { rawHeaders } = request;
  const lines = [`${request.method} ${request.url} HTTP/${request.httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    const value = rawHeaders[at + 1] ?? '';
    lines.push(`${name}: ${name.toLowerCase() === 'connection' ? withoutUpgrade(value) : value}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
}

function withoutUpgrade(connection: string): string {
  return connection
    .split(',')
    .filter((token) => token.trim().toLowerCase() !== 'upgrade')
    .join(',');
}
