import { subscribe } from 'node:diagnostics_channel';
import { errorMonitor } from 'node:events';
import type { ClientRequest } from 'node:http';
import type { Socket } from 'node:net';
import type { MetRule } from '../../model/outbound-rule.ts';
import type { OutboundHead } from '../protocol.ts';
import { messageOf } from './error-text.ts';

/** Something new about an outbound call of this process. */
export type OutboundNews = Omit<OutboundHead, 'number'>;

const LONGEST_URL = 2_048;

/** What undici, Node's own behind fetch or one from npm, tells of a request. */
interface UndiciRequest {
  method: string;
  origin: string;
  path: string;
}

/**
 * Reports every HTTP call made with node:http, node:https, fetch or undici, and whatever else is answered in this process. It only
 * listens to diagnostics channels: a call behaves exactly as it would without.
 */
export class OutboundCalls {
  /** The rules that decide about a call to a URL. */
  rulesOf: (url: string) => MetRule[] = () => [];
  readonly #report: (news: OutboundNews) => void;
  readonly #ids = new WeakMap<object, number>();
  readonly #hidden = new WeakSet<object>();
  /** The call that a connection carries now. */
  readonly #carried = new WeakMap<Socket, object>();
  #lastId = 0;

  constructor(report: (news: OutboundNews) => void) {
    this.#report = report;
    this.#watchHttp();
    this.#watchUndici();
  }

  /** Something became known of a call. Does nothing for a request that never started. */
  tell(request: object, news: Omit<OutboundNews, 'id'>): void {
    const id = this.#ids.get(request);
    if (id !== undefined) this.#report({ id, ...news });
  }

  /** Leaves a request that has not been sent yet out of the report: it is not the lambda's. */
  hide(request: object): void {
    this.#hidden.add(request);
  }

  /** The call that has arrived by a connection which was led here; it starts now unless it is known already. */
  answering(socket: Socket, method: string, url: string): object {
    const known = this.#carried.get(socket);
    if (known && this.#ids.has(known)) return known;
    const call = {};
    this.#start(call, method, url);
    this.#carried.set(socket, call);
    return call;
  }

  /** It is over. */
  answered(socket: Socket, call: object): void {
    this.#carried.delete(socket);
    this.tell(call, { ended: true });
  }

  /** A call starts; `request` stands for it from now on. */
  #start(request: object, method: string, url: string): void {
    if (this.#hidden.has(request) || this.#ids.has(request)) return;
    this.#lastId += 1;
    this.#ids.set(request, this.#lastId);
    const rules = this.rulesOf(url);
    const known = { id: this.#lastId, method, url: url.slice(0, LONGEST_URL) };
    this.#report({ ...known, ...(rules.length > 0 && { rules }) });
  }

  #watchHttp(): void {
    on<{ request: ClientRequest }>('http.client.request.start', ({ request }) => {
      const carried = request.socket && this.#carried.get(request.socket);
      const id = carried ? this.#ids.get(carried) : undefined;
      // Its head was sent before its end was known, and has arrived already.
      if (id !== undefined) this.#ids.set(request, id);
      const host = request.getHeader('host') ?? request.host;
      this.#start(request, request.method, `${request.protocol}//${host}${request.path}`);
      if (request.socket) this.#carried.set(request.socket, request);
      else request.prependOnceListener('socket', (socket) => this.#carried.set(socket, request));
      request.on(errorMonitor, (error) => this.tell(request, { error: messageOf(error), ended: true }));
      request.on('close', () => this.tell(request, { ended: true }));
    });
    on<{ request: ClientRequest; response: { statusCode: number } }>('http.client.response.finish', (message) =>
      this.tell(message.request, { status: message.response.statusCode }),
    );
  }

  #watchUndici(): void {
    on<{ request: UndiciRequest }>('undici:request:create', ({ request }) =>
      this.#start(request, request.method, `${request.origin}${request.path}`),
    );
    on<{ request: UndiciRequest; socket: Socket }>('undici:client:sendHeaders', ({ request, socket }) =>
      this.#carried.set(socket, request),
    );
    on<{ request: UndiciRequest; response: { statusCode: number } }>('undici:request:headers', (message) =>
      this.tell(message.request, { status: message.response.statusCode }),
    );
    on<{ request: UndiciRequest }>('undici:request:trailers', ({ request }) => this.tell(request, { ended: true }));
    on<{ request: UndiciRequest; error: unknown }>('undici:request:error', ({ request, error }) =>
      this.tell(request, { error: messageOf(error), ended: true }),
    );
  }
}

function on<T>(channel: string, listener: (message: T) => void): void {
  // As: Node documents what each channel carries, but types it as unknown.
  subscribe(channel, (message) => listener(message as T));
}
