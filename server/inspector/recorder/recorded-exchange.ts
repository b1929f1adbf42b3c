import type { RecordedRequest, WholeRequest } from '../../api/routes/recorded.ts';
import type { ExchangeFacts } from '../../api/routes/recorded-queries.ts';
import type { BodyPlace, CapturedBody, ExchangeRecord } from '../../model/exchange-record.ts';
import { exactTimeOf, wholeMsOf } from '../../model/iso-time.ts';
import { traceStartedBy } from '../../model/trace.ts';
import type { ByteLog } from '../../storage/records/byte-log.ts';
import type { RecordFigures } from '../../storage/records/record-index.ts';
import type { RecordLog } from '../../storage/records/record-log.ts';
import {
  bodyAt,
  endOf,
  jsonOf,
  jsonOfPlace,
  type KeptBody,
  keepShared,
  keepText,
  optionalMember,
  textAt,
} from './recorded-bodies.ts';
import { headerIn, toBodyView, toHeaderView, toSearchedText, toTargetView, toTextOfView } from './shown-body.ts';

const SEARCHED_BYTES = 16 * 1024;
/** A longer path is cut, so that a row of the list stays one. */
const MAX_TARGET = 16 * 1024;

/** A stored request: a row of the list as in the contract, and the positions of all other parts. */
export interface RecordedExchange extends Omit<RecordedRequest, 'seq' | 'outboundFailures'> {
  /** Absent: the trace of its invocation, if any. */
  traceId?: string | undefined;
  /** Number of the rejected request that it repeats. */
  replayOf?: number | undefined;
  request?: BodyPlace | undefined;
  response?: BodyPlace | undefined;
  details: BodyPlace;
}

/** The parts of a request that are read only with the whole record. */
interface Details extends Pick<WholeRequest, 'steps'> {
  requestHeaders: [string, string][];
  responseHeaders: [string, string][];
}

/** Stores a request and its response. */
export function addExchange(
  { exchanges, bodies }: { exchanges: RecordLog<RecordedExchange>; bodies: ByteLog },
  exchange: ExchangeRecord,
): void {
  const { bodies: shared = {}, status, endpointId, executionId, atMs, replayOf } = exchange;
  const [requestBody, answered] = storedBodies(exchange);
  const request = requestBody && keepShared(bodies, requestBody, shared, 'request');
  const response = answered && keepShared(bodies, answered, shared, 'response');
  const details = keepText(bodies, detailsText(exchange));
  const json =
    `{"plane":"${exchange.plane}","at":"${exactTimeOf(atMs)}","durationMs":${toMicros(exchange.durationMs)},` +
    `"upstreamMs":${toMicros(exchange.upstreamMs)},"method":${jsonOf(exchange.method)},` +
    `"target":${jsonOf(toTargetView(exchange.target).slice(0, MAX_TARGET))},"peer":${jsonOf(exchange.peer)},` +
    `"isComplete":${exchange.isComplete},"details":${jsonOfPlace(details)}${status === undefined ? '' : `,"status":${status}`}` +
    `${request ? `,"request":${jsonOfPlace(request)}` : ''}${response ? `,"response":${jsonOfPlace(response)}` : ''}` +
    `${executionId === undefined ? '' : `,"executionId":"${executionId}"`}${optionalMember('endpointId', endpointId)}` +
    `${optionalMember('userId', exchange.userId)}${optionalMember('traceId', exchange.traceId)}${replayOf === undefined ? '' : `,"replayOf":${replayOf}`}}`;
  const end = Math.max(endOf(details), request ? endOf(request) : 0, response ? endOf(response) : 0);
  const figures = figuresOf(wholeMsOf(atMs), toMicros(exchange.durationMs), exchange);
  const flags = { atMs, key: executionId ?? '', group: endpointId ?? '', mark: status ?? 0, figures };
  exchanges.add(flags, json, undefined, end);
}

const GATEWAY = 1;
const REPLAY = 2;
export const isGatewayKind = (kind: number): boolean => (kind & GATEWAY) !== 0;
export const isReplayKind = (kind: number): boolean => (kind & REPLAY) !== 0;

function figuresOf(
  beganMs: number,
  tookMs: number,
  { plane, replayOf }: Pick<RecordedExchange, 'plane' | 'replayOf'>,
): RecordFigures {
  const kind = (plane === 'gateway' ? GATEWAY : 0) + (replayOf === undefined ? 0 : REPLAY);
  return { beganMs, tookMs, kind, cause: 0 };
}

export const figuresOfExchange = (exchange: RecordedExchange): RecordFigures =>
  figuresOf(Date.parse(exchange.at), exchange.durationMs, exchange);

/** Milliseconds with at most three decimals: all digits would take long to write. */
const toMicros = (ms: number) => Math.round(ms * 1_000) / 1_000;

