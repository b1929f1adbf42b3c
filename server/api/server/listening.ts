import { once } from 'node:events';
import { IncomingMessage, type Server, type ServerOptions, ServerResponse } from 'node:http';
import { type AddressInfo, createServer, type Server as NetServer } from 'node:net';
import type { Express } from 'express';
import { codeOf, PlatformError } from '../../model/errors.ts';
import { linger } from './connection-faults.ts';

const IPV6_LOOPBACK = '::1';
/** Without IPv6, clients do not try the IPv6 address. */
const NO_IPV6: readonly unknown[] = ['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EINVAL'];

/** Starts to listen; rejects with the error of the operating system. @param at.port 0 selects a free port */
export async function listenAt(server: NetServer, at: { host: string; port: number }): Promise<AddressInfo> {
  server.listen(at.port, at.host);
  await once(server, 'listening');
  return server.address() as AddressInfo; // a server on a TCP port always has an address
}

export interface LoopbackListening {
  /** True if `localhost` leads to this server and to no other program, whichever address a client tries first. */
  isOurs: boolean;
  /** The additional listener; its connections are those of the HTTP server. */
  second?: NetServer;
  /** The reason why the port at `::1` is not available, if it is not. */
  conflict?: string;
}

/**
 * Also listens on the other loopback address, because clients resolve `localhost` and its subdomains to `::1` first. Without a listener
 * there, some fail and the others are led to any process of another user that listens on our port (D-214).
 */
export async function listenOnIpv6Loopback(server: Server): Promise<LoopbackListening> {
  const { address, port } = server.address() as AddressInfo; // a server on a TCP port always has one
  if (address === '::' || address === IPV6_LOOPBACK) return { isOurs: true };
  if (address !== '127.0.0.1' && address !== '0.0.0.0') return { isOurs: false };
  // As node:http makes its own.
  const second = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit('connection', socket));
  second.listen({ host: IPV6_LOOPBACK, port, ipv6Only: true });
  try {
    await once(second, 'listening');
  } catch (failure) {
    const code = codeOf(failure);
    if (NO_IPV6.includes(code)) return { isOurs: true };
    return { isOurs: false, conflict: `port ${port} at [${IPV6_LOOPBACK}] is not available (${code})` };
  }
  second.on('error', () => {}); // one connection that could not be accepted
  return { isOurs: true, second };
}

/** Stops listening; running requests get a moment to finish. */
export async function closeWithin(server: Server, graceMs: number): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearTimeout(timer);
}

const ANNOUNCED_MS = 5_000;
const UNANNOUNCED_MS = 10_000;

/**
 * Options for a listener with keep-alive connections. It waits longer than it announces: a client that sends at the last moment would get
 * ECONNRESET and could not know whether the request was executed. A client that sends on after a response gets time to read it.
 */
export function keepIdleConnections(announcedMs = ANNOUNCED_MS): ServerOptions {
  class PatientResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
    constructor(request: Request, options?: object) {
      // node:http supports these options, but its types do not include them.
      super(...([request, options] as unknown as [Request]));
      // Comes before node:http closes the connection, if this is the last response.
      this.once('finish', () => {
        const { socket } = request;
        if (request.complete) return;
        socket.destroySoon = () => {
          socket.end();
          linger(socket);
        };
      });
      // By then, node:http has set the announced time and up to a second, unless a further request has been received.
      this.once('close', () => {
        const { socket } = request;
        if ((socket.timeout ?? 0) >= announcedMs) socket.setTimeout(announcedMs + UNANNOUNCED_MS);
      });
    }
  }
  return { keepAliveTimeout: announcedMs, ServerResponse: PatientResponse };
}

export interface ArrivalTimes {
  headersMs: number;
  requestMs: number;
}

const ARRIVAL_TIMES: ArrivalTimes = { headersMs: 20_000, requestMs: 60_000 };

/** Interval at which node:http checks the limits; its default of 30 s would add to each of them. */
const CHECK_MS = 1_000;

/** Options for a listener that disconnects slow clients, because each one uses a connection and memory. */
export function cutSlowClients({ headersMs, requestMs }: ArrivalTimes = ARRIVAL_TIMES): ServerOptions {
  return { headersTimeout: headersMs, requestTimeout: requestMs, connectionsCheckingInterval: CHECK_MS };
}

/**
 * Options for the server of an express app. Express changes the prototype of each request and response, which makes V8 lose their shape:
 * every access takes several times as long, also in node:http. Objects of these classes have the express prototype from the start.
 */
export function forExpress(app: Express, options: ServerOptions = {}): ServerOptions {
  class AppRequest extends IncomingMessage {}
  class AppResponse<R extends IncomingMessage> extends (options.ServerResponse ?? ServerResponse)<R> {}
  app.request = prototypeFor(app, AppRequest.prototype, app.request);
  app.response = prototypeFor(app, AppResponse.prototype, app.response);
  return { ...options, IncomingMessage: AppRequest, ServerResponse: AppResponse };
}

/** The prototype of a class, extended with the methods of express. */
function prototypeFor<T extends object>(app: Express, prototype: object, expressOwn: T): T {
  Object.setPrototypeOf(prototype, Object.getPrototypeOf(expressOwn));
  return Object.assign(prototype, { app }) as T; // its prototype is that of express
}

/** Time for which running requests can continue after the platform was asked to stop. */
const DRAIN_MS = 4_000;
/** Further time to send the responses, while writes are refused. */
const LAST_ANSWERS_MS = 500;

const READING = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Shutdown of the control plane in two steps, so that every change is acknowledged: after `begin`, writes are refused, and lambdas that are
 * finishing can still read; `end` waits for running requests and closes all connections.
 */
export class GracefulShutdown {
  readonly #open = new Set<ServerResponse>();
  #beganAtMs: number | undefined;

  /** Call this before each response. Throws PlatformError 503 for writes after the start of the shutdown. */
  track(request: IncomingMessage, response: ServerResponse): void {
    this.#open.add(response);
    response.once('close', () => this.#open.delete(response));
    if (this.#beganAtMs === undefined) return;
    response.setHeader('Connection', 'close');
    if (READING.has(request.method ?? '')) return;
    throw new PlatformError(
      'stopping',
      'the platform is stopping, so the change was not made. Repeat the request when the platform is running again.',
    );
  }

  begin(): void {
    this.#beganAtMs ??= performance.now();
    for (const response of this.#open) if (!response.headersSent) response.setHeader('Connection', 'close');
  }

  /** Resolves when both listeners and all connections are closed. @param seal makes changes fail that could not be acknowledged any more */
  async end(server: Server, second: NetServer | undefined, seal: () => void): Promise<void> {
    this.begin();
    const listeners = second ? [server, second] : [server];
    const closed = Promise.all(listeners.map((listener) => once(listener, 'close')));
    for (const listener of listeners) listener.close();
    server.closeIdleConnections();
    await this.#answered(DRAIN_MS - (performance.now() - (this.#beganAtMs ?? 0)));
    seal();
    await this.#answered(LAST_ANSWERS_MS);
    server.closeAllConnections();
    await closed;
  }

  /** Resolves when no request is open or the time is over. */
  async #answered(timeoutMs: number): Promise<void> {
    const signal = AbortSignal.timeout(Math.max(0, Math.ceil(timeoutMs)));
    for (const response of this.#open) {
      if (signal.aborted) return;
      await once(response, 'close', { signal }).catch(() => undefined); // the time is over
    }
  }
}
