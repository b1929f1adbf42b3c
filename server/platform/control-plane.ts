import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import express, { type RequestHandler } from 'express';
import { answerErrors, errorBody } from '../api/server/answer-error.ts';
import { limitBytesInFlight } from '../api/server/bytes-in-flight.ts';
import { compressAnswers } from '../api/server/compress.ts';
import { refuseMalformed } from '../api/server/connection-faults.ts';
import type { FaultRules } from '../api/server/fault-rules.ts';
import { isOurHost } from '../api/server/host-guard.ts';
import {
  type ArrivalTimes,
  cutSlowClients,
  forExpress,
  type GracefulShutdown,
  keepIdleConnections,
} from '../api/server/listening.ts';
import { BODY_LIMIT_SETTING } from '../api/server/read-body.ts';
import { type ExchangeRecording, recordExchange } from '../api/server/record-exchange.ts';
import { RequestTurns } from '../api/server/request-turns.ts';
import {
  isWebSocketHandshake,
  readAsPlainRequest,
  responseToHandshake,
  upgradeWebSocketsOnly,
} from '../api/server/upgrades.ts';
import { COMMIT_HEADER } from '../model/commit.ts';
import { PlatformError } from '../model/errors.ts';

export interface ControlPlaneOptions {
  version: string;
  /** Host names besides the loopback ones; lower case, without port. */
  allowedHosts: ReadonlySet<string>;
  /** Web origins that may call us (D-013). */
  corsOrigins: readonly string[];
  limits: { requestTargetBytes: number; requestBodyBytes: number };
  shutdown: GracefulShutdown;
  /** Time limits for requests to arrive (default: the usual ones). */
  arrivalTimes?: ArrivalTimes;
  /** Resolves when the platform can answer; earlier requests wait. */
  opened: Promise<void>;
  /** Looks at each request before the services do, and may give it the credentials of its session. */
  admit(request: IncomingMessage): void;
  faults: FaultRules;
  /** Tells of requests and their answers once they are over. */
  recording: ExchangeRecording;
  /** The handlers of requests by the path below which they answer, e.g. `/meta`. */
  routers: Readonly<Record<string, RequestHandler>>;
  onFault(fault: unknown): void;
}

const MAX_HEADERS_BYTES = 32 * 1024;

/** The listener of `{base_url}`: what applies to every request of the control plane, then the services. */
export function createControlPlane(options: ControlPlaneOptions): Server {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('case sensitive routing', true);
  app.set(BODY_LIMIT_SETTING, options.limits.requestBodyBytes);
  app.use(compressAnswers());
  app.use(everyResponse(options));
  app.use(allowOrigins(options.corsOrigins));
  let isOpen = false;
  options.opened.then(() => {
    isOpen = true;
  });
  app.use((req, res, next) => {
    options.shutdown.track(req, res);
    if (isOpen) next();
    else options.opened.then(() => next());
  });
  app.use((req, _res, next) => {
    options.admit(req);
    next();
  });
  const bodyOf = (error: PlatformError, path: string) => errorBody(path, error);
  app.use('/meta', options.faults.handlerFor('resources', bodyOf));
  app.use('/security', options.faults.handlerFor('security', bodyOf));
  for (const [path, router] of Object.entries(options.routers)) app.use(path, router);
  app.use((req) => {
    throw new PlatformError('no_route', `no route: ${req.method} ${req.path}`);
  });
  app.use(answerErrors(options.onFault));

  const turns = new RequestTurns();
  const server = createServer(
    forExpress(app, {
      maxHeaderSize: options.limits.requestTargetBytes + MAX_HEADERS_BYTES,
      ...cutSlowClients(options.arrivalTimes),
      ...keepIdleConnections(),
      ...upgradeWebSocketsOnly(),
      requireHostHeader: false, // node:http would answer without a body
    }),
    turns.schedule((req, res) => answer(req, res)),
  );
  const answer = (req: IncomingMessage, res: ServerResponse) => {
    req.url = pathOf(req.url ?? '/');
    recordExchange(req, res, options.recording);
    app(req, res);
  };
  server.on('upgrade', (req, duplex, head) => {
    const socket = duplex as Socket; // TCP, no other Duplex
    socket.on('error', () => {}); // node:http listens no more; its close tells enough
    turns.whenAnswered(socket, () => {
      if (isWebSocketHandshake(req)) answer(req, responseToHandshake(req, { socket, head }));
      else readAsPlainRequest(server, socket, req, head);
    });
  });
  server.on('clientError', (fault, socket) => {
    const headers = { 'X-Terrarium-Version': options.version };
    const { requestTargetBytes } = options.limits;
    // As: TCP, no other Duplex.
    turns.whenRefusable(socket as Socket, () =>
      refuseMalformed(fault, socket, { headers, requestTargetBytes, bodyOf: errorBody }),
    );
  });
  limitBytesInFlight(server, {
    requestBodyBytes: options.limits.requestBodyBytes,
    headers: { 'X-Terrarium-Version': options.version },
    bodyOf: errorBody,
  });
  return server;
}

/** The path and query of a request target that may be absolute, with doubled slashes taken as one (D-002). */
function pathOf(target: string): string {
  const [path = '', ...query] = target.replace(/^https?:\/\/[^/?]*/i, '').split('?');
  return [path.replace(/\/{2,}/g, '/') || '/', ...query].join('?');
}

/** Version header (D-199), Host check (DNS rebinding), length of the target (D-185). */
function everyResponse({ version, allowedHosts, limits }: ControlPlaneOptions): RequestHandler {
  return (req, res, next) => {
    res.setHeader('X-Terrarium-Version', version);
    res.setHeader('X-Content-Type-Options', 'nosniff');
    if (req.headers.host === undefined) throw new PlatformError('invalid_request', 'the request has no Host header');
    if (!isOurHost(req.headers.host, allowedHosts)) {
      throw new PlatformError(
        'host_not_allowed',
        `the platform rejects requests to host '${req.headers.host.slice(0, 255)}'. Use localhost, or add the name to the setting allowedHosts.`,
      );
    }
    if (req.url.length > limits.requestTargetBytes) {
      throw new PlatformError('url_too_long', `the request target is over ${limits.requestTargetBytes} bytes`);
    }
    // Such as `/\\`, which is no path of any service.
    if (!URL.canParse(req.url, 'http://localhost'))
      throw new PlatformError('invalid_url', 'the request target is not a path');
    next();
  };
}

/** Headers that pages of listed origins can read, besides those that CORS always allows. */
const EXPOSED_HEADERS = ['Location', 'WWW-Authenticate', 'Retry-After', COMMIT_HEADER, 'X-Terrarium-Version'].join(
  ', ',
);

/** CORS for listed origins only; `OPTIONS` on any path is 200 and empty (D-013). */
function allowOrigins(origins: readonly string[]): RequestHandler {
  return (req, res, next) => {
    const { origin } = req.headers;
    if (origins.length > 0) res.vary('Origin');
    if (origin !== undefined && origins.includes(origin)) {
      res.setHeader('Access-Control-Allow-Origin', origin);
      res.setHeader('Access-Control-Expose-Headers', EXPOSED_HEADERS);
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
