import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { BodyCapture, captured, type ExchangeRecord } from '../../model/exchange-record.ts';
import type { Uuid } from '../../model/record.ts';
import { readTraceParent } from '../../model/trace.ts';

/** The files and requests of the window, which follow recorded events. */
const UNRECORDED = /^\/(ui|inspect)(\/|\?|$)/;
/** Paths whose read requests also come from the window. */
const WINDOW = 'ui';

export interface ExchangeRecording {
  nowMs(): number;
  /** The account of valid request credentials; resolved at the end of the request if no handler did it before. */
  userIdOf(request: IncomingMessage): Uuid | undefined;
  onExchange(record: ExchangeRecord): void;
}

/** Reports a request of the control plane and its response when both are over. */
export function recordExchange(
  request: IncomingMessage,
  response: ServerResponse & { locals?: { callerId?: Uuid } },
  recording: ExchangeRecording,
): void {
  const target = request.url ?? '';
  if (UNRECORDED.test(target)) return;
  if (request.method === 'GET' && request.headers['x-terrarium-client'] === WINDOW) return;
  const startedMs = performance.now();
  const atMs = recording.nowMs();
  const peer = request.socket.remoteAddress ?? '';
  const body = watchBody(response);
  response.once('close', () => {
    // Where read-body.ts stores it.
    const receivedBody: unknown = 'body' in request ? request.body : undefined;
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
      requestBody: Buffer.isBuffer(receivedBody) ? captured(receivedBody) : undefined,
      status: response.headersSent ? response.statusCode : undefined,
      responseHeaders: linesOf(response.getHeaders()),
      responseBody: body.body,
      isComplete: response.writableFinished,
      endpointId: undefined,
      executionId: undefined,
      traceId: readTraceParent(request.headers.traceparent)?.traceId,
      userId: response.locals?.callerId ?? recording.userIdOf(request),
    });
  });
}

function watchBody(response: ServerResponse): BodyCapture {
  const capture = new BodyCapture();
  const see = (chunk: unknown) => {
    if (typeof chunk === 'string') capture.add(Buffer.from(chunk));
    else if (chunk instanceof Uint8Array) capture.add(chunk);
  };
  for (const name of ['write', 'end'] as const) {
    const method = response[name];
    // Its signatures all begin with the chunk.
    response[name] = function watched(this: ServerResponse, ...args: unknown[]) {
      see(args[0]);
      return Reflect.apply(method, this, args);
    } as never;
  }
  return capture;
}

function linesOf(headers: OutgoingHttpHeaders): string[] {
  return Object.entries(headers).flatMap(([name, value = '']) =>
    [value].flat().flatMap((line) => [name, String(line)]),
  );
}
