import { syncBuiltinESMExports } from 'node:module';
import { Socket } from 'node:net';
import {
  decideOutbound,
  type OutboundRule,
  type OutboundTarget,
  type OutboundVerdict,
} from '../../model/outbound-rule.ts';
import type { OutboundRoutes } from '../protocol.ts';
import { type ConnectOptions, connectOptionsIn, targetOf } from './call-target.ts';
import { holdWrites } from './held-writes.ts';
import { Http2Calls, isToldOf } from './http2-calls.ts';
import { LocalAnswers } from './local-answers.ts';
import { networkError } from './network-error.ts';
import type { OutboundCalls } from './outbound-calls.ts';

// Taken at start: a lambda may replace the globals of its own process.
const { setTimeout } = globalThis;
const { apply } = Reflect;
const ownConnect = Socket.prototype.connect;

const nodeTls = () => require('node:tls') as typeof import('node:tls');

type Connect = (this: Socket, ...args: unknown[]) => Socket;

/**
 * Lets the rules about outbound calls hold for this process (D-200), whatever makes a call: below http, https, fetch, undici,
 * http2 and whatever else speaks TCP there is one place where a connection is made, and there it is led elsewhere, refused or
 * held up. What a rule answers is answered by a small server in this process (LocalAnswers). A connection that no rule means is
 * Node's own.
 */
export class OutboundLine {
  readonly #calls: OutboundCalls;
  readonly #answers: LocalAnswers;
  readonly #http2: Http2Calls;
  readonly #watched = new WeakSet<Socket>();
  /** Open connections and what was decided about them. */
  readonly #open = new Map<Socket, { target: OutboundTarget; decided: string }>();
  /** While a connection of the emulator's own is made. */
  #isOwn = false;
  #routes: OutboundRoutes = { catchesCrm: false, rules: [] };

