import type { ClientRequest } from 'node:http';
import { readTraceParent, traceParentFor } from '../../../model/trace.ts';

// Captured at start, because a lambda may replace the globals of its own process.
const { apply } = Reflect;

export interface TraceHeaders {
  traceparent: string;
  /** The original headers with the trace added. */
  tracestate?: string;
}

/** @param eventHeaders headers of the event, by names in lower case */
export function traceHeadersOf(executionId: string, eventHeaders: Readonly<Record<string, string>>): TraceHeaders {
  const parent = readTraceParent(eventHeaders.traceparent);
  const { tracestate } = eventHeaders;
  return {
    traceparent: traceParentFor(executionId, parent),
    ...(parent && tracestate !== undefined && { tracestate }),
  };
}

/** In the text of a request: a header that the lambda sets itself takes precedence, and a signed request must not change. */
const LEFT_ALONE =
  /^traceparent:|^[\w-]*signature[\w-]*:|^authorization: .*(signature|hmac|hawk|sharedkey|aws|mac=)|^path: .*[?&][\w-]*sig(nature)?=/im;

/**
 * True if a trace may be added to the request.
 * @param headers names and values alternating
 */
function mayCarry(headers: readonly unknown[], path: string): boolean {
  let text = `path: ${path}`;
  for (let at = 0; at < headers.length; at += 2) text += `\n${String(headers[at])}: ${String(headers[at + 1])}`;
  return !LEFT_ALONE.test(text);
}

/** The value of a header among names and values alternating. */
export function headerIn(lines: readonly unknown[], name: string): string | undefined {
  const at = lines.findIndex((line, index) => index % 2 === 0 && String(line).toLowerCase() === name);
  return at < 0 ? undefined : String(lines[at + 1]);
}

export function traceIn(headers: readonly unknown[]): string | undefined {
  return readTraceParent(headerIn(headers, 'traceparent'))?.traceId;
}

/** As: what node:http calls when it writes the head of a message; Node's types leave it out. */
interface HeadWriter {
  _storeHeader(firstLine: string, headers: readonly unknown[] | Record<string, readonly unknown[]> | null): void;
}

/**
 * Adds the headers of `traceOf` to every request of node:http and node:https, below the level that libraries see.
 * @param onTrace receives the trace of a request
 */
export function traceHttp(
  traceOf: (request: object) => TraceHeaders | undefined,
  onTrace: (request: object, traceId: string | undefined) => void,
): void {
  const { ClientRequest } = require('node:http') as typeof import('node:http');
  const prototype = ClientRequest.prototype as unknown as HeadWriter;
  const storeHeader = prototype._storeHeader;
  prototype._storeHeader = function (this: ClientRequest & HeadWriter, firstLine, headers) {
    // Given as a list they are that list; otherwise an object of pairs.
    const lines = Array.isArray(headers) ? headers.flat() : Object.values(headers ?? {}).flat();
    const trace = traceOf(this);
    const isAdded = trace !== undefined && mayCarry(lines, this.path);
    onTrace(this, isAdded ? readTraceParent(trace.traceparent)?.traceId : traceIn(lines));
    apply(storeHeader, this, [isAdded ? firstLine + headOf(trace) : firstLine, headers]);
  };
}

function headOf(trace: TraceHeaders): string {
  return Object.entries(trace)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
}

/** A request of undici, Node's own behind fetch or one from npm, that can still be changed. */
export interface ChangeableRequest {
  path: string;
  /** A text of lines before undici 6. */
  headers?: readonly unknown[] | string;
  addHeader?(name: string, value: string): unknown;
}

/** Names and values alternating. */
export function linesOf({ headers = [] }: ChangeableRequest): readonly unknown[] {
  return typeof headers === 'string' ? headers.split(/: |\r\n/) : headers;
}

export function traceUndici(request: ChangeableRequest, trace: TraceHeaders | undefined): string | undefined {
  const lines = linesOf(request);
  if (!trace || !request.addHeader || !mayCarry(lines, request.path)) return traceIn(lines);
  for (const [name, value] of Object.entries(trace)) request.addHeader(name, value);
  return readTraceParent(trace.traceparent)?.traceId;
}

export type Http2Headers = object | readonly unknown[] | undefined | null;

/** Names and values alternating. */
export function pairsIn(headers: Http2Headers): readonly unknown[] {
  return Array.isArray(headers) ? headers : Object.entries(headers ?? {}).flat();
}

export function traceHttp2(headers: Http2Headers, trace: TraceHeaders | undefined): Http2Headers {
  const lines = pairsIn(headers);
  const path = headerIn(lines, ':path') ?? '/';
  if (!trace || !mayCarry(lines, path)) return headers;
  return Array.isArray(headers) ? [...headers, ...Object.entries(trace).flat()] : { ...headers, ...trace };
}
