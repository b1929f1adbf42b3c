import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { limitBytesInFlight } from '../api/server/bytes-in-flight.ts';
import { refuseConnection, refuseMalformed } from '../api/server/connection-faults.ts';
import type { FaultRules } from '../api/server/fault-rules.ts';
import {
  cutSlowClients,
  keepIdleConnections,
  type LoopbackListening,
  listenAt,
  listenOnIpv6Loopback,
} from '../api/server/listening.ts';
import { RequestTurns } from '../api/server/request-turns.ts';
import {
  isWebSocketHandshake,
  readAsPlainRequest,
  responseOn,
  type UpgradedConnection,
  upgradeWebSocketsOnly,
} from '../api/server/upgrades.ts';
import { ClientDisconnected } from '../api/server/whole-body.ts';
import type { Authenticator, Authorizer } from '../model/caller.ts';
import type { Change } from '../model/commit.ts';
import { PlatformError, toPlatformError } from '../model/errors.ts';
import type { ExchangeRecord } from '../model/exchange-record.ts';
import type { KeyedLog } from '../model/keyed-log.ts';
import type { Uuid } from '../model/record.ts';
import { AsyncCalls, AsyncResults, type StoredResult } from './async-results.ts';
import { BuiltInRoutes } from './built-in-routes.ts';
import { CallerCheck, type GatewayAddresses } from './caller-check.ts';
import { ANY_ORIGIN, preflightedMethod } from './cors.ts';
import type { LimitUse } from './endpoint.ts';
import { type Answer, Exchange, errorAnswer } from './exchange.ts';
import { hideWindowCookies } from './forwarded-headers.ts';
import { defaultLimits, type GatewayLimits } from './gateway-limits.ts';
import { Pipeline, type PipelineParts } from './pipeline.ts';
import { PublishedEndpoints } from './published-endpoints.ts';
import { takeReplayOf } from './replay-header.ts';

const MAX_HEADERS_BYTES = 16 * 1024;
/** Maximum number of rejected requests whose bodies are captured at the same time, so that a flood of them takes little memory. */
const MAX_CAPTURING = 64;

export interface ListenAddress {
  host: string;
  port: number;
}

export interface GatewayOptions extends Omit<PipelineParts, 'endpoints' | 'builtIns' | 'callers' | 'calls' | 'limits'> {
  authenticator: Authenticator;
  authorizer: Authorizer;
  results: KeyedLog<StoredResult>;
  addresses(): GatewayAddresses;
  nowMs(): number;
  faults?: FaultRules;
  limits?: Partial<GatewayLimits>;
  onExchange?(record: ExchangeRecord): void;
  /** Called for internal errors, which clients see as a 500 without details. */
  onFault?(fault: unknown): void;
}

