import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { FAULT_HEADER } from '../api/server/fault-rules.ts';
import type { UpgradedConnection } from '../api/server/upgrades.ts';
import type { PlatformError } from '../model/errors.ts';
import {
  BodyCapture,
  type CapturedBody,
  captured,
  type ExchangeRecord,
  type ExchangeStep,
  type SharedBodies,
} from '../model/exchange-record.ts';
import type { Uuid } from '../model/record.ts';
import { readTraceParent, traceStartedBy } from '../model/trace.ts';
import type { ContainerRequest } from './container-request.ts';
import { type CorsPolicy, corsHeaders } from './cors.ts';
import type { RateLimit } from './endpoint.ts';
import { hasBody } from './request.ts';

export interface Answer {
  status: number;
  /** Header lines, names and values alternating; without Content-Length. */
  headers: readonly string[];
  body: string | Uint8Array;
  executionId?: Uuid;
}

export function jsonAnswer(status: number, value: object, headers: readonly string[] = []): Answer {
  return { status, headers: ['Content-Type', 'application/json', ...headers], body: JSON.stringify(value) };
}

export function errorAnswer(error: PlatformError): Answer {
  return jsonAnswer(error.status, error.body(), Object.entries(error.headers).flat());
}

export function hasHeader(lines: readonly string[], name: string): boolean {
  const lowerName = name.toLowerCase();
  for (let at = 0; at < lines.length; at += 2) {
    const line = lines[at];
    if (line?.length === lowerName.length && line.toLowerCase() === lowerName) return true;
  }
  return false;
}

const ONE_PIECE_BYTES = 2 * 1024;

