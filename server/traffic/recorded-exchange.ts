import type { RecordedRequest, WholeRequest } from '../contract/recorded.ts';
import type { CapturedBody, ExchangeRecord, ExchangeStep } from '../model/exchange-record.ts';
import type { ExchangeFacts } from '../model/recorded-queries.ts';
import { traceBegunBy } from '../model/trace.ts';
import type { ByteLog } from '../store/records/byte-log.ts';
import type { RecordRing } from '../store/records/record-ring.ts';
import { jsonOf, jsonOfId, jsonOfPlace, microsOf, msOf, SameLists } from './record-text.ts';
import { type BodyPlace, bodyAt, endOf, type KeptBody, keepBody, keepRest, restAt } from './recorded-bodies.ts';
import { headerIn, keptHeaders, shownBody, shownHeaders, shownTarget, shownTextOf } from './shown-body.ts';
import { timeOf } from './shown-invocation.ts';

/** So much of a body is looked through for words. */
const SEARCHED_BYTES = 16 * 1024;
/** A longer path is cut: a row of the list stays one. */
const MAX_TARGET = 16 * 1024;

/** What is kept of a request and its answer in the list: all that is shown there. */
export interface RecordedExchange
  extends Pick<ExchangeRecord, 'plane' | 'atMs' | 'durationMs' | 'upstreamMs' | 'method' | 'peer' | 'isComplete'> {
  /** As it is shown: without secrets in its query. */
  target: string;
  status?: number;
  endpointId?: string;
  executionId?: string;
  /** Absent: that of its invocation, if it has one. */
  traceId?: string;
  userId?: string;
  request?: BodyPlace;
  response?: BodyPlace;
  rest: BodyPlace;
}

/** What is kept apart: it is read with the whole only. */
type Rest = Pick<ExchangeRecord, 'steps' | 'requestHeaders' | 'responseHeaders'>;

/** A request and its answer with all that is kept of them. */
export interface WholeExchange extends RecordedExchange, Rest {
  requestBody: KeptBody | undefined;
  responseBody: KeptBody | undefined;
  /** Had headers and bodies to make room? */
  isThinned: boolean;
}

/** Where the bodies of a request and its answer are kept. */
export interface ExchangeBodies {
  request?: BodyPlace | undefined;
  response?: BodyPlace | undefined;
}

/** Records a request and its answer. @param known where their bodies may be kept already */
export function addExchange(
  { ring, bodies }: { ring: RecordRing<RecordedExchange>; bodies: ByteLog },
  record: ExchangeRecord,
  known: ExchangeBodies | undefined,
): { seq: number; bodies: ExchangeBodies } {
  const [asked, answered] = keptBodies(record);
  const request = asked && keepBody(bodies, asked, known?.request);
  const response = answered && keepBody(bodies, answered, known?.response);
  const rest = keepRest(bodies, restText(record));
  const json = rowText(record, { request, response, rest });
  const marks = {
    atMs: record.atMs,
    key: record.executionId ?? '',
    group: record.endpointId ?? '',
    mark: record.status ?? 0,
  };
  const end = Math.max(endOf(rest), request ? endOf(request) : 0, response ? endOf(response) : 0);
  return { seq: ring.add(marks, json, undefined, end), bodies: { request, response } };
}

/**
 * The bodies as they are kept. Nobody sends those of the control plane again: of what the platform itself keeps as hashes only - passwords
 * that are sent to it, tokens that it gives - nothing stands in a file.
 */
function keptBodies(record: ExchangeRecord): [request: KeptBody | undefined, response: KeptBody | undefined] {
  const { plane, target, requestBody, requestHeaders, responseBody, responseHeaders } = record;
  if (plane === 'gateway') return [requestBody, responseBody];
  const isTelling = target.startsWith('/security');
  return [
    requestBody && withoutSecretsIn(requestBody, requestHeaders),
    isTelling && responseBody ? withoutSecretsIn(responseBody, responseHeaders) : responseBody,
  ];
}

function withoutSecretsIn(body: CapturedBody, headers: readonly string[]): KeptBody {
  const text = shownTextOf(body, headerIn(headers, 'content-type'));
  const bytes = Buffer.from(text);
  if (text === '' || bytes.equals(body.bytes)) return body;
  return { bytes, sizeBytes: body.sizeBytes, isWhole: body.sizeBytes === body.bytes.length };
}

/** Of a row in its order; null for what is absent. Earlier versions kept an object as `RecordedExchange` is. */
type Row = [
  isGateway: 0 | 1,
  atMs: number,
  durationUs: number,
  upstreamUs: number,
  method: string,
  target: string,
  peer: string,
  status: number | null,
  isComplete: 0 | 1,
  endpointId: string | null,
  executionId: string | null,
  traceId: string | null,
  userId: string | null,
  request: BodyPlace | null,
  response: BodyPlace | null,
  rest: BodyPlace,
];

/** The JSON of a `Row`. */
function rowText(
  record: ExchangeRecord,
  { request, response, rest }: ExchangeBodies & Pick<RecordedExchange, 'rest'>,
): string {
  const { plane, atMs, durationMs, upstreamMs, method, target, peer, status } = record;
  const { isComplete, endpointId, executionId, traceId, userId } = record;
  const shown = jsonOf(shownTarget(target).slice(0, MAX_TARGET));
  return (
    `[${plane === 'gateway' ? 1 : 0},${atMs},${microsOf(durationMs)},${microsOf(upstreamMs)},${jsonOf(method)},${shown},` +
    `${jsonOf(peer)},${status ?? null},${isComplete ? 1 : 0},${jsonOf(endpointId)},${jsonOfId(executionId)},` +
    `${jsonOfId(traceId)},${jsonOf(userId)},${jsonOfPlace(request)},${jsonOfPlace(response)},${jsonOfPlace(rest)}]`
  );
}

