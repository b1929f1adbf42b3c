import { syncBuiltinESMExports } from 'node:module';
import { Socket } from 'node:net';
import { canBeCrm, hostnameIn, isCrmForm, type RequestHead } from '../../../model/crm-form.ts';
import { canonicalHost, isMetadataHost, leadsToThisMachine } from '../../../model/host-names.ts';
import {
  decideOutbound,
  type OutboundRule,
  type OutboundTarget,
  type OutboundVerdict,
  unresolved,
} from '../../../model/outbound-rule.ts';
import type { Address, OutboundRoutes, PortRoute } from '../process/protocol.ts';
import type { CallNumbers } from './call-numbers.ts';
import { type ConnectOptions, connectOptionsIn, targetOf } from './call-target.ts';
import { divertHttpForms } from './http-forms.ts';
import { Http2Calls, type OpenStream, reportElsewhere } from './http2-calls.ts';
import { LookedUpNames } from './looked-up-names.ts';
import { type MockedConnection, MockResponses } from './mock-responses.ts';
import type { OutboundCalls } from './outbound-calls.ts';
import { OutboundConnections } from './outbound-connections.ts';
import { ruleDatagrams } from './outbound-datagrams.ts';
import { ruleQueries } from './outbound-queries.ts';
import { ruleError } from './rule-error.ts';
import { type OpenHead, sniffSocket } from './sniff-socket.ts';
import { bufferWrites, type DivertibleConnection, makeDivertible } from './stream-hooks.ts';

// Captured at start, because a lambda may replace the globals of its own process.
const { setTimeout, Promise: NativePromise } = globalThis;
const { apply } = Reflect;
const ownConnect = Socket.prototype.connect;

const PASSED: OutboundVerdict = { action: 'pass', delayMs: 0, rules: [] };

interface ConnectionTarget extends OutboundTarget {
  /** The connection is for a request that follows a redirect of the mock CRM, whatever the rules. */
  isAfterRedirect?: boolean;
  /** The mock that receives all connections to the port. */
  route?: PortRoute | undefined;
}

type Connect = (this: Socket, ...args: unknown[]) => Socket;

