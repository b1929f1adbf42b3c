import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { UpgradedConnection } from '../http/upgrades.ts';
import {
  BodyCapture,
  type CapturedBody,
  captured,
  type ExchangeRecord,
  type ExchangeStep,
} from '../model/exchange-record.ts';
import type { Uuid } from '../model/ids.ts';
import { readTraceParent, traceBegunBy } from '../model/trace.ts';
import { type Answer, hasHeader } from './answer.ts';
import type { ContainerRequest } from './container-request.ts';
import { type CorsPolicy, corsHeaders } from './cors.ts';
import type { RateLimit } from './rate-limit.ts';
import type { WebSocketTunnel } from './web-socket-tunnel.ts';

/** A smaller body goes out in one piece with the head of its answer. */
const ONE_PIECE_BYTES = 2 * 1024;

/** One request on its way through the gateway, and what is learned of it on the way. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly atMs: number;
  /** The client's connection, when the request is a WebSocket handshake. */
  readonly upgrade: UpgradedConnection | undefined;
  /** Epoch milliseconds are for people; durations come from the monotonic clock. */
  readonly #startedMs = performance.now();
  #upstreamFromMs: number | undefined;
  #upstreamUntilMs: number | undefined;
  #executionId: Uuid | undefined;
  #traceFrom: string | undefined;
  #cors: CorsPolicy | undefined;
  #rate: { limit: number; remaining: number } | undefined;
  #tunnel: WebSocketTunnel | undefined;
  #isLeaving = false;
  readonly #steps: { name: ExchangeStep; afterMs: number }[] = [];
  #answer: { headers: readonly string[]; body: CapturedBody | undefined } | undefined;
  /** What streams to a container and back. */
  #streams: { request: BodyCapture; response: BodyCapture } | undefined;
  /** The endpoint that was matched. */
  endpointId: Uuid | undefined;
  /** The caller, when credentials were valid. */
  userId: Uuid | undefined;
  /** The request body, once read. */
  body: Uint8Array | undefined;

  /** @param atMs when the request arrived, epoch milliseconds */
  constructor(request: IncomingMessage, response: ServerResponse, atMs: number, upgrade?: UpgradedConnection) {
    this.request = request;
    this.response = response;
    this.atMs = atMs;
    this.upgrade = upgrade;
  }

  /** From here on every answer, errors included, tells what the route lets pages read (D-158). */
  allowOrigins(policy: CorsPolicy | undefined): void {
    this.#cors = policy;
  }

  /** From here on every answer tells the limit and what is left of it (D-156). */
  showLimit(limit: RateLimit, nowMs: number): void {
    this.#rate = { limit: limit.perMinute, remaining: limit.remaining(nowMs) };
  }

  /** A step of its way is done. */
  passed(name: ExchangeStep): void {
    this.#steps.push({ name, afterMs: performance.now() - this.#startedMs });
  }

  /** It goes on to what is no invocation; returns the random UUID after which its part of the trace is named. */
  beginTrace(): string {
    this.#traceFrom = randomUUID();
    return this.#traceFrom;
  }

  /** Sees what streams to a container and back, so that it can be looked at later. */
  witness(): ContainerRequest['witness'] {
    const streams = { request: new BodyCapture(), response: new BodyCapture() };
    this.#streams = streams;
    return {
      sent: (chunk) => streams.request.add(chunk),
      answered: (headers) => {
        this.#answer = { headers, body: undefined };
      },
      received: (chunk) => streams.response.add(chunk),
    };
  }

  /** Goes on for as long as the WebSocket is open. */
  async follow(tunnel: WebSocketTunnel): Promise<void> {
    this.#tunnel = tunnel;
    if (this.#isLeaving) tunnel.goAway();
    await tunnel.closed;
  }

  /** Ends what would not end by itself. */
  goAway(): void {
    this.#isLeaving = true;
    this.#tunnel?.goAway();
  }

  /** From here on it waits for a lambda or container. */
  goUpstream(): void {
    this.#upstreamFromMs = performance.now();
  }

  /** Until here. */
  backFromUpstream(): void {
    const nowMs = performance.now();
    this.#upstreamUntilMs = nowMs;
    this.#steps.push({ name: 'upstream', afterMs: nowMs - this.#startedMs });
  }

  /** Time that a lambda or container took until now. */
  #upstreamMs(): number {
    return this.#upstreamFromMs === undefined ? 0 : (this.#upstreamUntilMs ?? performance.now()) - this.#upstreamFromMs;
  }

  /**
   * The header lines that the gateway adds to any answer (D-156..D-158, D-199).
   *
   * @param own the lines that the answer has of itself: for pages, they win
   */
  controlHeaders(version: string, own: readonly string[]): string[] {
    const upstreamMs = this.#upstreamMs();
    const proxyMs = performance.now() - this.#startedMs - upstreamMs;
    const headers = [
      'X-Terrarium-Version',
      version,
      'X-Terrarium-Proxy-Latency',
      String(Math.round(proxyMs)),
      'X-Terrarium-Upstream-Latency',
      String(Math.round(upstreamMs)),
      'Server-Timing',
      `proxy;dur=${proxyMs.toFixed(1)}, upstream;dur=${upstreamMs.toFixed(1)}`,
    ];
    if (this.#rate) {
      headers.push('X-RateLimit-Limit-Minute', String(this.#rate.limit));
      headers.push('X-RateLimit-Remaining-Minute', String(this.#rate.remaining));
    }
    if (this.#cors) {
      const lines = corsHeaders(this.#cors, this.request.headers.origin);
      for (let at = 0; at < lines.length; at += 2) {
        const name = lines[at] ?? '';
        if (name === 'Vary' || !hasHeader(own, name)) headers.push(name, lines[at + 1] ?? '');
      }
    }
    return headers;
  }

  /**
   * Sends the answer; does nothing when the client has gone. HEAD, 204 and 304 have no body.
   *
   * @param options.stallMs the client is cut off when it takes nothing of the answer for so long
   */
  send(answer: Answer, version: string, options: { isLast: boolean; stallMs: number }): void {
    const { request, response } = this;
    const { status, headers: own, body, executionId } = answer;
    this.#executionId = executionId;
    if (request.socket.destroyed) return;
    const headers = this.controlHeaders(version, own);
    headers.push(...own);
    if (executionId !== undefined) headers.push('X-Terrarium-Execution-Id', executionId);
    if (options.isLast) headers.push('Connection', 'close');
    if (status === 204 || status === 304) {
      response.writeHead(status, headers).end();
      this.#answer = { headers, body: undefined };
      return;
    }
    headers.push('Content-Length', String(Buffer.byteLength(body)));
    this.#answer = { headers, body: captured(body) };
    response.writeHead(status, headers);
    if (body.length > ONE_PIECE_BYTES) this.#endPatiently(body, options.stallMs);
    else if (typeof body === 'string') response.end(body);
    // Head and body as one text are one write, as two pieces a list of them; in Latin-1 each byte stays what it is.
    else response.end(Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1'), 'latin1');
  }

  /** A client that does not read holds the answer in memory. */
  #endPatiently(body: string | Uint8Array, stallMs: number): void {
    const { response } = this;
    const { socket } = response;
    response.end(body);
    if (!socket || socket.writableLength === 0) return;
    // Progress begins it anew; the server closes a connection that it ends for.
    socket.setTimeout(stallMs);
    // Ahead of the server's own, which sets the time for the next request.
    response.prependOnceListener('finish', () => socket.setTimeout(0));
  }

  /** What the recorder is told once the exchange is over. */
  record(): ExchangeRecord {
    const { request, response } = this;
    return {
      plane: 'gateway',
      atMs: this.atMs,
      durationMs: performance.now() - this.#startedMs,
      upstreamMs: this.#upstreamMs(),
      method: request.method ?? '',
      target: request.url ?? '',
      peer: request.socket.remoteAddress ?? '',
      steps: this.#steps,
      requestHeaders: request.rawHeaders,
      requestBody: this.body ? captured(this.body) : this.#streams?.request.body,
      status: response.headersSent ? response.statusCode : undefined,
      responseHeaders: this.#answer?.headers ?? [],
      responseBody: this.#answer?.body ?? this.#streams?.response.body,
      // Not response.writableFinished, which is also true of an answer whose connection was cut.
      isComplete: response.writableEnded && (!request.socket.destroyed || request.socket.writableFinished),
      endpointId: this.endpointId,
      executionId: this.#executionId,
      traceId:
        readTraceParent(request.headers.traceparent)?.traceId ?? (this.#traceFrom && traceBegunBy(this.#traceFrom)),
      userId: this.userId,
    };
  }
}
