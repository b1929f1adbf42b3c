import { subscribe } from 'node:diagnostics_channel';
import { errorMonitor } from 'node:events';
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { hostnameIn, type RequestHead } from '../../../model/crm-form.ts';
import { MAX_CAPTURED_BYTES } from '../../../model/exchange-record.ts';
import type { MetRule } from '../../../model/outbound-rule.ts';
import { readTraceParent } from '../../../model/trace.ts';
import { monotonicMs } from '../../../system/clock.ts';
import type { OutboundNews } from '../process/process-messages.ts';
import { messageOf } from './error-text.ts';
import { headOf } from './http-forms.ts';
import { isRefusal } from './rule-error.ts';
import {
  type ChangeableRequest,
  headerIn,
  linesOf,
  type TraceHeaders,
  traceHttp,
  traceIn,
  traceUndici,
} from './trace-headers.ts';

// Captured at start, because a lambda may replace the globals of its own process.
const { nextTick } = process;

const LONGEST_URL = 2_048;
const LONGEST_HEADER = 200;
const CUT_OFF = 'the connection was closed before the answer was complete';

/** The request of undici, Node's own behind fetch or one from npm. */
interface UndiciRequest extends ChangeableRequest {
  method: string;
  origin: string;
}

/** Reports every HTTP call of this process with the beginning of its bodies. It only listens: a call behaves exactly as it would without. */
export class OutboundCalls {
  rulesOf: (head: RequestHead) => MetRule[] = () => [];
  leavesMachine: (socket: object) => boolean = () => false;
  onHead: (socket: Socket, head: RequestHead, isForProxy: boolean) => void = () => {};
  onTunnel: (socket: Socket) => void = () => {};
  traceOf: () => TraceHeaders | undefined = () => undefined;
  hint: (text: string) => void = () => {};
  executionId: () => string | undefined = () => undefined;
  readonly #report: (update: OutboundNews, bytes?: Uint8Array) => void;
  readonly #ids = new WeakMap<object, number>();
  readonly #hidden = new WeakSet<object>();
  /** Calls whose library tells how they fail. */
  readonly #followed = new WeakSet<object>();
  readonly #carried = new WeakMap<Socket, object>();
  /** The call that undici is about to send by a connection. */
  readonly #announced = new WeakMap<Socket, object>();
  readonly #created = new Set<UndiciRequest>();
  /** The requests for which undici has no connection yet. */
  readonly #unsent = new Set<UndiciRequest>();
  readonly #sizes = new WeakMap<object, { request: number; response: number }>();
  readonly #traces = new WeakMap<object, string>();
  readonly #executionIds = new WeakMap<object, string>();
  #isTracing = false;
  #isConnecting = false;
  #lastId = 0;

  constructor(report: (update: OutboundNews, bytes?: Uint8Array) => void) {
    this.#report = report;
    this.#watchHttp();
    this.#watchUndici();
  }

  /** Something became known of a call. Does nothing for a request that never started. */
  report(request: object, update: Omit<OutboundNews, 'id'>): void {
    const id = this.#ids.get(request);
    if (id !== undefined) this.#report({ id, atMs: monotonicMs(), ...update });
  }

  /** Returns the execution id of the invocation that sent a request. */
  executionIdOf(request: object): string | undefined {
    return this.#executionIds.get(request);
  }

  /** Leaves a request that has not been sent yet out of the report: it is not the lambda's. */
  hide(request: object): void {
    this.#hidden.add(request);
  }

