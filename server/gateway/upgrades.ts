import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How long a client whose WebSocket was refused may go on sending before its connection is cut. */
const LINGER_MS = 2_000;

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
    // Closed at once with bytes unread, the connection would be reset and the client might never see the answer.
    socket.resume();
    socket.on('end', () => socket.destroy());
    const timer = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.on('close', () => clearTimeout(timer));
  });
  return response;
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