/** Returns the bodies to store: those of the control plane without the passwords and tokens, of which the platform stores only hashes. */
function storedBodies(exchange: ExchangeRecord): [request: KeptBody | undefined, response: KeptBody | undefined] {
  const { plane, target, requestBody, requestHeaders, responseBody, responseHeaders } = exchange;
  if (plane === 'gateway') return [requestBody, responseBody];
  const hasTokens = target.startsWith('/security');
  return [
    requestBody && withoutSecretsIn(requestBody, requestHeaders),
    hasTokens && responseBody ? withoutSecretsIn(responseBody, responseHeaders) : responseBody,
  ];
}

function withoutSecretsIn(body: CapturedBody, headers: readonly string[]): KeptBody {
  const text = toTextOfView(body, headerIn(headers, 'content-type'));
  const bytes = Buffer.from(text);
  if (text === '' || bytes.equals(body.bytes)) return body;
  return { bytes, sizeBytes: body.sizeBytes, isWhole: body.sizeBytes === body.bytes.length };
}

/** Longer header lines are not kept in memory. */
const MAX_KEPT_LINE = 1_000;

/** Writes header lines as JSON, most of which are the same as in the previous request. */
class HeadersWriter {
  readonly #lines: string[] = [];
  readonly #texts: string[] = [];

  /** @param lines alternating names and values */
  textOf(lines: readonly string[]): string {
    let text = '';
    for (let at = 0; at < lines.length; at += 2) {
      const [name = '', value = ''] = [lines[at], lines[at + 1]];
      if (name === this.#lines[at] && value === this.#lines[at + 1]) {
        text += this.#texts[at];
        continue;
      }
      const line = `${at === 0 ? '' : ','}[${jsonOf(name)},${jsonOf(toHeaderView(name, value))}]`;
      text += line;
      if (line.length > MAX_KEPT_LINE) continue;
      this.#lines[at] = name;
      this.#lines[at + 1] = value;
      this.#texts[at] = line;
    }
    return `[${text}]`;
  }
}

const requestHeadersWriter = new HeadersWriter();
const responseHeadersWriter = new HeadersWriter();

function detailsText({ steps, requestHeaders, responseHeaders }: ExchangeRecord): string {
  let passed = '';
  for (const { name, afterMs } of steps)
    passed += `${passed === '' ? '' : ','}{"name":"${name}","afterMs":${toMicros(afterMs)}}`;
  const [request, response] = [
    requestHeadersWriter.textOf(requestHeaders),
    responseHeadersWriter.textOf(responseHeaders),
  ];
  return `{"requestHeaders":${request},"steps":[${passed}],"responseHeaders":${response}}`;
}

function detailsOf(bodies: ByteLog, { details }: RecordedExchange): Details | undefined {
  return textAt(bodies, details);
}

function contentTypeIn(headers: Details['requestHeaders']): string | undefined {
  return headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1];
}

function traceOf({ traceId, executionId }: RecordedExchange): string | undefined {
  return traceId ?? (executionId && traceStartedBy(executionId));
}

export function factsOfExchange(bodies: ByteLog, exchange: RecordedExchange, row: RecordedRequest): ExchangeFacts {
  return {
    ...row,
    beganMs: Date.parse(exchange.at),
    traceId: traceOf(exchange),
    body: () => {
      const details = detailsOf(bodies, exchange);
      return [
        searchedIn(bodies, exchange.request, details?.requestHeaders),
        searchedIn(bodies, exchange.response, details?.responseHeaders),
      ];
    },
  };
}

/** The beginning of a body for display, so that a search finds no hidden values. */
function searchedIn(bodies: ByteLog, position: BodyPlace | undefined, headers: Details['requestHeaders'] = []): string {
  const body = position && bodyAt(bodies, position);
  if (!body) return '';
  const beginning = { bytes: body.bytes.subarray(0, SEARCHED_BYTES), sizeBytes: body.sizeBytes };
  const contentType = contentTypeIn(headers);
  return toSearchedText(toTextOfView(beginning, contentType), contentType);
}

export function toExchangeView(exchange: RecordedExchange, seq: number, outboundFailures: number): RecordedRequest {
  const { traceId, replayOf, request, response, details, ...summary } = exchange;
  return { ...summary, seq, ...(outboundFailures > 0 && { outboundFailures }) };
}

/** One request with headers and bodies; credentials in them are hidden. */
export function toWholeExchangeView(
  bodies: ByteLog,
  exchange: RecordedExchange,
  seq: number,
  outboundFailures: number,
): WholeRequest {
  const details = detailsOf(bodies, exchange);
  const [request, response] = [exchange.request, exchange.response].map(
    (position) => position && bodyAt(bodies, position),
  );
  const side = (headers: Details['requestHeaders'] = [], body: KeptBody | undefined) => ({
    headers,
    ...(body && { body: toBodyView(body, contentTypeIn(headers)) }),
  });
  const isTruncated = !details || (exchange.request && !request) || (exchange.response && !response);
  return {
    ...toExchangeView(exchange, seq, outboundFailures),
    traceId: traceOf(exchange),
    steps: details?.steps ?? [],
    request: side(details?.requestHeaders, request),
    ...(exchange.status !== undefined && { response: side(details?.responseHeaders, response) }),
    ...(isTruncated && { isTruncated: true }),
  };
}
