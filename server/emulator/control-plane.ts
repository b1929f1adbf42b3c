import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import express, { type RequestHandler } from 'express';
import { answerErrors } from '../http/answer-error.ts';
import { refuseMalformed } from '../http/connection-faults.ts';
import { type ExchangeRecording, recordExchange } from '../http/exchange-recording.ts';
import { forExpress } from '../http/for-express.ts';
import { isOurHost } from '../http/host-guard.ts';
import { keepIdleConnections } from '../http/idle-connections.ts';
import { BODY_LIMIT_SETTING } from '../http/read-body.ts';
import { type ArrivalTimes, cutSlowClients } from '../http/slow-clients.ts';
import { isWebSocketHandshake, readAsPlainRequest, responseToHandshake } from '../http/upgrades.ts';
import type { WindDown } from '../http/wind-down.ts';
import { PlatformError } from '../model/errors.ts';

export interface ControlPlaneOptions {
  version: string;
  /** Host names besides the loopback ones; lower case, without port. */
  allowedHosts: ReadonlySet<string>;
  /** Web origins that may call us (D-013). */
  corsOrigins: readonly string[];
  limits: { requestTargetBytes: number; requestBodyBytes: number };
  windDown: WindDown;
  /** How long requests may take to arrive, unless as long as usual. */
  arrivalTimes?: ArrivalTimes;
  /** Looks at each request before the services do, and may give it the credentials of its session. */
  admit?(request: IncomingMessage): void;
  /** Tells of requests and their answers once they are over. */
  recording?: ExchangeRecording;
  /** What answers below which path, e.g. `/meta`. */
  routers: Readonly<Record<string, RequestHandler>>;
  onFault(fault: unknown): void;
}

const MAX_HEADERS_BYTES = 32 * 1024;

/** The listener of `{base_url}`: what holds for every request of the control plane, then the services. */
export function createControlPlane(options: ControlPlaneOptions): Server {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('case sensitive routing', true);
  app.set(BODY_LIMIT_SETTING, options.limits.requestBodyBytes);
  app.use(everyAnswer(options));
  app.use(allowOrigins(options.corsOrigins));
  app.use((req, res, next) => {
    options.windDown.admit(req, res);
    options.admit?.(req);
    next();
  });
  for (const [path, router] of Object.entries(options.routers)) app.use(path, router);
  app.use((req) => {
    throw new PlatformError(404, `no route: ${req.method} ${req.path}`);
  });
  app.use(answerErrors(options.onFault));

  const server = createServer(
    forExpress(app, {
      maxHeaderSize: options.limits.requestTargetBytes + MAX_HEADERS_BYTES,
      ...cutSlowClients(options.arrivalTimes),
      ...keepIdleConnections(),
      requireHostHeader: false, // node:http would answer without a body
    }),
    (req, res) => {
      unanswered.set(req.socket, res);
      answer(req, res);
    },
  );
  /** The last response of each connection. */
  const unanswered = new WeakMap<Socket, ServerResponse>();
  const answer = (req: IncomingMessage, res: ServerResponse) => {
    req.url = pathOf(req.url ?? '/');
    if (options.recording) recordExchange(req, res, options.recording);
    app(req, res);
  };
  server.on('upgrade', (req, duplex, head) => {
    const socket = duplex as Socket; // TCP, no other Duplex
    socket.on('error', () => {}); // node:http listens no more; its close tells enough
    // Nobody asks for another protocol behind a request that has no answer yet: its answer would be cut in two.
    if (unanswered.get(socket)?.writableFinished === false) socket.destroy();
    else if (!isWebSocketHandshake(req)) readAsPlainRequest(server, socket, req, head);
    else answer(req, responseToHandshake(req, { socket, head }));
  });
  server.on('clientError', (fault, socket) => {
    const headers = { 'X-Terrarium-Version': options.version };
    refuseMalformed(fault, socket, { headers, requestTargetBytes: options.limits.requestTargetBytes });
  });
  return server;
}

/** The path and query of a request target that may be absolute, with doubled slashes taken as one (D-002). */
function pathOf(target: string): string {
  const [path = '', ...query] = target.replace(/^https?:\/\/[^/?]*/i, '').split('?');
  return [path.replace(/\/{2,}/g, '/') || '/', ...query].join('?');
}

/** Version header (D-199), Host check (DNS rebinding), length of the target (D-185). */
function everyAnswer({ version, allowedHosts, limits }: ControlPlaneOptions): RequestHandler {
  return (req, res, next) => {
    res.setHeader('X-Terrarium-Version', version);
    res.setHeader('X-Content-Type-Options', 'nosniff');
    if (req.headers.host === undefined) throw new PlatformError(400, 'the request has no Host header');
    if (!isOurHost(req.headers.host, allowedHosts)) {
      throw new PlatformError(
        403,
        `requests to host '${req.headers.host.slice(0, 255)}' are refused: this emulator answers to localhost and the hosts in the setting allowedHosts`,
      );
    }
    if (req.url.length > limits.requestTargetBytes) {
      throw new PlatformError(414, `the request target is over ${limits.requestTargetBytes} bytes`);
    }
    next();
  };
}

/** CORS for listed origins only; `OPTIONS` on any path is 200 and empty (D-013). */
function allowOrigins(origins: readonly string[]): RequestHandler {
  return (req, res, next) => {
    const { origin } = req.headers;
    if (origins.length > 0) res.setHeader('Vary', 'Origin');
    if (origin !== undefined && origins.includes(origin)) {
      res.setHeader('Access-Control-Allow-Origin', origin);
      res.setHeader('Access-Control-Expose-Headers', 'Location, X-Terrarium-Version');
      if (req.method === 'OPTIONS') {
        res.setHeader('Access-Control-Allow-Methods', 'GET, HEAD, POST, PUT, PATCH, DELETE');
        res.setHeader('Access-Control-Allow-Headers', 'Authorization, Content-Type');
        res.setHeader('Access-Control-Max-Age', '600');
      }
    }
    if (req.method === 'OPTIONS') res.status(200).end();
    else next();
  };
}