  /** Adds traces to calls by node:http from now on. Call it before the first one. */
  trace(): void {
    if (this.#isTracing) return;
    this.#isTracing = true;
    const traceOf = (request: object) => (this.#hidden.has(request) ? undefined : this.traceOf());
    traceHttp(traceOf, (request, traceId) => traceId !== undefined && this.#traces.set(request, traceId));
  }

  /** Reports a connection that carries no HTTP; returns the number by which it can be updated. */
  open(connection: Omit<OutboundNews, 'id'>): number {
    this.#lastId += 1;
    this.#report({ id: this.#lastId, ...connection });
    return this.#lastId;
  }

  update(id: number, facts: Omit<OutboundNews, 'id'>): void {
    this.#report({ id, atMs: monotonicMs(), ...facts });
  }

  /** The request's Content-Length is smaller than the body that was written. */
  reportTruncated(call: object, contentLength: number, bodyBytes: number): void {
    if (!this.#ids.has(call)) return;
    const lengths = `Content-Length is ${contentLength}, but the body has ${bodyBytes} bytes`;
    this.hint(
      `a request's ${lengths}: the receiver reads only ${contentLength} of them. Set Buffer.byteLength(body), or leave the header out.`,
    );
  }

  /** Nothing more will come; `error`: of the connection, if it had one. */
  reportLost(call: object, error: unknown): void {
    if (this.#followed.has(call)) return;
    this.report(call, { ...(error === undefined ? { error: CUT_OFF } : failureOf(error)), ended: true });
  }

  /** One more part of a body; of a compressed one as it is sent. `headers`: names and values alternating. */
  takeBody(call: object, side: 'request' | 'response', part: Uint8Array, headers: readonly unknown[]): void {
    const id = this.#ids.get(call);
    if (id === undefined) return;
    const sizes = this.#sizes.get(call) ?? { request: 0, response: 0 };
    this.#sizes.set(call, sizes);
    const free = Math.max(0, MAX_CAPTURED_BYTES - sizes[side]);
    sizes[side] += part.length;
    const [contentType, contentEncoding] = ['content-type', 'content-encoding'].map((name) =>
      headerIn(headers, name)?.slice(0, LONGEST_HEADER),
    );
    const encodings = { ...(contentType && { contentType }), ...(contentEncoding && { contentEncoding }) };
    // A copy: whose bytes these are may write others into the same place.
    this.#report(
      { id, body: { of: side, sizeBytes: sizes[side], ...encodings } },
      Uint8Array.from(part.subarray(0, free)),
    );
  }

  /** True for the connection that undici is making at this moment. */
  takeConnecting(): boolean {
    const isConnecting = this.#isConnecting;
    this.#isConnecting = false;
    return isConnecting;
  }

  isAwaited(matches: (head: RequestHead) => boolean, hostname: string, port: number): boolean {
    return [...this.#unsent].some((request) => {
      const origin = new URL(request.origin);
      if (hostnameIn(origin) !== hostname || portOf(origin) !== port) return false;
      return matches(undiciHeadOf(request));
    });
  }

  /** The call that has arrived here, by a connection which carries one at a time or by another; it starts now unless it is known already. */
  answering(socket: Socket | undefined, { method, url, contentType }: RequestHead, traceParent?: string): object {
    const call = (socket ? this.#carried.get(socket) : this.#createdBy(method, url)) ?? {};
    this.#start(call, { method, url, contentType }, readTraceParent(traceParent)?.traceId);
    return call;
  }

  /** The latest call that was sent by a connection. */
  carriedBy(socket: Socket): object | undefined {
    return this.#carried.get(socket);
  }

  #createdBy(method: string, url: string): object | undefined {
    const found = [...this.#created].find(
      (candidate) => candidate.method === method && `${candidate.origin}${candidate.path}` === url,
    );
    if (found) this.#created.delete(found);
    return found;
  }

  /** A request's head is about to be sent. What is returned represents the call from now on. */
  recordRequest(socket: Socket, method: string, target: string, headers: string[]): object {
    // As: Node's own note of whose turn it is on a connection.
    const { _httpMessage: request } = socket as Socket & { _httpMessage?: ClientRequest | null };
    const call = request ?? this.#announced.get(socket) ?? {};
    this.#announced.delete(socket);
    this.#carried.set(socket, call);
    const scheme = 'encrypted' in socket ? 'https' : 'http';
    const isWhole = /^https?:/.test(target);
    const path = target.startsWith('/') ? target : `/${target}`;
    const url = isWhole ? target : `${scheme}://${headerIn(headers, 'host')}${path}`;
    const head = { method, url, contentType: headerIn(headers, 'content-type') };
    this.#start(call, head, traceIn(headers));
    if (this.leavesMachine(socket)) this.report(call, { leftMachine: true });
    if (request) this.#follow(request);
    this.onHead(socket, head, isWhole);
    return call;
  }

  #start(request: object, head: RequestHead, traceId = this.#traces.get(request)): void {
    // A tunnel through a proxy is part of the call for which it is made.
    if (head.method === 'CONNECT' || this.#hidden.has(request) || this.#ids.has(request)) return;
    this.#lastId += 1;
    this.#ids.set(request, this.#lastId);
    const executionId = this.executionId();
    if (executionId !== undefined) this.#executionIds.set(request, executionId);
    const { method, url } = head;
    const rules = this.rulesOf(head);
    const call = {
      id: this.#lastId,
      atMs: monotonicMs(),
      method,
      url: url.slice(0, LONGEST_URL),
      ...(traceId !== undefined && { traceId }),
    };
    this.#report({ ...call, ...(rules.length > 0 && { rules }) });
  }

  #watchHttp(): void {
    on<{ request: ClientRequest }>('http.client.request.start', ({ request }) => {
      this.#start(request, headOf(request));
      this.#follow(request);
    });
    on<{ request: ClientRequest; response: { statusCode: number } }>('http.client.response.finish', (message) =>
      this.report(message.request, { status: message.response.statusCode }),
    );
  }

  #follow(request: ClientRequest): void {
    if (this.#followed.has(request)) return;
    this.#followed.add(request);
    request.on(errorMonitor, (error) => this.report(request, { ...failureOf(error), ended: true }));
    request.on('close', () => {
      // As: Node types this as a member of responses only.
      const { res } = request as ClientRequest & { res?: IncomingMessage };
      this.report(request, { ...(res?.complete === false && { error: CUT_OFF }), ended: true });
    });
  }

  #watchUndici(): void {
    on<{ request: UndiciRequest }>('undici:request:create', ({ request }) => {
      this.#followed.add(request);
      this.#created.add(request);
      this.#unsent.add(request);
      const traceId = traceUndici(request, this.traceOf());
      this.#start(request, undiciHeadOf(request), traceId);
    });
    on('undici:client:beforeConnect', () => {
      this.#isConnecting = true;
      // A connection that is made by a function of the lambda, or to no port, may not follow at once.
      nextTick(() => this.takeConnecting());
    });
    on<{ request: UndiciRequest; socket: Socket }>('undici:client:sendHeaders', ({ request, socket }) => {
      this.#announced.set(socket, request);
      this.#unsent.delete(request);
    });
    on<{ request: UndiciRequest; response: { statusCode: number } }>('undici:request:headers', (message) =>
      this.report(message.request, { status: message.response.statusCode }),
    );
    const over = (request: UndiciRequest, update: Omit<OutboundNews, 'id'>): void => {
      this.#created.delete(request);
      this.#unsent.delete(request);
      this.report(request, { ...update, ended: true });
    };
    on<{ request: UndiciRequest }>('undici:request:trailers', ({ request }) => over(request, {}));
    on<{ request: UndiciRequest; error: unknown }>('undici:request:error', ({ request, error }) =>
      over(request, failureOf(error)),
    );
  }
}

/** The error of a call as it is reported. */
export function failureOf(error: unknown): Pick<OutboundNews, 'error' | 'blocked'> {
  return { error: messageOf(error), ...(isRefusal(error) && { blocked: true as const }) };
}

function on<T>(channel: string, listener: (message: T) => void): void {
  // As: Node documents what each channel carries, but types it as unknown.
  subscribe(channel, (message) => listener(message as T));
}

function undiciHeadOf(request: UndiciRequest): RequestHead {
  const contentType = headerIn(linesOf(request), 'content-type');
  return { method: request.method, url: `${request.origin}${request.path}`, contentType };
}

function portOf({ port, protocol }: URL): number {
  return Number(port) || (protocol === 'http:' ? 80 : 443);
}
