import { errorMonitor } from 'node:events';
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { RequestHead } from '../../../model/crm-form.ts';
import { failureOf, type OutboundCalls } from './outbound-calls.ts';
import type { OutboundConnections } from './outbound-connections.ts';
import { sniff } from './stream-hooks.ts';
import { headerIn, traceHttp2 } from './trace-headers.ts';

const { apply, getPrototypeOf } = Reflect;

const reportedElsewhere = new WeakSet<object>();

/** The calls of a connection that is answered here are reported by the server that answers them, and not here. */
export function reportElsewhere(socket: object): void {
  reportedElsewhere.add(socket);
}

/** Reports calls by HTTP/2 that reach their host. They are written below the socket, so the session's own `request` reports them. */
export class Http2Calls {
  readonly #calls: OutboundCalls;
  readonly #connectionFor: (head: RequestHead) => Socket | undefined;
  readonly #connections: OutboundConnections;
  #isWatching = false;

  constructor(
    calls: OutboundCalls,
    connections: OutboundConnections,
    connectionFor: (head: RequestHead) => Socket | undefined,
  ) {
    this.#calls = calls;
    this.#connections = connections;
    this.#connectionFor = connectionFor;
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
        const socket = hiddenMember(self, 'socket') as Socket | undefined;
        this.#connections.markHttp(socket);
        if (socket && reportedElsewhere.has(socket)) return apply(request, self, [traced, ...rest]);
        const head = headOf(
          `${String(hiddenMember(self, 'protocol'))}//${String(hiddenMember(self, 'authority'))}`,
          headers,
        );
        const other = this.#connectionFor(head);
        const stream: ClientHttp2Stream = other
          ? this.#divert(other, new URL(head.url), request, [traced, ...rest])
          : apply(request, self, [traced, ...rest]);
        if (!other || !reportedElsewhere.has(other)) this.#follow(stream, head, other ?? socket);
        return stream;
      },
    });
  }

  #divert(socket: Socket, { host }: URL, request: ClientHttp2Session['request'], args: unknown[]): ClientHttp2Stream {
    const { connect } = require('node:http2') as typeof import('node:http2');
    const session = connect(`http://${host}`, { createConnection: () => socket }).on('error', () => {});
    const stream: ClientHttp2Stream = apply(request, session, args);
    return stream.once('close', () => session.close());
  }

  #follow(stream: ClientHttp2Stream, head: RequestHead, socket: Socket | undefined): void {
    const { sentHeaders } = stream;
    const trace = sentHeaders.traceparent === undefined ? undefined : String(sentHeaders.traceparent);
    const call = this.#calls.answering(undefined, head, trace);
    if (socket && this.#calls.leavesMachine(socket)) this.#calls.report(call, { leftMachine: true });
    let received: IncomingHttpHeaders = {};
    sniff(stream, {
      outgoing: (part) => this.#calls.takeBody(call, 'request', part(), linesOf(sentHeaders)),
      received: (part) => part && this.#calls.takeBody(call, 'response', part, linesOf(received)),
    });
    stream.once('response', (headers) => {
      received = headers;
      this.#calls.report(call, { status: Number(headers[':status']) });
    });
    stream.once(errorMonitor, (error) => this.#calls.report(call, { ...failureOf(error), ended: true }));
    stream.once('close', () => this.#calls.report(call, { ended: true }));
  }
}

/** A member of a session that Node names by a symbol. */
function hiddenMember(session: ClientHttp2Session, name: string): unknown {
  const symbol = Object.getOwnPropertySymbols(session).find(({ description }) => description === name);
  return symbol && Reflect.get(session, symbol);
}

function headOf(madeFor: string, headers: unknown): RequestHead {
  const lines = Array.isArray(headers) ? headers : Object.entries(headers ?? {}).flat();
  const valueIn = (name: string): string | undefined => headerIn(lines, name);
  const { protocol = 'https:', host = '' } = URL.canParse(madeFor) ? new URL(madeFor) : {};
  const url = `${protocol}//${valueIn(':authority') ?? host}${valueIn(':path') ?? '/'}`;
  return { method: valueIn(':method') ?? 'GET', url, contentType: valueIn('content-type') };
}

function linesOf(headers: object): string[] {
  return Object.entries(headers).flatMap(([name, value]) => [name, String(value)]);
}