/** Applies the outbound rules (D-200) where all clients make connections: redirects, refuses or delays them. Node makes all others. */
export class OutboundInterceptor {
  readonly #calls: OutboundCalls;
  readonly #answers: MockResponses;
  readonly #http2: Http2Calls;
  readonly #connections: OutboundConnections;
  readonly #names = new LookedUpNames();
  readonly #watched = new WeakMap<Socket, DivertibleConnection>();
  readonly #redirected = new WeakSet<Socket>();
  /** The connections through a proxy, and those with TLS over them. */
  readonly #tunnels = new WeakSet<Socket>();
  /** The time by which the requests of a connection are delayed; TLS over it writes below that. */
  readonly #delaysMs = new WeakMap<Socket, number>();
  /** The connections that a mock received because of their port. */
  readonly #routed = new WeakMap<Socket, PortRoute>();
  readonly #open = new Map<Socket, { target: OutboundTarget; decided: string; options: ConnectOptions }>();
  #isOwn = false;
  /** The request that a connection is being made for, if the mock CRM answers it. */
  #mockedHead: RequestHead | undefined;
  #routes: OutboundRoutes = {
    blocksOutside: false,
    catchesCrm: false,
    namedForms: [],
    ownAddresses: [],
    ownHosts: [],
    portRoutes: [],
    rules: [],
  };

  constructor(calls: OutboundCalls, executionId: () => string | undefined, callNumbers?: CallNumbers) {
    this.#calls = calls;
    calls.executionId = executionId;
    this.#connections = new OutboundConnections(calls);
    this.#http2 = new Http2Calls(calls, this.#connections, (...request) => this.#routeHttp2(...request));
    calls.onTunnel = (socket) => {
      this.#tunnels.add(socket);
      // A stream of HTTP/2 that is diverted to a connection without a handle loses its body.
      this.#answers.start(this.#routes);
      // No other connection tells that HTTP/2 is spoken in it.
      this.#http2.watch();
    };
    calls.onHead = (socket, head, isForProxy) => this.#divert(socket, head, isForProxy);
    this.#answers = new MockResponses(calls, (make) => this.#unwatched(make), callNumbers);
    calls.rulesOf = (head) => {
      if (this.#routes.rules.length === 0 || this.#answers.isAfterRedirect(head)) return [];
      const target = this.#requestTarget(head);
      return (target && this.#decide(target)?.rules) ?? [];
    };
  }

  get routes(): OutboundRoutes {
    return this.#routes;
  }

  install(routes: OutboundRoutes): void {
    // A request that is given all its headers writes its head before it connects.
    this.#calls.trace();
    this.#names.install();
    divertHttpForms(
      (head) => !this.#isOwn && this.#isMocked(head),
      (head, make) => this.#connectFor(head, make),
    );
    const tls = require('node:tls') as typeof import('node:tls');
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
      apply: (connect, self, args) => {
        if (!this.#isOwn && offersHttp2(connectOptionsIn(args))) this.#http2.watch();
        const trustingArgs = this.#trustRoute(args);
        return this.#tlsConnect(args) ?? this.#watchOver(args, apply(connect, self, trustingArgs));
      },
    });
    const decide = ({ host, port, ...query }: Address & Pick<OutboundTarget, 'query'>) => {
      const plainTarget = this.#isOwn ? undefined : this.#plainTarget({ host, port });
      const target = plainTarget && { ...plainTarget, ...query };
      return target && { target, verdict: this.#decide(target) };
    };
    ruleDatagrams(decide, this.#connections);
    ruleQueries(decide, this.#connections);
    syncBuiltinESMExports();
    this.#use(routes);
  }

  /** Applies these rules from now on: to new connections, and to open ones as soon as they are idle. */
  change(rules: readonly OutboundRule[]): void {
    this.#use({ ...this.#routes, rules });
    this.#closeStale((socket) => !isKeepingAlive(socket));
  }

  /** A call starts. Connections of earlier calls do not delay new rules any longer. */
  renew(): void {
    this.#closeStale(() => true);
  }

  /** The running invocation has its result. */
  endRecords(): void {
    this.#connections.endRecords();
  }

  #use(routes: OutboundRoutes): void {
    this.#routes = routes;
    this.#names.usesPlaceholders = routes.portRoutes.length > 0;
    if (routes.rules.length > 0) this.#answers.start(routes);
  }

  #closeStale(matches: (socket: Socket) => boolean): void {
    for (const [socket, { target, decided }] of this.#open) {
      if (decided !== JSON.stringify(this.#decide(target)) && matches(socket)) socket.destroy();
    }
  }

  #decide(target: ConnectionTarget, skippedIds?: ReadonlySet<string>): OutboundVerdict | undefined {
    if (target.isAfterRedirect) return { action: 'catch', delayMs: 0, rules: [] };
    return decideOutbound(this.#routes.rules, target, this.#routes.catchesCrm, skippedIds);
  }

  #connect(socket: Socket, args: unknown[]): Socket {
    this.#http2.watchOnceLoaded();
    const options = connectOptionsIn(args);
    const target = this.#isOwn ? undefined : this.#targetOf(options);
    const verdict = target && this.#decide(target);
    if (target) this.#follow(socket, target, verdict, options);
    // A function of the client may have looked up a placeholder.
    if (target && options.lookup)
      socket.on('lookup', (error, address) => {
        // One that returns one address where several are to be returned gives none here.
        const isPlaceholder = !error && typeof address === 'string' && this.#names.isPlaceholder(address);
        if (isPlaceholder) socket.destroy(ruleError(unresolved(0, []), target));
      });
    if (!target || !verdict) return apply(ownConnect, socket, args);
    const error = ruleError(verdict, target);
    if (error) return this.#looksUp(socket, args, options, verdict.delayMs, error);
    if (verdict.action !== 'pass') return this.#lead(socket, args, options, target, verdict, false);
    if (speaksHttp2(options)) return this.#looksUp(socket, args, options, verdict.delayMs);
    this.#delaysMs.set(socket, verdict.delayMs);
    bufferWrites(socket, verdict.delayMs);
    return apply(ownConnect, socket, args);
  }

  /** A connection that is answered here needs no TLS: its socket only looks encrypted. Undefined for all other connections. */
  #tlsConnect(args: unknown[]): Socket | undefined {
    const options = connectOptionsIn(args);
    const target = this.#isOwn || options.socket ? undefined : this.#targetOf(options);
    const verdict = target && this.#decide(target);
    if (!target || !verdict || verdict.action === 'pass' || ruleError(verdict, target)) return undefined;
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
    this.#follow(socket, target, verdict, options);
    const redirected = this.#lead(socket, [], options, target, verdict, true);
    this.#watch(socket);
    return redirected;
  }

  #targetOf(options: ConnectOptions): ConnectionTarget | undefined {
    const target = this.#plainTarget(options);
    if (!target) return undefined;
    const route = this.#routes.portRoutes.find(({ ports }) => ports.includes(target.port));
    // A server on this machine is the developer's own.
    if (route && !leadsToThisMachine(canonicalHost(target.hostname))) return { ...target, isMockedPort: true, route };
    if (!this.#routes.catchesCrm) return target;
    const mockedHead = this.#mockedHead;
    const isFor = (matches: (head: RequestHead) => boolean): boolean =>
      mockedHead ? matches(mockedHead) : this.#calls.isAwaited(matches, target.hostname, target.port);
    if (this.#answers.hasRedirects && isFor((head) => this.#answers.isAfterRedirect(head))) {
      return { ...target, isCrm: true, isAfterRedirect: true };
    }
    return target.isCrm ? target : { ...target, isCrm: isFor((head) => this.#isForm(head)) };
  }

  /** The target of a connection, whatever it is for; undefined for the platform's own addresses, to which no rule applies. */
  #plainTarget(options: ConnectOptions): ConnectionTarget | undefined {
    const { crm, ownAddresses, blocksOutside } = this.#routes;
    const target = targetOf(options, crm, this.#names.find);
    if (!target) return undefined;
    const { hostname, address = hostname, port } = target;
    const [name, host] = [canonicalHost(hostname), canonicalHost(address)];
    const isLoopback = leadsToThisMachine(host);
    const isOwn = (listener: Address): boolean =>
      listener.port === port &&
      (listener.host === name || listener.host === host || (isLoopback && leadsToThisMachine(listener.host)));
    if (ownAddresses.some(isOwn)) return undefined;
    if (isMetadataHost(host) || isMetadataHost(name)) return { ...target, isOutside: true, blockedAs: 'metadata' };
    if (isLoopback) return target;
    const isUnresolved = this.#names.isPlaceholder(host);
    return { ...target, isOutside: true, isUnresolved, ...(blocksOutside && { blockedAs: 'outside' }) };
  }

  #isMocked(head: RequestHead): boolean {
    return this.#isForm(head) || this.#answers.isAfterRedirect(head);
  }

  /** True for a form for a CRM that no connection to the CRM's own host carries (D-200 b, c). */
  #isForm(head: RequestHead): boolean {
    const { catchesCrm, namedForms, ownHosts } = this.#routes;
    return catchesCrm && isCrmForm(head, namedForms) && canBeCrm(hostnameIn(new URL(head.url)), ownHosts);
  }

  #connectFor<T>(head: RequestHead, make: () => T): T {
    this.#mockedHead = head;
    try {
      return make();
    } finally {
      this.#mockedHead = undefined;
    }
  }

  /** The target of a request, whatever connection carries it. */
  #requestTarget(head: RequestHead): ConnectionTarget | undefined {
    const target = this.#plainTarget(optionsOf(head.url));
    if (!target || !this.#isMocked(head)) return target;
    return { ...target, isCrm: true, isAfterRedirect: this.#answers.isAfterRedirect(head) };
  }

  /** A form that was about to go over a connection which is there already; or a call through a proxy, whose connection does not tell its host. */
  #divert(socket: Socket, head: RequestHead, isWhole: boolean): void {
    const connection = this.#watched.get(socket);
    if (!connection || this.#redirected.has(socket)) return;
    if (isWhole || this.#tunnels.has(socket)) return void this.#divertFromProxy(socket, connection, head);
    const target = this.#isMocked(head) ? this.#requestTarget(head) : undefined;
    const verdict = target && this.#decide(target);
    if (!verdict || verdict.action === 'pass') return;
    const { target: connected, options } = this.#open.get(socket) ?? {};
    const isLocal = connected && !canBeCrm(connected.hostname, this.#routes.ownHosts);
    if (isLocal && !target.isAfterRedirect) return;
    this.#redirected.add(socket);
    connection.divert(this.#socketFor(head, target, verdict, { ...(options && { options }) }, socket));
  }

  /** A call through a proxy waits for its verdict, because only the call itself can still go through the proxy. */
  async #divertFromProxy(socket: Socket, connection: DivertibleConnection, head: RequestHead): Promise<void> {
    const call = this.#calls.carriedBy(socket) ?? {};
    const target = this.#requestTarget(head);
    if (!target) return;
    const firstVerdict = this.#decide(target);
    const reportLeaving = (): void => void (target.isOutside && this.#calls.report(call, { leftMachine: true }));
    if (!firstVerdict) return reportLeaving();
    const release = connection.delayWrites();
    const decideWithout = (skippedIds: ReadonlySet<string>) => this.#decide(target, skippedIds) ?? PASSED;
    const verdict = await this.#answers.settle(decideWithout, firstVerdict);
    if (verdict !== firstVerdict) this.#calls.report(call, { rules: verdict.rules });
    if (verdict.action === 'pass') {
      const delayMs = verdict.delayMs - (this.#delaysMs.get(socket) ?? 0);
      if (delayMs > 0) await new NativePromise((resolve) => setTimeout(resolve, delayMs));
      reportLeaving();
    } else if (!socket.destroyed) {
      this.#redirected.add(socket);
      connection.divert(this.#socketFor(head, target, verdict, { isSettled: true }, socket));
    }
    release();
  }

  /** A request by HTTP/2 may need another connection than its session's, which may have been made for an address or by a proxy. */
  #routeHttp2(head: RequestHead, socket: Socket | undefined, openStream: OpenStream) {
    const leavesMachine = socket !== undefined && this.#calls.leavesMachine(socket);
    const ruledTarget = this.#isOwn ? undefined : this.#requestTarget(head);
    if (!ruledTarget) return { leavesMachine };
    const isInTunnel = socket !== undefined && this.#tunnels.has(socket);
    // Without a tunnel, the policy has decided on the address: a test may call a server of this machine by the name of the real one.
    const isCrm = ruledTarget.isCrm && leavesMachine;
    const { blockedAs: _, ...addressTarget } = { ...ruledTarget, isOutside: leavesMachine, isCrm };
    const target = isInTunnel || this.#isMocked(head) ? ruledTarget : addressTarget;
    const verdict = this.#decide(target);
    const staysOnSession = !verdict || (verdict.action === 'pass' && !(isInTunnel && verdict.delayMs > 0));
    if (staysOnSession) return { leavesMachine: isInTunnel ? target.isOutside === true : leavesMachine };
    return { other: this.#socketFor(head, target, verdict, { openStream }), leavesMachine: false };
  }

  /** A socket to the mock responses, or one that waits and fails as a rule says. */
  #socketFor(
    head: RequestHead,
    target: ConnectionTarget,
    verdict: OutboundVerdict,
    details: Partial<MockedConnection>,
    inPlaceOf?: Socket,
  ): Socket {
    const socket = new Socket();
    const error = ruleError(verdict, target);
    if (error) return this.#looksUp(socket, [], {}, verdict.delayMs, error);
    const isTls = head.url.startsWith('https:');
    const connection = this.#mockedConnection(target, verdict, isTls, optionsOf(head.url));
    return this.#connectHere(socket, { ...connection, ...details }, [], inPlaceOf);
  }

  #lead(
    socket: Socket,
    args: unknown[],
    options: ConnectOptions,
    target: ConnectionTarget,
    verdict: OutboundVerdict,
    isTls: boolean,
  ): Socket {
    if ('encrypted' in socket && !isTls) {
      const message = `the call to ${target.hostname} cannot be intercepted, because its TLS was started in an unsupported way. Use tls.connect of node:tls.`;
      return this.#looksUp(socket, args, {}, 0, new Error(message));
    }
    this.#redirected.add(socket);
    if (target.route && verdict.action === 'catch') {
      const { host, port } = target.route.address;
      this.#routed.set(socket, target.route);
      this.#connections.catch(socket, target.route.mock);
      return this.#looksUp(socket, args, { host, port }, verdict.delayMs);
    }
    const connection = this.#mockedConnection(target, verdict, isTls, options);
    return this.#connectHere(socket, connection, args.flat().filter(isFunction));
  }

  #mockedConnection(
    requestTarget: ConnectionTarget,
    verdict: OutboundVerdict,
    isTls: boolean,
    options: ConnectOptions,
  ): MockedConnection {
    // Another request than the one that it is made for may follow.
    const isCrm = requestTarget.isCrm && this.#plainTarget(options)?.isCrm === true;
    const target = { ...requestTarget, isCrm, isAfterRedirect: false };
    return {
      ...{ target, verdict, isTls, options },
      decide: (head, skippedIds) =>
        this.#decide({ ...target, isCrm: target.isCrm || this.#isForm(head) }, skippedIds) ?? PASSED,
    };
  }

  /** Connects to the mock responses. Until they listen, writes are buffered, as during a name lookup. */
  #connectHere(
    socket: Socket,
    connection: MockedConnection,
    listeners: readonly unknown[] = [],
    inPlaceOf = socket,
  ): Socket {
    reportElsewhere(socket);
    this.#answers.start(this.#routes);
    this.#answers.expect(socket, connection, inPlaceOf);
    Object.assign(socket, { connecting: true });
    this.#answers.whenReady((port) => {
      if (!socket.destroyed) apply(ownConnect, socket, [{ host: '127.0.0.1', port }, ...listeners]);
    });
    return socket;
  }

  /** Connects after a while, or fails then, in the way of a name that is looked up. */
  #looksUp(socket: Socket, args: unknown[], options: ConnectOptions, delayMs: number, error?: Error): Socket {
    const { host = 'localhost', lookup: resolveName = (require('node:dns') as typeof import('node:dns')).lookup } =
      options;
    const lookup = (_name: string, lookupOptions: object, done: (error: Error | null) => void): void => {
      // As: the response has the form of the request.
      setTimeout(() => (error ? done(error) : resolveName(host, lookupOptions as never, done as never)), delayMs);
    };
    return apply(ownConnect, socket, [
      { port: 1, ...options, host: 'held-up.invalid', lookup },
      ...args.flat().filter(isFunction),
    ]);
  }

  #watch(socket: Socket): void {
    if (this.#watched.has(socket)) return;
    let openHead = (): OpenHead => undefined;
    const isHeld = (): boolean => {
      const head = this.#redirected.has(socket) ? undefined : openHead();
      if (!head) return false;
      const isForProxy = this.#tunnels.has(socket) || /^h/i.test(head.target);
      return isForProxy || (this.#routes.catchesCrm && head.method === 'POST');
    };
    this.#watched.set(socket, makeDivertible(socket, isHeld));
    openHead = sniffSocket(socket, this.#calls, this.#connections);
  }

  /** TLS that a client starts on a connection to a mock trusts the mock's certificate: it names the mock instead of the host. */
  #trustRoute(args: unknown[]): unknown[] {
    const options = connectOptionsIn(args);
    // As: the socket that TLS is started on.
    const { caPem: ca } = this.#routed.get(options.socket as Socket)?.address ?? {};
    if (ca === undefined) return args;
    return args.map((arg) => (arg === options ? { ...options, ca, checkServerIdentity: () => undefined } : arg));
  }

  /** TLS on an existing connection (a proxy's) makes no second one. */
  #watchOver<T extends Socket>(args: unknown[], socket: T): T {
    const { socket: lower } = connectOptionsIn(args);
    if (this.#isOwn || !lower) return socket;
    this.#connections.continue(socket, lower);
    // As: the socket that TLS is started on.
    if (this.#tunnels.has(lower as Socket)) this.#tunnels.add(socket);
    this.#watch(socket);
    return socket;
  }

  #unwatched<T>(make: () => T): T {
    this.#isOwn = true;
    try {
      return make();
    } finally {
      this.#isOwn = false;
    }
  }

  #follow(socket: Socket, target: OutboundTarget, verdict: OutboundVerdict | undefined, options: ConnectOptions): void {
    if (this.#open.has(socket)) return;
    this.#open.set(socket, { target, decided: JSON.stringify(verdict), options });
    this.#connections.follow(socket, { target, verdict });
    socket.once('close', () => this.#open.delete(socket));
  }
}

function optionsOf(url: string): ConnectOptions {
  if (!URL.canParse(url)) return {};
  const { hostname, port, protocol } = new URL(url);
  return { host: hostname, port: port || (protocol === 'http:' ? 80 : 443) };
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
