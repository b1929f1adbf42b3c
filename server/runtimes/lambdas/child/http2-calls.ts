import { errorMonitor } from 'node:events';
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2';
import Module from 'node:module';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { RequestHead } from '../../../model/crm-form.ts';
import { messageOf } from './error-text.ts';
import type { OutboundCalls } from './outbound-calls.ts';
import { sniff } from './stream-hooks.ts';
import { headerIn, traceHttp2 } from './trace-headers.ts';

const { apply, getPrototypeOf } = Reflect;

const REPORTED_ELSEWHERE = Symbol('reported elsewhere');

type Loader = (name: string, ...rest: unknown[]) => unknown;

/** The calls of a connection that is answered here are reported by the server that answers them, and not here. */
export function reportElsewhere(socket: object): void {
  Object.defineProperty(socket, REPORTED_ELSEWHERE, { value: true });
}

/** Reports calls by HTTP/2 that reach their host. They are written below the socket, so the session's own `request` reports them. */
export class Http2Calls {
  readonly #calls: OutboundCalls;
  readonly #connectionFor: (head: RequestHead) => Socket | undefined;
  readonly #authorities = new WeakMap<ClientHttp2Session, string>();
  #isWatching = false;

  constructor(calls: OutboundCalls, connectionFor: (head: RequestHead) => Socket | undefined) {
    this.#calls = calls;
    this.#connectionFor = connectionFor;
  }

  /** Watches node:http2 from its first session on, once it is loaded. */
  install(): void {
    // As: deprecated in words, and what every tool of this kind relies on.
    const modules = Module as unknown as { _load: Loader };
    let isKnown = false;
    modules._load = new Proxy(modules._load, {
      apply: (load, self, args: Parameters<Loader>) => {
        const loaded = apply(load, self, args);
        if (isKnown || !/^(node:)?http2$/.test(args[0])) return loaded;
        isKnown = true;
        const http2 = loaded as typeof import('node:http2'); // As: that is its name.
        http2.connect = new Proxy(http2.connect, {
          apply: (connect, receiver, args) => {
            this.watch();
            const session: ClientHttp2Session = apply(connect, receiver, args);
            this.#authorities.set(session, String(args[0]));
            return session;
          },
        });
        return loaded;
      },
    });
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
        const head = headOf(this.#authorities.get(self) ?? '', headers);
        const other = isAnsweredHere(self) ? undefined : this.#connectionFor(head);
        if (other) return this.#divert(other, new URL(head.url).host, request, [traced, ...rest]);
        const stream: ClientHttp2Stream = apply(request, self, [traced, ...rest]);
        if (!isAnsweredHere(self)) this.#follow(stream);
        return stream;
      },
    });
  }

  #divert(
    socket: Socket,
    authority: string,
    request: ClientHttp2Session['request'],
    args: unknown[],
  ): ClientHttp2Stream {
    const { connect } = require('node:http2') as typeof import('node:http2');
    const session = connect(`http://${authority}`, { createConnection: () => socket }).on('error', () => {});
    const stream: ClientHttp2Stream = apply(request, session, args);
    return stream.once('close', () => session.close());
  }

  #follow(stream: ClientHttp2Stream): void {
    const sentHeaders = stream.sentHeaders;
    const {
      ':method': method = 'GET',
      ':scheme': scheme = 'https',
      ':authority': host,
      ':path': path = '/',
    } = sentHeaders;
    const trace = sentHeaders.traceparent === undefined ? undefined : String(sentHeaders.traceparent);
    const contentType = sentHeaders['content-type']?.toString();
    const head = { method: String(method), url: `${scheme}://${host}${String(path)}`, contentType };
    const call = this.#calls.answering(undefined, head, trace);
    let received: IncomingHttpHeaders = {};
    sniff(stream, {
      outgoing: (part) => this.#calls.takeBody(call, 'request', part(), linesOf(sentHeaders)),
      received: (part) => part && this.#calls.takeBody(call, 'response', part, linesOf(received)),
    });
    stream.once('response', (headers) => {
      received = headers;
      this.#calls.report(call, { status: Number(headers[':status']) });
    });
    stream.once(errorMonitor, (error) => this.#calls.report(call, { error: messageOf(error), ended: true }));
    stream.once('close', () => this.#calls.report(call, { ended: true }));
  }
}

function isAnsweredHere({ socket }: ClientHttp2Session): boolean {
  // As: what a session shows of its socket can only be asked for, by name.
  return socket !== undefined && (socket as { [REPORTED_ELSEWHERE]?: boolean })[REPORTED_ELSEWHERE] === true;
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
