import { subscribe } from 'node:diagnostics_channel';
import { errorMonitor } from 'node:events';
import type { ClientRequest } from 'node:http';
import type { Socket } from 'node:net';
import { monotonicMs } from '../../machine/clock.ts';
import { MAX_CAPTURED_BYTES } from '../../model/exchange-record.ts';
import type { MetRule } from '../../model/outbound-rule.ts';
import { readTraceParent } from '../../model/trace.ts';
import type { OutboundNews } from '../process-messages.ts';
import { messageOf } from './error-text.ts';
import { type ChangeableRequest, type TraceHeaders, traceHttp, traceIn, traceUndici } from './trace-headers.ts';
import { tapWire } from './wire-tap.ts';

const LONGEST_URL = 2_048;
const LONGEST_HEADER = 200;

/** What undici, Node's own behind fetch or one from npm, tells of a request. */
interface UndiciRequest extends ChangeableRequest {
  method: string;
  origin: string;
}

/**
 * Reports every HTTP call of this process with the beginning of its bodies, whatever makes it. It listens to diagnostics channels
 * and reads along what goes over connections: a call behaves exactly as it would without.
 */
export class OutboundCalls {
  /** The rules that decide about a call to a URL. */
  rulesOf: (url: string) => MetRule[] = () => [];
  /** What goes with a call that is made now. */
  traceOf: () => TraceHeaders | undefined = () => undefined;
  readonly #report: (news: OutboundNews, bytes?: Uint8Array) => void;
  readonly #ids = new WeakMap<object, number>();
  readonly #hidden = new WeakSet<object>();
  /** Calls whose library tells how they fail. */
  readonly #followed = new WeakSet<object>();
  /** The call that a connection carries now. */
  readonly #carried = new WeakMap<Socket, object>();
  /** The call that undici is about to send by a connection. */
  readonly #announced = new WeakMap<Socket, object>();
  /** What undici is about to send. */
  readonly #created = new Set<UndiciRequest>();
  /** Bytes of each body so far. */
  readonly #sizes = new WeakMap<object, { request: number; response: number }>();
  /** Of calls that have not been told of yet. */
  readonly #traces = new WeakMap<object, string>();
  #isTracing = false;
  #lastId = 0;

  /** @param report given what is new, and with a part of a body its bytes */
  constructor(report: (news: OutboundNews, bytes?: Uint8Array) => void) {
    this.#report = report;
    this.#watchHttp();
    this.#watchUndici();
  }

  /** Something became known of a call. Does nothing for a request that never started. */
  tell(request: object, news: Omit<OutboundNews, 'id'>): void {
    const id = this.#ids.get(request);
    if (id !== undefined) this.#report({ id, atMs: monotonicMs(), ...news });
  }

  /** Leaves a request that has not been sent yet out of the report: it is not the lambda's. */
  hide(request: object): void {
    this.#hidden.add(request);
  }

