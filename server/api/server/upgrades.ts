import { type IncomingMessage, type Server, type ServerOptions, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { linger } from './connection-faults.ts';

export interface UpgradedConnection {
  socket: Socket;
  /** Bytes that the client sent after its request. */
  head: Buffer;
}

/** A response for an upgrade request, which node:http has detached. The connection is closed after any status but 101. */
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

/** Is the request a handshake of a WebSocket (RFC 6455, 4.1)? Not with a body, whose end would look like frames. */
export function isWebSocketHandshake({
  method,
  httpVersion,
  headers,
}: Pick<IncomingMessage, 'method' | 'httpVersion' | 'headers'>): boolean {
  const protocols = (headers.upgrade ?? '').split(',').map((token) => token.trim().toLowerCase());
  const hasBody = 'transfer-encoding' in headers || Number(headers['content-length'] ?? 0) !== 0;
  return method === 'GET' && httpVersion === '1.1' && protocols.includes('websocket') && !hasBody;
}

/** Other upgrade requests are plain requests (RFC 9110, 7.8). Before Node.js 22.21, `readAsPlainRequest` does this. */
export function upgradeWebSocketsOnly(): ServerOptions {
  // Not in the types of the oldest supported version of Node.js.
  const options: ServerOptions & { shouldUpgradeCallback(request: IncomingMessage): boolean } = {
    shouldUpgradeCallback: isWebSocketHandshake,
  };
  return options;
}

const handshakes = new WeakMap<IncomingMessage, UpgradedConnection & { response: ServerResponse }>();

/** Handles a handshake like a normal request, unless the handler takes over the connection. */
export function responseToHandshake(request: IncomingMessage, connection: UpgradedConnection): ServerResponse {
  const response = responseOn(connection.socket, request);
  handshakes.set(request, { ...connection, response });
  return response;
}

/** Takes over the connection of a handshake and ends its response; undefined for any other request. */
export function takeConnection(request: IncomingMessage): UpgradedConnection | undefined {
  const handshake = handshakes.get(request);
  if (!handshake) return undefined;
  handshakes.delete(request);
  const { response, socket, head } = handshake;
  response.detachSocket(socket);
  response.emit('close');
  return { socket, head };
}

/** Re-parses a request for another upgrade as a plain one, where Node.js has passed it on with an unread body. */
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