  /** @param executionId the invocation that runs, if one does */
  constructor(calls: OutboundCalls, executionId: () => string | undefined) {
    this.#calls = calls;
    this.#http2 = new Http2Calls(calls);
    this.#answers = new LocalAnswers(calls, executionId, (make) => this.#unwatched(make));
    calls.rulesOf = (url) => {
      const target = URL.canParse(url) ? targetOf(optionsOf(new URL(url)), this.#routes.crm) : undefined;
      return (target && this.#decide(target)?.rules) ?? [];
    };
  }

  /** What holds now. */
  get routes(): OutboundRoutes {
    return this.#routes;
  }

  /** To be called before the lambda is loaded. */
  install(routes: OutboundRoutes): void {
    // A request that is given all its headers writes its head before it connects.
    this.#calls.trace();
    const tls = nodeTls();
    const ownTlsConnect = tls.connect;
    const line = this;
    const connect: Connect = function (...args) {
      const connected = line.#connect(this, args);
      if (!line.#isOwn) line.#watch(this);
      return connected;
    };
    // As: Node declares each of its many ways to be called.
    Socket.prototype.connect = connect as typeof ownConnect;
    tls.connect = new Proxy(ownTlsConnect, {
      apply: (own, self, args) => {
        if (!this.#isOwn && offersHttp2(connectOptionsIn(args))) this.#http2.watch();
        return this.#tlsConnect(args) ?? this.#watchOver(args, apply(own, self, args));
      },
    });
    this.#http2.install();
    syncBuiltinESMExports();
    this.#use(routes);
  }

  /** These rules hold from now on: for connections that are made, and for those that are open as soon as they are idle. */
  change(rules: readonly OutboundRule[]): void {
    this.#use({ ...this.#routes, rules });
    this.#closeStale((socket) => !isKeepingAlive(socket));
  }

  /** A call begins: what an earlier one had under way does not stand in the way of new rules any more. */
  renew(): void {
    this.#closeStale(() => true);
  }

  #use(routes: OutboundRoutes): void {
    this.#routes = routes;
    if ((routes.crm && routes.catchesCrm) || routes.rules.length > 0) this.#answers.start(routes.standIn);
  }

  #closeStale(isMeant: (socket: Socket) => boolean): void {
    for (const [socket, { target, decided }] of this.#open) {
      if (decided !== JSON.stringify(this.#decide(target)) && isMeant(socket)) socket.destroy();
    }
  }

  #decide(target: OutboundTarget): OutboundVerdict | undefined {
    return decideOutbound(this.#routes.rules, target, this.#routes.catchesCrm);
  }

  #connect(socket: Socket, args: unknown[]): Socket {
    const options = connectOptionsIn(args);
    const target = this.#isOwn ? undefined : targetOf(options, this.#routes.crm);
    const verdict = target && this.#decide(target);
    if (target) this.#follow(socket, target, verdict);
    if (!target || !verdict) return apply(ownConnect, socket, args);
    const error = errorOf(verdict, target);
    if (error) return this.#looksUp(socket, args, options, verdict.delayMs, error);
    if (verdict.action !== 'pass') return this.#lead(socket, args, target, verdict, false);
    if (speaksHttp2(options)) return this.#looksUp(socket, args, options, verdict.delayMs);
    holdWrites(socket, verdict.delayMs);
    return apply(ownConnect, socket, args);
  }

  /** A connection to be answered here needs no TLS: what comes back only looks as if it had. Undefined for all others. */
  #tlsConnect(args: unknown[]): Socket | undefined {
    const options = connectOptionsIn(args);
    const target = this.#isOwn || options.socket ? undefined : targetOf(options, this.#routes.crm);
    const verdict = target && this.#decide(target);
    if (!target || !verdict || verdict.action === 'pass' || errorOf(verdict, target)) return undefined;
    const socket = new Socket();
    const offered = Array.isArray(options.ALPNProtocols) ? options.ALPNProtocols.map(String) : [];
    Object.assign(socket, {
      encrypted: true,
      authorized: true,
      authorizationError: null,
      secureConnecting: true,
      servername: options.servername ?? target.hostname,
      alpnProtocol: offered.includes('http/1.1') ? 'http/1.1' : (offered[0] ?? false),
      getPeerCertificate: () => ({}),
      getCipher: () => ({ name: 'TLS_AES_256_GCM_SHA384', standardName: 'TLS_AES_256_GCM_SHA384', version: 'TLSv1.3' }),
      getProtocol: () => 'TLSv1.3',
      getSession: () => undefined,
      isSessionReused: () => false,
      setServername: () => {},
    });
    if (options.timeout) socket.setTimeout(options.timeout);
    const listener = args.findLast((arg) => typeof arg === 'function');
    // As: the last argument of tls.connect is its listener.
    if (listener) socket.once('secureConnect', listener as () => void);
    socket.once('connect', () => {
      Object.assign(socket, { secureConnecting: false });
      socket.emit('secureConnect');
    });
    this.#follow(socket, target, verdict);
    const led = this.#lead(socket, [], target, verdict, true);
    this.#watch(socket);
    return led;
  }

  #lead(socket: Socket, args: unknown[], target: OutboundTarget, verdict: OutboundVerdict, isTls: boolean): Socket {
    if ('encrypted' in socket && !isTls) {
      const message = `a call to ${target.hostname} is to be answered here, but its TLS was begun before the emulator could step in; use tls.connect of node:tls as it is`;
      return this.#looksUp(socket, args, {}, 0, new Error(message));
    }
    isToldOf(socket);
    this.#answers.expect(socket, { target, verdict, isTls });
    const listeners = args.flat().filter(isFunction);
    const go = (port: number): Socket => apply(ownConnect, socket, [{ host: '127.0.0.1', port }, ...listeners]);
    if (this.#answers.port !== undefined) return go(this.#answers.port);
    // Until then what is written is kept, as while a name is looked up.
    Object.assign(socket, { connecting: true });
    this.#answers.whenReady((port) => void (socket.destroyed || go(port)));
    return socket;
  }

  /** Connects after a while, or fails then, in the way of a name that is looked up. */
  #looksUp(socket: Socket, args: unknown[], options: ConnectOptions, delayMs: number, error?: Error): Socket {
    const { host = 'localhost', lookup: own = (require('node:dns') as typeof import('node:dns')).lookup } = options;
    const lookup = (_name: string, asked: object, done: (error: Error | null) => void): void => {
      // As: what is asked for is what is answered.
      setTimeout(() => (error ? done(error) : own(host, asked as never, done as never)), delayMs);
    };
    return apply(ownConnect, socket, [
      { port: 1, ...options, host: 'held-up.invalid', lookup },
      ...args.flat().filter(isFunction),
    ]);
  }

  /** Reads along what goes over it. */
  #watch(socket: Socket): void {
    if (this.#watched.has(socket)) return;
    this.#watched.add(socket);
    this.#calls.watch(socket);
  }

  /** TLS that is put over a connection which is there already (a proxy's) makes no other. */
  #watchOver<T extends Socket>(args: unknown[], made: T): T {
    if (!this.#isOwn && connectOptionsIn(args).socket) this.#watch(made);
    return made;
  }

  #unwatched<T>(make: () => T): T {
    this.#isOwn = true;
    try {
      return make();
    } finally {
      this.#isOwn = false;
    }
  }

  #follow(socket: Socket, target: OutboundTarget, verdict: OutboundVerdict | undefined): void {
    if (this.#open.has(socket)) return;
    this.#open.set(socket, { target, decided: JSON.stringify(verdict) });
    socket.once('close', () => this.#open.delete(socket));
  }
}

function optionsOf({ hostname, port, protocol }: URL): ConnectOptions {
  return { host: hostname, port: port || (protocol === 'http:' ? 80 : 443) };
}

/** What the network would fail with by that verdict. */
function errorOf({ action, error, rules }: OutboundVerdict, target: OutboundTarget): Error | undefined {
  const rule = rules.at(-1)?.text ?? 'the configuration';
  if (action === 'block') return networkError('ECONNREFUSED', target, rule);
  return error && networkError(error, target, rule);
}

function offersHttp2({ ALPNProtocols }: ConnectOptions): boolean {
  return Array.isArray(ALPNProtocols) && ALPNProtocols.includes('h2');
}

/** Streams of HTTP/2 are written below the socket, where nothing can be held up. */
function speaksHttp2({ ALPNProtocols }: ConnectOptions): boolean {
  return Array.isArray(ALPNProtocols) && String(ALPNProtocols[0]) === 'h2';
}

/** Libraries let go of a connection that is idle. */
function isKeepingAlive(socket: Socket): boolean {
  // As: a handle says whether it does; Node documents that of the socket's methods only.
  return (socket as unknown as { _handle?: { hasRef?(): boolean } })._handle?.hasRef?.() === true;
}

function isFunction(arg: unknown): boolean {
  return typeof arg === 'function';
}
