import { errorMonitor } from 'node:events';
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2';
import Module from 'node:module';
import { Duplex } from 'node:stream';
import { messageOf } from './error-text.ts';
import type { OutboundCalls } from './outbound-calls.ts';
import { readAlong } from './read-along.ts';
import { traceHttp2 } from './trace-headers.ts';

const { apply, getPrototypeOf } = Reflect;

/** On a connection whose calls are told of by whoever answers them. */
const TOLD = Symbol('told of');

type Loader = (name: string, ...rest: unknown[]) => unknown;

/** The calls of a connection that is answered here are not to be told of twice. */
export function isToldOf(socket: object): void {
  Object.defineProperty(socket, TOLD, { value: true });
}

/**
 * Reports calls by HTTP/2 that reach their host. They are written below the socket, where nothing can be read along; so it is the
 * session's own way of asking that tells of them.
 */
export class Http2Calls {
  readonly #calls: OutboundCalls;
  #isWatching = false;

  constructor(calls: OutboundCalls) {
    this.#calls = calls;
  }

  /** Has whoever loads node:http2 watched from its first session on, at no cost for all others. */
  install(): void {
    // As: deprecated in words, and what every tool of this kind relies on.
    const modules = Module as unknown as { _load: Loader };
    let isKnown = false;
    modules._load = new Proxy(modules._load, {
      apply: (own, self, args: Parameters<Loader>) => {
        const loaded = apply(own, self, args);
        if (!isKnown && /^(node:)?http2$/.test(args[0])) {
          isKnown = true;
          this.#watchFirst(loaded as typeof import('node:http2')); // As: that is its name.
        }
        return loaded;
      },
    });
  }

  /** Watches from now on. To be called before a session is made. */
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
      apply: (own, self: ClientHttp2Session, args) => {
        const [headers, ...rest] = args;
        const traced = traceHttp2(headers, this.#calls.traceOf());
        const stream: ClientHttp2Stream = apply(own, self, [traced, ...rest]);
        if (!isAnsweredHere(self)) this.#follow(stream);
        return stream;
      },
    });
  }

  #watchFirst(http2: typeof import('node:http2')): void {
    http2.connect = new Proxy(http2.connect, {
      apply: (own, self, args) => {
        this.watch();
        return apply(own, self, args);
      },
    });
  }

  #follow(stream: ClientHttp2Stream): void {
    const sent = stream.sentHeaders;
    const { ':method': method = 'GET', ':scheme': scheme = 'https', ':authority': host, ':path': path = '/' } = sent;
    const trace = sent.traceparent === undefined ? undefined : String(sent.traceparent);
    const call = this.#calls.byStream(String(method), `${scheme}://${host}`, String(path), trace);
    let received: IncomingHttpHeaders = {};
    readAlong(stream, {
      sent: (part) => this.#calls.takeBody(call, 'request', part(), linesOf(sent)),
      received: (part) => part && this.#calls.takeBody(call, 'response', part, linesOf(received)),
    });
    stream.once('response', (headers) => {
      received = headers;
      this.#calls.tell(call, { status: Number(headers[':status']) });
    });
    stream.once(errorMonitor, (error) => this.#calls.tell(call, { error: messageOf(error), ended: true }));
    stream.once('close', () => this.#calls.tell(call, { ended: true }));
  }
}

function isAnsweredHere({ socket }: ClientHttp2Session): boolean {
  // As: what a session shows of its socket can only be asked for, by name.
  return socket !== undefined && (socket as { [TOLD]?: boolean })[TOLD] === true;
}

function linesOf(headers: object): string[] {
  return Object.entries(headers).flatMap(([name, value]) => [name, String(value)]);
}