  /** Has calls by node:http carry their trace from now on. To be called before the first one. */
  trace(): void {
    if (this.#isTracing) return;
    this.#isTracing = true;
    const traceOf = (request: object) => (this.#hidden.has(request) ? undefined : this.traceOf());
    traceHttp(traceOf, (request, traceId) => traceId !== undefined && this.#traces.set(request, traceId));
  }

  /** Whatever HTTP/1 goes over that connection from now on is a call. */
  watch(socket: Socket): void {
    tapWire(socket, {
      asked: (method, target, headers) => this.#asked(socket, method, target, headers),
      body: (call, of, part, headers) => this.takeBody(call, of, part, headers),
      answered: (call, status) => this.tell(call, { status }),
      ended: (call) => this.tell(call, { ended: true }),
      lost: (call, error) => {
        if (this.#followed.has(call)) return;
        const reason =
          error === undefined ? 'the connection was closed before the answer was complete' : messageOf(error);
        this.tell(call, { error: reason, ended: true });
      },
    });
  }

  /** One more part of a body; of a compressed one as it is sent. `headers`: names and values alternating. */
  takeBody(call: object, of: 'request' | 'response', part: Uint8Array, headers: readonly string[]): void {
    const id = this.#ids.get(call);
    if (id === undefined) return;
    const sizes = this.#sizes.get(call) ?? { request: 0, response: 0 };
    this.#sizes.set(call, sizes);
    const room = Math.max(0, MAX_CAPTURED_BYTES - sizes[of]);
    sizes[of] += part.length;
    const [contentType, contentEncoding] = ['content-type', 'content-encoding'].map((name) => headerIn(headers, name));
    const known = { ...(contentType && { contentType }), ...(contentEncoding && { contentEncoding }) };
    // A copy: whose bytes these are may write others into the same place.
    this.#report({ id, body: { of, sizeBytes: sizes[of], ...known } }, Uint8Array.from(part.subarray(0, room)));
  }

  /** The call that has arrived here, by a connection which carries one at a time or by another; it starts now unless it is known already. */
  answering(socket: Socket | undefined, method: string, url: string, traceParent?: string): object {
    const call = (socket && this.#carried.get(socket)) ?? {};
    this.#start(call, method, url, readTraceParent(traceParent)?.traceId);
    return call;
  }

  /** A call that is a stream of its own: one that undici has told of, or another, which starts now. */
  byStream(method: string, origin: string, path: string, traceParent: string | undefined): object {
    const announced = [...this.#created].find(
      (request) => request.method === method && String(request.origin) === origin && request.path === path,
    );
    const call = announced ?? {};
    if (announced) this.#created.delete(announced);
    else this.#start(call, method, `${origin}${path}`, readTraceParent(traceParent)?.traceId);
    return call;
  }

  #asked(socket: Socket, method: string, target: string, headers: string[]): object {
    // As: Node's own note of whose turn it is on a connection.
    const { _httpMessage: request } = socket as Socket & { _httpMessage?: ClientRequest | null };
    const call = request ?? this.#announced.get(socket) ?? {};
    this.#announced.delete(socket);
    this.#carried.set(socket, call);
    const scheme = 'encrypted' in socket ? 'https' : 'http';
    const isWhole = /^https?:/.test(target);
    this.#start(call, method, isWhole ? target : `${scheme}://${headerIn(headers, 'host')}${target}`, traceIn(headers));
    if (request) this.#follow(request);
    return call;
  }

  /** A call starts; `request` stands for it from now on. */
  #start(request: object, method: string, url: string, traceId = this.#traces.get(request)): void {
    if (this.#hidden.has(request) || this.#ids.has(request)) return;
    this.#lastId += 1;
    this.#ids.set(request, this.#lastId);
    const rules = this.rulesOf(url);
    const known = {
      id: this.#lastId,
      atMs: monotonicMs(),
      method,
      url: url.slice(0, LONGEST_URL),
      ...(traceId !== undefined && { traceId }),
    };
    this.#report({ ...known, ...(rules.length > 0 && { rules }) });
  }

  #watchHttp(): void {
    on<{ request: ClientRequest }>('http.client.request.start', ({ request }) => {
      const host = request.getHeader('host') ?? request.host;
      this.#start(request, request.method, `${request.protocol}//${host}${request.path}`);
      this.#follow(request);
    });
    on<{ request: ClientRequest; response: { statusCode: number } }>('http.client.response.finish', (message) =>
      this.tell(message.request, { status: message.response.statusCode }),
    );
  }

  /** It may come to nothing before anything has been sent. */
  #follow(request: ClientRequest): void {
    if (this.#followed.has(request)) return;
    this.#followed.add(request);
    request.on(errorMonitor, (error) => this.tell(request, { error: messageOf(error), ended: true }));
    request.on('close', () => this.tell(request, { ended: true }));
  }

  #watchUndici(): void {
    on<{ request: UndiciRequest }>('undici:request:create', ({ request }) => {
      this.#followed.add(request);
      this.#created.add(request);
      const traceId = traceUndici(request, this.traceOf());
      this.#start(request, request.method, `${request.origin}${request.path}`, traceId);
    });
    on<{ request: UndiciRequest; socket: Socket }>('undici:client:sendHeaders', ({ request, socket }) =>
      this.#announced.set(socket, request),
    );
    on<{ request: UndiciRequest; response: { statusCode: number } }>('undici:request:headers', (message) =>
      this.tell(message.request, { status: message.response.statusCode }),
    );
    const over = (request: UndiciRequest, news: Omit<OutboundNews, 'id'>): void => {
      this.#created.delete(request);
      this.tell(request, { ...news, ended: true });
    };
    on<{ request: UndiciRequest }>('undici:request:trailers', ({ request }) => over(request, {}));
    on<{ request: UndiciRequest; error: unknown }>('undici:request:error', ({ request, error }) =>
      over(request, { error: messageOf(error) }),
    );
  }
}

function on<T>(channel: string, listener: (message: T) => void): void {
  // As: Node documents what each channel carries, but types it as unknown.
  subscribe(channel, (message) => listener(message as T));
}

function headerIn(lines: readonly string[], name: string): string | undefined {
  for (let at = 0; at < lines.length; at += 2) {
    if (lines[at]?.toLowerCase() === name) return lines[at + 1]?.slice(0, LONGEST_HEADER);
  }
  return undefined;
}
