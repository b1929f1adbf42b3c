import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { BodyCapture, captured, type ExchangeRecord } from '../model/exchange-record.ts';
import type { Uuid } from '../model/ids.ts';
import { readTraceParent } from '../model/trace.ts';
import { CALLER_ID } from './serve.ts';

/** The window's own files and questions, which are asked because something was recorded. */
const UNRECORDED = /^\/(ui|inspect)(\/|\?|$)/;
/** Whose readings are the window's, too. */
const WINDOW = 'ui';

export interface ExchangeRecording {
  /** Epoch milliseconds. */
  nowMs(): number;
  /** The account of a request's credentials, if it has some that are good; asked at its end, where nobody asked before. */
  userIdOf(request: IncomingMessage): Uuid | undefined;
  onExchange(record: ExchangeRecord): void;
}

/** Tells of a request of the control plane and its answer once both are over. */
export function recordExchange(request: IncomingMessage, response: ServerResponse, recording: ExchangeRecording): void {
  const target = request.url ?? '';
  if (UNRECORDED.test(target)) return;
  if (request.method === 'GET' && request.headers['x-terrarium-client'] === WINDOW) return;
  const startedMs = performance.now();
  const atMs = recording.nowMs();
  const peer = request.socket.remoteAddress ?? '';
  const body = watchBody(response);
  response.once('close', () => {
    // Where express keeps what was read of it.
    const sent: unknown = 'body' in request ? request.body : undefined;
    recording.onExchange({
      plane: 'control',
      atMs,
      durationMs: performance.now() - startedMs,
      upstreamMs: 0,
      steps: [],
      method: request.method ?? '',
      target,
      peer,
      requestHeaders: request.rawHeaders,
      requestBody: Buffer.isBuffer(sent) ? captured(sent) : undefined,
      status: response.headersSent ? response.statusCode : undefined,
      responseHeaders: linesOf(response.getHeaders()),
      responseBody: body.body,
      isComplete: response.writableFinished,
      endpointId: undefined,
      executionId: undefined,
      traceId: readTraceParent(request.headers.traceparent)?.traceId,
      userId: callerIdOf(response) ?? recording.userIdOf(request),
    });
  });
}

/** Whoever was found out to make the request, if that was needed. */
function callerIdOf(response: ServerResponse & { locals?: Readonly<Record<string, Uuid>> }): Uuid | undefined {
  return response.locals?.[CALLER_ID];
}

/** Sees the body of an answer go by. */
function watchBody(response: ServerResponse): BodyCapture {
  const capture = new BodyCapture();
  const see = (chunk: unknown) => {
    if (typeof chunk === 'string') capture.add(Buffer.from(chunk));
    else if (chunk instanceof Uint8Array) capture.add(chunk);
  };
  const [write, end] = [response.write, response.end];
  // Each has several shapes, all of which begin with the chunk.
  response.write = function watchedWrite(this: ServerResponse, ...args: unknown[]) {
    see(args[0]);
    return Reflect.apply(write, this, args);
  } as typeof write;
  response.end = function watchedEnd(this: ServerResponse, ...args: unknown[]) {
    see(args[0]);
    return Reflect.apply(end, this, args);
  } as typeof end;
  return capture;
}

function linesOf(headers: OutgoingHttpHeaders): string[] {
  const lines: string[] = [];
  for (const name in headers) {
    const value = headers[name] ?? '';
    if (Array.isArray(value)) for (const one of value) lines.push(name, one);
    else lines.push(name, String(value));
  }
  return lines;
}
