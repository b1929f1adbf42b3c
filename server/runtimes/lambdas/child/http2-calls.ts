import { errorMonitor } from 'node:events';
import type {
  ClientHttp2Session,
  ClientHttp2Stream,
  ClientSessionRequestOptions,
  IncomingHttpHeaders,
} from 'node:http2';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { RequestHead } from '../../../model/crm-form.ts';
import { failureOf, type OutboundCalls } from './outbound-calls.ts';
import type { OutboundConnections } from './outbound-connections.ts';
import { sniff } from './stream-hooks.ts';
import { type Http2Headers, headerIn, pairsIn, traceHttp2 } from './trace-headers.ts';

const { apply, getPrototypeOf } = Reflect;

const reportedElsewhere = new WeakSet<object>();

/** Sends a request by the session that it was made for. */
export type OpenStream = (headers: IncomingHttpHeaders, options: ClientSessionRequestOptions) => ClientHttp2Stream;

/** Returns the connection that a request takes instead of its session's, if any, and whether the request leaves this machine by its session. */
type RouteFor = (
  head: RequestHead,
  socket: Socket | undefined,
  openStream: OpenStream,
) => { other?: Socket | undefined; leavesMachine: boolean };

/** The calls of a connection that is answered here are reported by the server that answers them, and not here. */
export function reportElsewhere(socket: object): void {
  reportedElsewhere.add(socket);
}

/** Reports calls by HTTP/2 that reach their host. They are written below the socket, so the session's own `request` reports them. */
export class Http2Calls {
  readonly #calls: OutboundCalls;
  readonly #routeFor: RouteFor;
  readonly #connections: OutboundConnections;
  /** The calls of each session that other connections carry. */
  readonly #diverted = new WeakMap<ClientHttp2Session, Set<ClientHttp2Stream>>();
  #isWatching = false;

  constructor(calls: OutboundCalls, connections: OutboundConnections, routeFor: RouteFor) {
    this.#calls = calls;
    this.#connections = connections;
    this.#routeFor = routeFor;
  }

  /** Watches node:http2 from its first session on. An ES module may have loaded it without `require`. */
  watchOnceLoaded(): void {
    // As: a list that Node's types leave out.
    const { moduleLoadList } = process as unknown as { moduleLoadList: readonly string[] };
    if (!this.#isWatching && moduleLoadList.includes('NativeModule internal/http2/core')) this.watch();
  }

  watch(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    const { connect } = require('node:http2') as typeof import('node:http2');
    // Node exports no class of sessions: one that leads nowhere shows it.
    const nowhere = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
    const session = connect('http://nowhere.invalid', { createConnection: () => nowhere }).on('error', () => {});
    const prototype: ClientHttp2Session = getPrototypeOf(session) as never; // As: of a session.
    session.destroy();
    prototype.request = new Proxy(prototype.request, {
      apply: (request, self: ClientHttp2Session, args) => {
        const [headers, ...rest] = args;
        const traced = traceHttp2(headers, this.#calls.traceOf());
        const socket = socketOf(self);
        this.#connections.markHttp(socket);
        if (socket && reportedElsewhere.has(socket)) return apply(request, self, [traced, ...rest]);
        const head = headOf(
          `${String(hiddenMember(self, 'protocol'))}//${String(hiddenMember(self, 'authority'))}`,
          headers,
        );
        const { other, leavesMachine } = this.#routeFor(head, socket, (...message) => apply(request, self, message));
        const stream: ClientHttp2Stream = other
          ? this.#divert(other, new URL(head.url), request, [traced, ...rest])
          : apply(request, self, [traced, ...rest]);
        if (other) this.#holdOpen(self, stream);
        if (!other || !reportedElsewhere.has(other)) this.#follow(stream, head, leavesMachine);
        return stream;
      },
    });
    prototype.close = new Proxy(prototype.close, {
      apply: (close, self: ClientHttp2Session, args: Parameters<ClientHttp2Session['close']>) => {
        const [stream] = this.#diverted.get(self) ?? [];
        if (stream) stream.once('close', () => self.close(...args));
        else apply(close, self, args);
      },
    });
  }

  /** A session that is closed still completes its calls, and one that another connection carries may yet need it to reach its host. */
  #holdOpen(session: ClientHttp2Session, stream: ClientHttp2Stream): void {
    const streams = this.#diverted.get(session) ?? new Set();
    this.#diverted.set(session, streams.add(stream));
    stream.once('close', () => streams.delete(stream));
  }

  #divert(
    socket: Socket,
    url: URL,
    request: ClientHttp2Session['request'],
    [headers, ...options]: [Http2Headers, ...unknown[]],
  ): ClientHttp2Stream {
    const { connect } = require('node:http2') as typeof import('node:http2');
    const session = connect(`http://${url.host}`, { createConnection: () => socket }).on('error', () => {});
    const lines = pairsIn(headers);
    const isConnect = headerIn(lines, ':method') === 'CONNECT' && headerIn(lines, ':protocol') === undefined;
    // The session of the lambda may have added others.
    const added = [[':authority', url.host], ...(isConnect ? [] : [[':scheme', url.protocol.slice(0, -1)]])].filter(
      ([name = '']) => headerIn(lines, name) === undefined,
    );
    const allHeaders = Array.isArray(headers)
      ? [...added.flat(), ...headers]
      : { ...Object.fromEntries(added), ...headers };
    const stream: ClientHttp2Stream = apply(request, session, [allHeaders, ...options]);
    return stream.once('close', () => session.close());
  }

  #follow(stream: ClientHttp2Stream, head: RequestHead, leavesMachine: boolean): void {
    const { sentHeaders } = stream;
    const trace = sentHeaders.traceparent === undefined ? undefined : String(sentHeaders.traceparent);
    const call = this.#calls.answering(undefined, head, trace);
    if (leavesMachine) this.#calls.report(call, { leftMachine: true });
    let received: IncomingHttpHeaders = {};
    sniff(stream, {
      outgoing: (part) => this.#calls.takeBody(call, 'request', part(), pairsIn(sentHeaders)),
      received: (part) => part && this.#calls.takeBody(call, 'response', part, pairsIn(received)),
    });
    stream.once('response', (headers) => {
      received = headers;
      this.#calls.report(call, { status: Number(headers[':status']) });
    });
    stream.once(errorMonitor, (error) => this.#calls.report(call, { ...failureOf(error), ended: true }));
    stream.once('close', () => this.#calls.report(call, { ended: true }));
  }
}

/** Node wraps a connection that has no handle yet, as while the server that answers here starts. */
function socketOf(session: ClientHttp2Session): Socket | undefined {
  // As: a wrapper names the connection so.
  const socket = hiddenMember(session, 'socket') as (Socket & { stream?: Socket }) | undefined;
  return socket?.stream ?? socket;
}

/** A member of a session that Node names by a symbol. */
function hiddenMember(session: ClientHttp2Session, name: string): unknown {
  const symbol = Object.getOwnPropertySymbols(session).find(({ description }) => description === name);
  return symbol && Reflect.get(session, symbol);
}

function headOf(madeFor: string, headers: Http2Headers): RequestHead {
  const valueIn = (name: string): string | undefined => headerIn(pairsIn(headers), name);
  const { protocol = 'https:', host = '' } = URL.canParse(madeFor) ? new URL(madeFor) : {};
  const url = `${protocol}//${valueIn(':authority') ?? host}${valueIn(':path') ?? '/'}`;
  return { method: valueIn(':method') ?? 'GET', url, contentType: valueIn('content-type') };
}