export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly atMs: number;
  readonly upgrade: UpgradedConnection | undefined;
  /** Epoch milliseconds are shown to users; durations come from the monotonic clock. */
  readonly #startedMs = performance.now();
  #upstreamFromMs: number | undefined;
  #upstreamUntilMs: number | undefined;
  #traceFrom: string | undefined;
  #rate: { limit: number; remaining: number } | undefined;
  readonly #steps: { name: ExchangeStep; afterMs: number }[] = [];
  #answer: { headers: readonly string[]; body: CapturedBody | undefined } | undefined;
  #recording: ContainerRequest['recording'] | undefined;
  #unreadBody: BodyCapture | undefined;
  /** Positions of the bodies in the recorder; the invocation shares them. */
  readonly bodies: SharedBodies = {};
  /** The fault rule that applied to the request (D-221). */
  faultId: string | undefined;
  /** The invocation behind the response, or behind a request whose client did not wait for the response. */
  executionId: Uuid | undefined;
  endpointId: Uuid | undefined;
  userId: Uuid | undefined;
  apiKey: string | undefined;
  replayOf: number | undefined;
  body: Uint8Array | undefined;
  /** All responses from now on, including errors, have the CORS headers of this policy (D-158). */
  cors: CorsPolicy | undefined;
  /** For `X-Terrarium-Target`: `lambda ID` or `endpoint ID`, where the path alone does not tell which of them answers (D-165). */
  targetName: string | undefined;

  constructor(request: IncomingMessage, response: ServerResponse, atMs: number, upgrade?: UpgradedConnection) {
    this.request = request;
    this.response = response;
    this.atMs = atMs;
    this.upgrade = upgrade;
  }

  /** From now on all responses have the rate limit headers (D-156). */
  showLimit(limit: RateLimit, nowMs: number): void {
    this.#rate = { limit: limit.perMinute, remaining: limit.remaining(nowMs) };
  }

  passed(name: ExchangeStep): void {
    this.#steps.push({ name, afterMs: performance.now() - this.#startedMs });
  }

  /** Starts forwarding to a target without an invocation. Returns a random UUID, from which the span id in the trace is derived. */
  beginTrace(): string {
    this.#traceFrom = randomUUID();
    return this.#traceFrom;
  }

  startRecording(): ContainerRequest['recording'] {
    this.#recording = { request: new BodyCapture(), response: new BodyCapture() };
    return this.#recording;
  }

  /** Records the body of a request that was rejected before it was read, so that a rejected form can be found and sent again. */
  captureUnreadBody(): void {
    const { request } = this;
    // A client that expects "100 Continue" sends its body only after that response.
    if (this.body || this.#recording || !hasBody(request) || request.headers.expect !== undefined) return;
    const capture = new BodyCapture();
    this.#unreadBody = capture;
    request.on('data', (chunk: Buffer) => capture.add(chunk));
  }

  /** Calls `onRead` when nothing more of the request's body can arrive: at once, unless an unread body is being captured. */
  whenBodyIsRead(onRead: () => void): void {
    const { request } = this;
    const { socket } = request;
    if (!this.#unreadBody || request.readableEnded || socket.destroyed) {
      onRead();
      return;
    }
    // After the response, the end of the connection does not end the request.
    const end = () => {
      request.off('end', end);
      socket.off('close', end);
      onRead();
    };
    request.once('end', end);
    socket.once('close', end);
  }

  startUpstream(): void {
    this.#upstreamFromMs = performance.now();
  }

  endUpstream(): void {
    this.#upstreamUntilMs = performance.now();
    this.passed('upstream');
  }

  /** @param nowMs the end as long as the upstream has not ended, so that it is never longer than the whole exchange */
  #upstreamMs(nowMs: number): number {
    return this.#upstreamFromMs === undefined ? 0 : (this.#upstreamUntilMs ?? nowMs) - this.#upstreamFromMs;
  }

  /** The headers that the gateway adds to any response (D-156..D-158, D-199); the CORS headers in `ownHeaders` take precedence. */
  controlHeaders(version: string, ownHeaders: readonly string[]): string[] {
    const nowMs = performance.now();
    const upstreamMs = this.#upstreamMs(nowMs);
    const proxyMs = nowMs - this.#startedMs - upstreamMs;
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
    if (this.faultId !== undefined) headers.push(...this.#faultHeader());
    if (this.targetName !== undefined) headers.push('X-Terrarium-Target', this.targetName);
    if (this.#rate) {
      headers.push('X-RateLimit-Limit-Minute', String(this.#rate.limit));
      headers.push('X-RateLimit-Remaining-Minute', String(this.#rate.remaining));
    }
    if (this.cors) {
      const lines = corsHeaders(this.cors, this.request.headers.origin);
      for (let at = 0; at < lines.length; at += 2) {
        const name = lines[at] ?? '';
        if (name === 'Vary' || !hasHeader(ownHeaders, name)) headers.push(name, lines[at + 1] ?? '');
      }
    }
    return headers;
  }

  #faultHeader(): string[] {
    return this.faultId === undefined ? [] : [FAULT_HEADER, this.faultId];
  }

  /** Sends the response, unless the client has disconnected. HEAD, 204 and 304 have no body. Who reads nothing for `stallMs` is cut off. */
  send(answer: Answer, version: string, options: { isLast: boolean; stallMs: number }): void {
    const { request, response } = this;
    const { status, headers: ownHeaders, body, executionId } = answer;
    this.executionId = executionId;
    if (request.socket.destroyed) return;
    const headers = this.controlHeaders(version, ownHeaders);
    headers.push(...ownHeaders);
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
    if (body.length > ONE_PIECE_BYTES) this.#endWithTimeout(body, options.stallMs);
    else if (typeof body === 'string') response.end(body);
    // A single string of headers and body is written at once; Latin-1 keeps each byte.
    else response.end(Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1'), 'latin1');
  }

  /** A client that does not read keeps the response in memory. */
  #endWithTimeout(body: string | Uint8Array, stallMs: number): void {
    const { response } = this;
    const { socket } = response;
    response.end(body);
    if (!socket || socket.writableLength === 0) return;
    // Progress restarts the timer; the server closes connections for which it calls `end`.
    socket.setTimeout(stallMs);
    // Ahead of the server's own listener, which sets the timeout for the next request.
    response.prependOnceListener('finish', () => socket.setTimeout(0));
  }

  /** The recorded part of the request's body that has arrived. */
  get requestBody(): CapturedBody | undefined {
    return this.body ? captured(this.body) : (this.#unreadBody ?? this.#recording?.request)?.body;
  }

  record(): ExchangeRecord {
    const { request, response } = this;
    const nowMs = performance.now();
    return {
      plane: 'gateway',
      atMs: this.atMs,
      durationMs: nowMs - this.#startedMs,
      upstreamMs: this.#upstreamMs(nowMs),
      method: request.method ?? '',
      target: request.url ?? '',
      peer: request.socket.remoteAddress ?? '',
      steps: this.#steps,
      requestHeaders: request.rawHeaders,
      requestBody: this.requestBody,
      status: response.headersSent ? response.statusCode : undefined,
      responseHeaders: this.#answer?.headers ?? this.#recording?.responseHeaders ?? this.#faultHeader(),
      responseBody: this.#answer?.body ?? this.#recording?.response.body,
      // Not response.writableFinished, which is also true if the connection was cut.
      isComplete: response.writableEnded && (!request.socket.destroyed || request.socket.writableFinished),
      endpointId: this.endpointId,
      executionId: this.executionId,
      bodies: this.bodies,
      traceId:
        readTraceParent(request.headers.traceparent)?.traceId ?? (this.#traceFrom && traceStartedBy(this.#traceFrom)),
      userId: this.userId,
      apiKey: this.apiKey,
      replayOf: this.replayOf,
    };
  }
}
