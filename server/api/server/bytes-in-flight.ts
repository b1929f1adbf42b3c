import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { PlatformError } from '../../model/errors.ts';
import { refuseConnection } from './connection-faults.ts';

const DEFAULT_MAX_BYTES = 256 * 1024 * 1024;
/** Interval at which unread bytes of responses are measured. */
const LOOK_MS = 250;
const REFUSAL = new PlatformError(
  'overloaded',
  'too many incomplete requests and unread responses are open. Repeat the request later.',
);

export interface FlightLimits {
  /** The largest body of a request; several always fit. */
  requestBodyBytes?: number;
  maxBytes?: number;
  /** Headers of every response of this listener. */
  headers?: Readonly<Record<string, string>>;
  /** The form of an error by path (default: that of the resource service). */
  bodyOf?(path: string, error: PlatformError): object;
}

interface Connection {
  readonly socket: Socket;
  readonly flight: BytesInFlight;
  request: IncomingMessage;
  response: ServerResponse | undefined;
  bodyBytes: number;
  unreadBytes: number;
}

const connections = new WeakMap<Socket, Connection>();

/**
 * Limits the memory that all clients of a listener hold by bodies of requests without a response, and by responses that they do not read.
 * Above it, the connection that has made no progress for the longest time is closed. Call this when the server has its listeners.
 */
export function limitBytesInFlight(server: Server, limits: FlightLimits = {}): void {
  const flight = new BytesInFlight(limits);
  // A listener for one of these changes what node:http does with such requests, so only those of the server are added to.
  for (const event of ['request', 'checkContinue', 'upgrade']) {
    if (server.listenerCount(event) === 0) continue;
    server.prependListener(event, (request: IncomingMessage, second: ServerResponse | Duplex) =>
      flight.follow(request, second instanceof ServerResponse ? second : undefined),
    );
  }
}

/** Counts a body that is kept in memory until its request has a response. Call this before reading it. */
export function countBody(request: IncomingMessage): void {
  const connection = connections.get(request.socket);
  if (!connection) return; // the listener has no limit
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    connection.flight.received(connection, chunk.length);
  });
  // The close of the request comes with its last byte.
  (connection.response ?? connection.socket).once('close', () => connection.flight.release(connection, bytes));
}

class BytesInFlight {
  readonly #maxBytes: number;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #bodyOf: FlightLimits['bodyOf'];
  /** Open connections; those that made progress last are last. */
  readonly #connections = new Set<Connection>();
  #bodyBytes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor({ requestBodyBytes = 0, maxBytes, headers = {}, bodyOf }: FlightLimits) {
    this.#maxBytes = maxBytes ?? Math.max(DEFAULT_MAX_BYTES, 4 * requestBodyBytes);
    this.#headers = headers;
    this.#bodyOf = bodyOf;
  }

  follow(request: IncomingMessage, response: ServerResponse | undefined): void {
    const { socket } = request;
    const connection = connections.get(socket);
    if (connection) {
      connection.request = request;
      connection.response = response;
    } else {
      const connection = { socket, flight: this, request, response, bodyBytes: 0, unreadBytes: 0 };
      connections.set(socket, connection);
      this.#connections.add(connection);
      socket.once('close', () => this.#connections.delete(connection));
    }
    this.#timer ??= setTimeout(() => this.#look(), LOOK_MS).unref();
  }

  received(connection: Connection, bytes: number): void {
    connection.bodyBytes += bytes;
    this.#bodyBytes += bytes;
    this.#progressed(connection);
    if (this.#bodyBytes > this.#maxBytes) this.#closeOverLimit();
  }

  release(connection: Connection, bytes: number): void {
    connection.bodyBytes -= bytes;
    this.#bodyBytes -= bytes;
  }

  #progressed(connection: Connection): void {
    if (this.#connections.delete(connection)) this.#connections.add(connection);
  }

  #look(): void {
    this.#timer = undefined;
    let isOpen = false;
    for (const connection of [...this.#connections]) {
      const { writableLength } = connection.socket;
      // A response can begin long after its request.
      if (writableLength > 0 || !connection.response?.closed) isOpen = true;
      if (writableLength < connection.unreadBytes) this.#progressed(connection);
      connection.unreadBytes = writableLength;
    }
    if (!isOpen) return;
    this.#closeOverLimit();
    this.#timer ??= setTimeout(() => this.#look(), LOOK_MS).unref();
  }

  /** Closes connections until the rest is within the limit. A single one with a large response continues. */
  #closeOverLimit(): void {
    const holding = [...this.#connections].filter(({ bodyBytes, unreadBytes }) => bodyBytes + unreadBytes > 0);
    let bytes = holding.reduce((sum, { bodyBytes, unreadBytes }) => sum + bodyBytes + unreadBytes, 0);
    for (const connection of holding) {
      if (bytes <= this.#maxBytes) return;
      const { request, bodyBytes, unreadBytes } = connection;
      // The platform itself takes its time for a complete request.
      const isClientsTurn = unreadBytes > 0 ? holding.length > 1 : !request.complete;
      if (!isClientsTurn) continue;
      bytes -= bodyBytes + unreadBytes;
      this.#close(connection);
    }
  }

  #close(connection: Connection): void {
    const { socket, request, response } = connection;
    this.#connections.delete(connection);
    // With a response that has begun, or that waits for those of earlier requests, a refusal would be read as a part of another one.
    if (!response || response.headersSent || response.socket !== socket) socket.destroy();
    else {
      request.removeAllListeners('data').pause(); // its reader must not take a part for the whole
      const [path = ''] = request.url?.split('?', 1) ?? [];
      refuseConnection(socket, REFUSAL, this.#headers, this.#bodyOf?.(path, REFUSAL));
      socket.once('finish', () => socket.destroy()); // its reader then releases the memory
    }
  }
}
