import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { refuseConnection, refuseMalformed } from '../http/connection-faults.ts';
import { cutSlowClients } from '../http/slow-clients.ts';
import { isWebSocketHandshake, readAsPlainRequest, responseOn, type UpgradedConnection } from '../http/upgrades.ts';
import type { Authenticator, Judge } from '../model/caller.ts';
import type { Change } from '../model/commit.ts';
import { toPlatformError } from '../model/errors.ts';
import type { ExchangeRecord } from '../model/exchange-record.ts';
import type { Uuid } from '../model/ids.ts';
import type { LambdaInvoker } from '../model/invocation.ts';
import type { KeyedLog } from '../model/keyed-log.ts';
import type { WorldView } from '../model/world-view.ts';
import { type Answer, errorAnswer, jsonAnswer } from './answer.ts';
import { AsyncCalls } from './async-calls.ts';
import { AsyncResults, type StoredResult } from './async-results.ts';
import { BuiltInRoutes } from './built-in-routes.ts';
import { CallerCheck, type GatewayAddresses } from './caller-check.ts';
import type { ContainerProxy } from './container-proxy.ts';
import { Exchange } from './exchange.ts';
import { defaultLimits, type GatewayLimits } from './limits.ts';
import { OpenExchanges } from './open-exchanges.ts';
import { Pipeline } from './pipeline.ts';
import { PublishedEndpoints } from './published-endpoints.ts';
import type { LimitUse } from './rate-limit.ts';
import { ClientGone } from './request-body.ts';
import { hideWindowCookies } from './window-cookies.ts';

/** Room for a request's head beyond its target. */
const MAX_HEADERS_BYTES = 16 * 1024;

/** Host name or address and port of a listener. */
export interface ListenAddress {
  host: string;
  port: number;
}

/** What the gateway stands on; neighbours are handed in. */
export interface GatewayOptions {
  /** The present world, already loaded. */
  view: WorldView;
  invoker: LambdaInvoker;
  authenticator: Authenticator;
  judge: Judge;
  /** Where asynchronous results are kept. */
  results: KeyedLog<StoredResult>;
  containers: ContainerProxy;
  /** Where clients reach the emulator; asked when needed. */
  addresses(): GatewayAddresses;
  /** Epoch milliseconds. */
  nowMs(): number;
  /** The emulator's version, told in every answer (D-199). */
  version: string;
  /** Host names that requests may name besides the loopback ones and those of endpoints; lower case, without port. */
  allowedHosts: ReadonlySet<string>;
  limits?: Partial<GatewayLimits>;
  /** Told of every request after its end. */
  onExchange?(record: ExchangeRecord): void;
  /** Told of faults of the emulator itself, which clients see as a bare 500. */
  onFault?(fault: unknown): void;
}

