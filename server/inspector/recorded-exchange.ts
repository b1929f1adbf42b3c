import type { CapturedBody, ExchangeRecord } from '../model/exchange-record.ts';
import type { JsonObject } from '../model/json.ts';
import type { ExchangeFacts } from '../model/recorded-queries.ts';
import { headerIn, shownBody, shownHeaders, shownTarget, shownTextOf } from './shown-body.ts';

/** What a record weighs besides its texts. */
const BASE_BYTES = 600;
/** So much of a body is looked through for words. */
const SEARCHED_BYTES = 16 * 1024;

/** A request and its answer as they are kept. */
export interface RecordedExchange extends ExchangeRecord {
  /** Were headers and bodies let go to make room? */
  isThinned: boolean;
}

/** About so much memory it takes. */
export function sizeOfExchange(one: RecordedExchange): number {
  let bytes = BASE_BYTES + one.target.length * 2;
  for (const lines of [one.requestHeaders, one.responseHeaders]) for (const text of lines) bytes += 24 + text.length;
  for (const body of [one.requestBody, one.responseBody]) bytes += body?.bytes.length ?? 0;
  return bytes;
}

export function thinnedExchange(one: RecordedExchange): RecordedExchange {
  return {
    ...one,
    steps: [],
    requestHeaders: [],
    responseHeaders: [],
    requestBody: undefined,
    responseBody: undefined,
    isThinned: true,
  };
}

/** @param outboundFailures calls that came to nothing of those that the lambda behind it made */
export function factsOfExchange(one: RecordedExchange, outboundFailures: number): ExchangeFacts {
  const { plane, method, target, status, durationMs, peer } = one;
  return {
    plane,
    method,
    target: shownTarget(target),
    status,
    durationMs,
    peer,
    outboundFailures,
    body: () => [searchedIn(one.requestBody, one.requestHeaders), searchedIn(one.responseBody, one.responseHeaders)],
  };
}

/** One row of the list. @param outboundFailures calls that came to nothing of those that the lambda behind it made */
export function shownExchange(one: RecordedExchange, seq: number, outboundFailures: number): JsonObject {
  const { plane, atMs, durationMs, upstreamMs, method, target, peer, status, isComplete } = one;
  const { endpointId, executionId, userId } = one;
  return {
    seq,
    plane,
    at: new Date(atMs).toISOString(),
    durationMs,
    upstreamMs,
    method,
    target: shownTarget(target),
    peer,
    ...(status !== undefined && { status }),
    isComplete,
    ...(endpointId !== undefined && { endpointId }),
    ...(executionId !== undefined && { executionId }),
    ...(userId !== undefined && { userId }),
    ...(outboundFailures > 0 && { outboundFailures }),
  };
}

/** One request with headers and bodies; credentials in them are hidden. */
export function shownWholeExchange(one: RecordedExchange, seq: number, outboundFailures: number): JsonObject {
  const side = (headers: readonly string[], body: CapturedBody | undefined) => ({
    headers: shownHeaders(headers),
    ...(body && { body: shownBody(body, headerIn(headers, 'content-type')) }),
  });
  return {
    ...shownExchange(one, seq, outboundFailures),
    steps: one.steps.map((step) => ({ ...step })),
    request: side(one.requestHeaders, one.requestBody),
    ...(one.status !== undefined && { response: side(one.responseHeaders, one.responseBody) }),
    ...(one.isThinned && { isThinned: true }),
  };
}

/** The beginning of a body as it is shown: whoever searches finds nothing that is hidden from him. */
function searchedIn(body: CapturedBody | undefined, headers: readonly string[]): string {
  if (!body) return '';
  const beginning = { bytes: body.bytes.subarray(0, SEARCHED_BYTES), sizeBytes: body.sizeBytes };
  return shownTextOf(beginning, headerIn(headers, 'content-type'));
}