/** The data plane ({gateway_url}): serves the endpoints of lambdas and containers on a separate listener (section 11). */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #limits: GatewayLimits;
  readonly #endpoints: PublishedEndpoints;
  readonly #results: AsyncResults;
  readonly #calls: AsyncCalls;
  readonly #pipeline: Pipeline;
  readonly #exchanges = new OpenExchanges((exchange) => {
    const record = exchange.record();
    if (!this.#capturing.has(exchange)) return void this.#options.onExchange?.(record);
    exchange.whenBodyIsRead(() => {
      this.#capturing.delete(exchange);
      this.#options.onExchange?.({ ...record, requestBody: exchange.requestBody });
    });
  });
  readonly #capturing = new Set<Exchange>();
  #server: Server | undefined;
  #loopback: LoopbackListening | undefined;
  #isStopping = false;

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.#limits = { ...defaultLimits, ...options.limits };
    this.#endpoints = new PublishedEndpoints(options.view);
    this.#results = new AsyncResults(options.results, this.#limits, options.nowMs, options.steadyMs);
    this.#calls = new AsyncCalls(options.invoker, this.#results, (fault) => options.onFault?.(fault));
    const callers = new CallerCheck(options);
    const parts = { ...options, callers, calls: this.#calls, results: this.#results, limits: this.#limits };
    this.#pipeline = new Pipeline({ ...parts, endpoints: this.#endpoints, builtIns: new BuiltInRoutes(parts) });
  }

  /** Returns the address, and why the port at `::1` is not available, if it is not. Rejects with the error of the system. */
  async start(at: ListenAddress): Promise<ListenAddress & { conflict: string | undefined }> {
    this.#isStopping = false;
    await this.#results.recover();
    const server = this.#createServer();
    const { address, port } = await listenAt(server, at);
    this.#server = server;
    this.#loopback = await listenOnIpv6Loopback(server);
    return { host: address, port, conflict: this.#loopback.conflict };
  }

  changed(change: Change): void {
    this.#endpoints.changed(change);
  }

  /** The used part of each endpoint's rate limit in the current window (D-155), which ends at a time of the wall clock. */
  limitUses(): ({ endpointId: Uuid } & LimitUse)[] {
    const steadyMs = this.#options.steadyMs();
    const aheadMs = this.#options.nowMs() - steadyMs;
    return Array.from(this.#endpoints.all()).flatMap(({ id, limit }) => {
      if (!limit) return [];
      const { endsAtMs, ...use } = limit.use(steadyMs);
      return [{ endpointId: id, ...use, endsAtMs: endsAtMs && endsAtMs + aheadMs }];
    });
  }

  /** Stops listening, waits for requests and asynchronous invocations within the drain timeout, and closes all connections. */
  async stop(): Promise<void> {
    const server = this.#server;
    if (!server) return;
    this.#server = undefined;
    this.#isStopping = true;
    const listeners = [server, this.#loopback?.second].filter((listener) => listener !== undefined);
    const closed = Promise.all(listeners.map((listener) => new Promise((resolve) => listener.close(resolve))));
    this.#exchanges.cutWebSockets();
    await Promise.race([this.#drained(), wait(this.#limits.drainTimeoutMs, undefined, { ref: false })]);
    this.#exchanges.cut();
    await closed;
    await this.#results.stop();
  }

  async #drained(): Promise<void> {
    await this.#exchanges.none();
    await this.#calls.settled();
  }

  #createServer(): Server {
    const { requestTargetBytes, headersTimeoutMs, requestTimeoutMs, keepAliveTimeoutMs } = this.#limits;
    const server = createServer({
      maxHeaderSize: requestTargetBytes + MAX_HEADERS_BYTES,
      ...cutSlowClients({ headersMs: headersTimeoutMs, requestMs: requestTimeoutMs }),
      ...keepIdleConnections(keepAliveTimeoutMs),
      ...upgradeWebSocketsOnly(),
      requireHostHeader: false, // node:http would respond without a body
    });
    const answer = (request: IncomingMessage, response: ServerResponse, upgrade?: UpgradedConnection) => {
      void this.#answer(this.#open(request, response, upgrade));
    };
    server.on('connection', (socket) => this.#exchanges.follow(socket));
    const turns = new RequestTurns();
    const inTurn = turns.schedule(answer);
    server.on('request', inTurn);
    server.on('checkContinue', inTurn); // the body is requested when it is needed
    const refuseExpectation = turns.schedule((request, response) => {
      const message = `the expectation '${request.headers.expect}' is not supported. Only 100-continue is supported.`;
      this.#send(this.#open(request, response), errorAnswer(new PlatformError('unsupported_expectation', message)));
    });
    server.on('checkExpectation', refuseExpectation);
    server.on('upgrade', (request, duplex, head) => {
      const socket = duplex as Socket; // TCP, no other Duplex
      socket.on('error', () => {}); // node:http no longer listens for errors; the close event is enough
      turns.whenAnswered(socket, () => {
        if (isWebSocketHandshake(request)) answer(request, responseOn(socket, request), { socket, head });
        else readAsPlainRequest(server, socket, request, head);
      });
    });
    server.on('connect', ({ socket }, stream) => {
      const refusal = new PlatformError('not_supported', 'CONNECT is not supported: the gateway is not a proxy');
      turns.whenAnswered(socket, () => refuseConnection(stream, refusal, this.#refusalHeaders()));
    });
    server.on('clientError', (fault, duplex) => {
      const socket = duplex as Socket; // TCP, no other Duplex
      const options = { headers: this.#refusalHeaders(), requestTargetBytes };
      turns.whenRefusable(socket, () => refuseMalformed(fault, socket, options));
    });
    limitBytesInFlight(server, { ...this.#limits, headers: this.#refusalHeaders() });
    return server;
  }

  #open(request: IncomingMessage, response: ServerResponse, upgrade?: UpgradedConnection): Exchange {
    hideWindowCookies(request);
    const replayOf = takeReplayOf(request);
    const exchange = new Exchange(request, response, this.#options.nowMs(), upgrade);
    exchange.replayOf = replayOf;
    this.#exchanges.add(exchange);
    return exchange;
  }

  async #answer(exchange: Exchange): Promise<void> {
    try {
      const { request } = exchange;
      // A preflight is the browser's own request.
      const fault =
        preflightedMethod(request) === undefined && this.#options.faults?.take('gateway', request.method, request.url);
      if (fault) {
        exchange.faultId = fault.ruleId;
        await fault.delayed();
        if (fault.isCut) return void request.socket.destroy();
        exchange.cors = ANY_ORIGIN;
        if (fault.error) return this.#send(exchange, errorAnswer(fault.error));
      }
      const answer = await this.#pipeline.answer(exchange);
      if (answer) this.#send(exchange, answer);
    } catch (thrown) {
      if (!(thrown instanceof ClientDisconnected)) this.#refuse(exchange, thrown);
    }
  }

  #refuse(exchange: Exchange, thrown: unknown): void {
    try {
      const error = toPlatformError(thrown);
      if (error.status === 500) this.#options.onFault?.(thrown);
      const isOpen = !exchange.request.socket.destroyed;
      if (isOpen && exchange.endpointId !== undefined && this.#capturing.size < MAX_CAPTURING) {
        this.#capturing.add(exchange);
        exchange.captureUnreadBody();
      }
      this.#send(exchange, errorAnswer(error));
    } catch (fault) {
      this.#options.onFault?.(fault);
      exchange.response.destroy(); // without a response the connection is useless
    }
  }

  #send(exchange: Exchange, answer: Answer): void {
    exchange.send(answer, this.#options.version, { isLast: this.#isStopping, stallMs: this.#limits.answerStallMs });
  }

  /** The headers of every response (D-157, D-199), for errors without an exchange. */
  #refusalHeaders(): Record<string, string> {
    return {
      'X-Terrarium-Version': this.#options.version,
      'X-Terrarium-Proxy-Latency': '0',
      'X-Terrarium-Upstream-Latency': '0',
      'Server-Timing': 'proxy;dur=0, upstream;dur=0',
    };
  }
}

class OpenExchanges {
  readonly #bySocket = new Map<Socket, Exchange | undefined>();
  #onNone: (() => void) | undefined;
  readonly #onOver: (exchange: Exchange) => void;
  #count = 0;

  constructor(onOver: (exchange: Exchange) => void) {
    this.#onOver = onOver;
  }

  /** Watches a new connection, because its end also ends its exchange. */
  follow(socket: Socket): void {
    if (this.#bySocket.has(socket)) return; // its bytes are parsed a second time
    this.#bySocket.set(socket, undefined);
    socket.on('close', () => {
      const exchange = this.#bySocket.get(socket);
      this.#bySocket.delete(socket);
      if (exchange) this.#close(exchange);
    });
  }

  add(exchange: Exchange): void {
    const { socket } = exchange.request;
    if (!this.#bySocket.has(socket)) return; // its connection is already closed
    this.#bySocket.set(socket, exchange);
    this.#count++;
    exchange.response.on('close', () => {
      if (this.#bySocket.get(socket) !== exchange) return; // the end of the connection ended the exchange
      this.#bySocket.set(socket, undefined);
      this.#close(exchange);
    });
  }

  /** They would not end by themselves. */
  cutWebSockets(): void {
    for (const [socket, exchange] of this.#bySocket)
      if (exchange?.upgrade && exchange.response.statusCode === 101) socket.destroy();
  }

  cut(): void {
    for (const socket of this.#bySocket.keys()) socket.destroy();
  }

  async none(): Promise<void> {
    while (this.#count > 0) {
      await new Promise<void>((resolve) => {
        this.#onNone = resolve;
      });
    }
  }

  #close(exchange: Exchange): void {
    this.#count--;
    this.#onOver(exchange);
    if (this.#count === 0) this.#onNone?.();
  }
}