/** A record of the list, as it was added: its checksum holds. */
export function decodeExchange(json: unknown): RecordedExchange {
  if (!Array.isArray(json)) return json as RecordedExchange;
  const [isGateway, atMs, durationUs, upstreamUs, method, target, peer, status, isComplete, ...more] = json as Row;
  const [endpointId, executionId, traceId, userId, request, response, rest] = more;
  return {
    plane: isGateway ? 'gateway' : 'control',
    atMs,
    durationMs: msOf(durationUs),
    upstreamMs: msOf(upstreamUs),
    method,
    target,
    peer,
    ...(status !== null && { status }),
    isComplete: isComplete === 1,
    ...(endpointId !== null && { endpointId }),
    ...(executionId !== null && { executionId }),
    ...(traceId !== null && { traceId }),
    ...(userId !== null && { userId }),
    ...(request !== null && { request }),
    ...(response !== null && { response }),
    rest,
  };
}

/** What is kept apart, in its order: steps with microseconds, headers. Earlier versions kept an object as `Rest` is. */
type RestRow = [steps: (ExchangeStep | number)[], requestHeaders: string[], responseHeaders: string[]];

const requestHeaderLists = new SameLists(keptHeaders);

/** The JSON of a `RestRow`. */
function restText({ steps, requestHeaders, responseHeaders }: ExchangeRecord): string {
  let passed = '';
  for (const { name, afterMs } of steps) passed += `${passed === '' ? '' : ','}"${name}",${microsOf(afterMs)}`;
  const asked = requestHeaderLists.jsonOf(requestHeaders);
  return `[[${passed}],${asked},${JSON.stringify(keptHeaders(responseHeaders))}]`;
}

function readRest(json: RestRow | Rest): Rest {
  if (!Array.isArray(json)) return json;
  const [passed, requestHeaders, responseHeaders] = json;
  const steps: Rest['steps'][number][] = [];
  for (let at = 0; at < passed.length; at += 2) {
    // As: names and times alternate.
    steps.push({ name: passed[at] as ExchangeStep, afterMs: msOf(passed[at + 1] as number) });
  }
  return { steps, requestHeaders, responseHeaders };
}

const NO_REST: Rest = { steps: [], requestHeaders: [], responseHeaders: [] };

/** The record with what is kept apart from the list. */
export function wholeExchange(bodies: ByteLog, one: RecordedExchange): WholeExchange {
  const rest = restAt<RestRow | Rest>(bodies, one.rest);
  const requestBody = one.request && bodyAt(bodies, one.request);
  const responseBody = one.response && bodyAt(bodies, one.response);
  const isThinned = !rest || (one.request && !requestBody) || (one.response && !responseBody) || false;
  const { steps, requestHeaders, responseHeaders } = rest ? readRest(rest) : NO_REST;
  return { ...one, steps, requestHeaders, responseHeaders, requestBody, responseBody, isThinned };
}

/**
 * @param outboundFailures calls that came to nothing of those that the lambda behind it made
 * @param whole reads what is asked of bodies
 */
export function factsOfExchange(
  one: RecordedExchange,
  outboundFailures: number,
  whole: (one: RecordedExchange) => WholeExchange,
): ExchangeFacts {
  const { plane, atMs, method, target, status, durationMs, peer } = one;
  return {
    plane,
    atMs,
    method,
    target,
    status,
    durationMs,
    peer,
    outboundFailures,
    traceId: traceOf(one),
    body: () => {
      const { requestBody, requestHeaders, responseBody, responseHeaders } = whole(one);
      return [searchedIn(requestBody, requestHeaders), searchedIn(responseBody, responseHeaders)];
    },
  };
}

function traceOf({ traceId, executionId }: RecordedExchange): string | undefined {
  return traceId ?? (executionId && traceBegunBy(executionId));
}

/** One row of the list. @param outboundFailures calls that came to nothing of those that the lambda behind it made */
export function shownExchange(one: RecordedExchange, seq: number, outboundFailures: number): RecordedRequest {
  const { plane, atMs, durationMs, upstreamMs, method, target, peer, status, isComplete } = one;
  const { endpointId, executionId, userId } = one;
  return {
    seq,
    plane,
    at: new Date(atMs).toISOString(),
    durationMs,
    upstreamMs,
    method,
    target,
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
export function shownWholeExchange(one: WholeExchange, seq: number, outboundFailures: number): WholeRequest {
  const side = (headers: readonly string[], body: KeptBody | undefined) => ({
    headers: shownHeaders(headers),
    ...(body && { body: shownBody(body, headerIn(headers, 'content-type')) }),
  });
  const traceId = traceOf(one);
  return {
    ...shownExchange(one, seq, outboundFailures),
    at: timeOf(one.atMs),
    ...(traceId !== undefined && { traceId }),
    steps: one.steps.map((step) => ({ ...step })),
    request: side(one.requestHeaders, one.requestBody),
    ...(one.status !== undefined && { response: side(one.responseHeaders, one.responseBody) }),
    ...(one.isThinned && { isThinned: true }),
  };
}

/** The beginning of a body as it is shown: whoever searches finds nothing that is hidden from him. */
function searchedIn(body: KeptBody | undefined, headers: readonly string[]): string {
  if (!body) return '';
  const beginning = { ...body, bytes: body.bytes.subarray(0, SEARCHED_BYTES), isWhole: false };
  return shownTextOf(beginning, headerIn(headers, 'content-type'));
}