/** The data plane ({gateway_url}): publishes endpoints of lambdas and containers on a listener of its own (section 11). */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #limits: GatewayLimits;
  readonly #endpoints: PublishedEndpoints;
  readonly #results: AsyncResults;
  readonly #calls: AsyncCalls;
  readonly #pipeline: Pipeline;
  readonly #exchanges = new OpenExchanges((exchange) => this.#options.onExchange?.(exchange.record()));
  #server: Server | undefined;
  #isStopping = false;

  /** Reads the routes of the world that the view shows now. */
  constructor(options: GatewayOptions) {
    const { view, invoker, containers, nowMs, version, allowedHosts } = options;
    this.#options = options;
    this.#limits = { ...defaultLimits, ...options.limits };
    this.#endpoints = new PublishedEndpoints(view);
    this.#results = new AsyncResults(options.results, this.#limits, nowMs);
    this.#calls = new AsyncCalls(invoker, this.#results, (fault) => options.onFault?.(fault));
    const callers = new CallerCheck(options);
    const { requestBodyBytes } = this.#limits;
    this.#pipeline = new Pipeline({
      view,
      invoker,
      containers,
      nowMs,
      version,
      allowedHosts,
      callers,
      limits: this.#limits,
      endpoints: this.#endpoints,
      calls: this.#calls,
      builtIns: new BuiltInRoutes({ view, callers, calls: this.#calls, results: this.#results, requestBodyBytes }),
    });
  }

  /**
   * Turns what an earlier run left pending into failed results (D-168) and listens.
   *
   * @param at.port 0 chooses a free one
   * @returns the address that is listened on
   * @throws the error of the operating system when it cannot be listened on, e.g. EADDRINUSE
   */
  async start(at: ListenAddress): Promise<ListenAddress> {
    this.#isStopping = false;
    await this.#results.recover();
    const server = this.#createServer();
    server.listen(at.port, at.host);
    await once(server, 'listening');
    this.#server = server;
    const { address, port } = server.address() as AddressInfo; // a server on a TCP port always has one
    return { host: address, port };
  }

  /** Follows the world: feed it what each commit changed, once the view shows it. */
  changed(changes: readonly Change[]): void {
    this.#endpoints.changed(changes);
  }

  /** How much of each limited endpoint's limit is used in the window that is open now (D-155). */
  limitUses(): ({ endpointId: Uuid } & LimitUse)[] {
    const nowMs = this.#options.nowMs();
    const uses = Array.from(this.#endpoints.all(), ({ id, limit }) => limit && { endpointId: id, ...limit.use(nowMs) });
    return uses.filter((use) => use !== undefined);
  }

  /** Stops listening, lets requests and asynchronous calls end within the drain time-out, closes every connection. */
  async stop(): Promise<void> {
    const server = this.#server;
    if (!server) return;
    this.#server = undefined;
    this.#isStopping = true;
    const closed = new Promise((resolve) => server.close(resolve));
    this.#exchanges.goAway();
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
      keepAliveTimeout: keepAliveTimeoutMs,
      requireHostHeader: false, // node:http would answer without a body
    });
    const answer = (request: IncomingMessage, response: ServerResponse, upgrade?: UpgradedConnection) => {
      void this.#answer(this.#open(request, response, upgrade));
    };
    server.on('connection', (socket) => this.#exchanges.follow(socket));
    server.on('request', (request, response) => answer(request, response));
    server.on('checkContinue', (request, response) => answer(request, response)); // the body is asked for once it is wanted
    server.on('checkExpectation', (request, response) => {
      const message = `the expectation '${request.headers.expect}' cannot be met; only 100-continue can`;
      this.#send(this.#open(request, response), jsonAnswer(417, { code: 417, message }));
    });
    server.on('upgrade', (request, duplex, head) => {
      const socket = duplex as Socket; // TCP, no other Duplex
      socket.on('error', () => {}); // node:http listens no more; its close tells enough
      this.#exchanges.whenAnswered(socket, () => {
        if (isWebSocketHandshake(request)) answer(request, responseOn(socket, request), { socket, head });
        else readAsPlainRequest(server, socket, request, head);
      });
    });
    server.on('connect', (_request, socket) => this.#refuseConnect(socket));
    server.on('clientError', (fault, socket) => this.#refuseMalformed(fault, socket as Socket)); // TCP, no other Duplex
    return server;
  }

  #open(request: IncomingMessage, response: ServerResponse, upgrade?: UpgradedConnection): Exchange {
    hideWindowCookies(request);
    const exchange = new Exchange(request, response, this.#options.nowMs(), upgrade);
    this.#exchanges.add(exchange);
    return exchange;
  }

  async #answer(exchange: Exchange): Promise<void> {
    try {
      const answer = await this.#pipeline.answer(exchange);
      if (answer) this.#send(exchange, answer);
    } catch (thrown) {
      if (!(thrown instanceof ClientGone)) this.#refuse(exchange, thrown);
    }
  }

  #refuse(exchange: Exchange, thrown: unknown): void {
    try {
      const error = toPlatformError(thrown);
      if (error.status === 500) this.#options.onFault?.(thrown);
      this.#send(exchange, errorAnswer(error));
    } catch (fault) {
      this.#fail(exchange, fault);
    }
  }

  #send(exchange: Exchange, answer: Answer): void {
    exchange.send(answer, this.#options.version, { isLast: this.#isStopping, stallMs: this.#limits.answerStallMs });
  }

  /** An answer could not even be sent: the connection is of no more use. */
  #fail(exchange: Exchange, fault: unknown): void {
    this.#options.onFault?.(fault);
    exchange.response.destroy();
  }

  #refuseConnect(socket: Duplex): void {
    const message = 'the gateway is no proxy: CONNECT is not supported';
    refuseConnection(socket, { status: 501, message }, this.#refusalHeaders());
  }

  /** What every answer carries (D-157, D-199), where no exchange has begun. */
  #refusalHeaders(): Record<string, string> {
    return {
      'X-Terrarium-Version': this.#options.version,
      'X-Terrarium-Proxy-Latency': '0',
      'X-Terrarium-Upstream-Latency': '0',
      'Server-Timing': 'proxy;dur=0, upstream;dur=0',
    };
  }

  #refuseMalformed(fault: Error, socket: Socket): void {
    const { requestTargetBytes } = this.#limits;
    const refuse = () => refuseMalformed(fault, socket, { headers: this.#refusalHeaders(), requestTargetBytes });
    const last = this.#exchanges.findLast(socket);
    // Bytes after a complete request: that one gets its answer first. A fault in the midst of one can't be told any more
    // when its answer has begun.
    if (last?.request.complete) last.response.once('close', refuse);
    else if (last?.response.headersSent) socket.destroy();
    else refuse();
  }
}
