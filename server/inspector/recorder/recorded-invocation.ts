import type { OutboundCall as CallView, InvocationView } from '../../api/routes/logs.ts';
import type { InvocationSummary, RecordedView } from '../../api/routes/recorded.ts';
import type { InvocationFacts } from '../../api/routes/recorded-queries.ts';
import type { LineView } from '../../api/schemas/parts.ts';
import { type BodyPlace, captured } from '../../model/exchange-record.ts';
import { failedCalls } from '../../model/failed-call.ts';
import {
  type CallContext,
  FAILURE_KINDS,
  type FailureKind,
  type Invocation,
  type LambdaCall,
  type LambdaValue,
  type LogLine,
  type OutboundBody,
  type OutboundCall,
} from '../../model/invocation.ts';
import { exactTimeOf, tenthsBetween, timeOf, wholeMsOf } from '../../model/iso-time.ts';
import type { Json } from '../../model/json.ts';
import { readTraceParent, traceStartedBy } from '../../model/trace.ts';
import type { ByteLog } from '../../storage/records/byte-log.ts';
import { numberOf, type RecordFigures } from '../../storage/records/record-index.ts';
import type { RecordLog } from '../../storage/records/record-log.ts';
import {
  bodyAt,
  endOf,
  jsonOf,
  jsonOfPlace,
  keepBody,
  keepSameText,
  keepShared,
  NO_BODY,
  optionalMember,
  textAt,
} from './recorded-bodies.ts';
import {
  toBodyView,
  toHeaderView,
  toSearchedText,
  toTargetView,
  toTextOfView,
  toTextsView,
  toWireBodyView,
  withoutSecrets,
} from './shown-body.ts';

const EXCERPT_CHARACTERS = 200;
/** A longer message is stored whole in the details. */
const MESSAGE_CHARACTERS = 2_000;
const FAILED = 1;
const REPLAYED = 2;
const COUNT_FROM = 4;
/** More than the calls of one invocation that are recorded. */
const MAX_COUNT = 2_000;
const MAY_BE_WARNED = 16;
const CALLS_FROM = 32;
const KINDS: readonly (string | undefined)[] = FAILURE_KINDS;
const NO_CONTEXT: Omit<CallContext, 'creds'> = {
  method: '',
  path: '',
  params: {},
  headers: {},
  user: null,
  httpAware: false,
};

/** A stored invocation: a row of the list as in the contract, and the positions of all other parts. */
export interface RecordedInvocation
  extends Omit<InvocationSummary, 'seq' | 'excerpt' | 'httpStatus'>,
    Pick<InvocationView, 'startedAt'> {
  /** Absent: the trace that began with it. */
  traceId?: string | undefined;
  /** The first failed outbound call, as text. */
  outboundFault?: string | undefined;
  /** Number of outbound calls with a warning; absent without calls, and in records of earlier versions. */
  warnings?: number | undefined;
  kind: LambdaValue['kind'];
  event: BodyPlace;
  result: BodyPlace;
  details: BodyPlace;
  /** Beginning of the result. */
  beginning: Uint8Array;
}

/** The parts of an invocation that are read only with the whole record. */
interface Details extends Pick<InvocationView, 'logs'> {
  context: Omit<CallContext, 'creds'>;
  /** If it is long. */
  message?: string;
  outbound: RecordedCall[];
}

/** An outbound call as the contract has it, with its bodies by reference. */
export interface RecordedCall extends Omit<CallView, 'request' | 'response'> {
  request?: BodyReference;
  response?: BodyReference;
}
type BodyReference = Pick<OutboundBody, 'contentType' | 'contentEncoding'> & { place: BodyPlace };

export function toLineView({ atMs, stream, text, executionId, instance }: LogLine): LineView {
  return { at: timeOf(atMs), stream, text, ...(executionId && { executionId }), ...(instance && { instance }) };
}

const toLinesView = (logs: readonly LogLine[]) =>
  logs.map((line) => ({ ...toLineView(line), at: exactTimeOf(line.atMs) }));

/** @param bodyOf a body to show, or where it is stored */
function toCallView<Body>(call: OutboundCall, bodyOf: (body: OutboundBody) => Body) {
  const { startedAtMs, durationMs, url, request, response, ...rest } = call;
  return {
    startedAt: exactTimeOf(startedAtMs),
    url: toTargetView(url),
    ...rest,
    durationMs: tenthsBetween(0, durationMs),
    ...(request && { request: bodyOf(request) }),
    ...(response && { response: bodyOf(response) }),
  };
}

export function toInvocationView(invocation: Invocation): InvocationView {
  const { executionId, lambdaId, lambdaName, trigger, cold, acceptedAtMs, startedAtMs, finishedAtMs } = invocation;
  const { outcome, logs, outbound } = invocation;
  const { value, ...ending } = outcome;
  return {
    ...{ executionId, lambdaId, lambdaName, trigger, cold },
    acceptedAt: exactTimeOf(acceptedAtMs),
    startedAt: startedAtMs === undefined ? undefined : exactTimeOf(startedAtMs),
    finishedAt: exactTimeOf(finishedAtMs),
    durationMs: tenthsBetween(startedAtMs ?? acceptedAtMs, finishedAtMs),
    outcome: { ...ending, ...(value.kind !== 'nothing' && { result: resultOf(value.kind, value.bytes) }) },
    logs: toLinesView(logs),
    outbound: outbound.map((call) => toCallView(call, toWireBodyView)),
  };
}

function resultOf(kind: LambdaValue['kind'], bytes: Uint8Array): Json {
  if (kind === 'bytes') return Buffer.from(bytes).toString('base64');
  const text = new TextDecoder().decode(bytes);
  return kind === 'json' ? JSON.parse(text) : text;
}

export function addInvocation(
  { invocations, bodies }: { invocations: RecordLog<RecordedInvocation>; bodies: ByteLog },
  invocation: Invocation,
  { body, context, replayOf, bodies: shared = {} }: LambdaCall,
): void {
  const { outcome, outbound, executionId, lambdaId, logs, acceptedAtMs, startedAtMs, finishedAtMs } = invocation;
  const { value } = outcome;
  const bytes = value.kind === 'nothing' ? NO_BODY.bytes : value.bytes;
  const event = keepShared(bodies, captured(body), shared, 'request');
  const result = keepShared(bodies, captured(bytes), shared, 'response');
  const details = keepSameText(bodies, detailsText(bodies, invocation, context));
  const failed = outbound.length === 0 ? [] : failedCalls(outbound);
  const outboundFailures = failed.length;
  const outboundFault = failed[0] && faultOfCall(failed[0]);
  const warnings = outbound.length === 0 ? undefined : outbound.filter(({ warning }) => warning !== undefined).length;
  const ending = outcome.ok
    ? ''
    : `,"failure":"${outcome.failure}","message":${JSON.stringify(outcome.message.slice(0, MESSAGE_CHARACTERS))}`;
  const json =
    `{"executionId":"${executionId}","lambdaId":"${lambdaId}","lambdaName":${jsonOf(invocation.lambdaName)},` +
    `"trigger":"${invocation.trigger}","cold":${invocation.cold},"acceptedAt":"${exactTimeOf(acceptedAtMs)}",` +
    `"finishedAt":"${exactTimeOf(finishedAtMs)}","durationMs":${tenthsBetween(startedAtMs ?? acceptedAtMs, finishedAtMs)},` +
    `"outcome":{"ok":${outcome.ok}${ending}},"logLines":${logs.length},"outboundCalls":${outbound.length},` +
    `"outboundFailures":${outboundFailures},"kind":"${value.kind}","event":${jsonOfPlace(event)},` +
    `"result":${jsonOfPlace(result)},"details":${jsonOfPlace(details)}` +
    `${startedAtMs === undefined ? '' : `,"startedAt":"${exactTimeOf(startedAtMs)}"`}` +
    `${warnings === undefined ? '' : `,"warnings":${warnings}`}${optionalMember('outboundFault', outboundFault)}${optionalMember('replayOf', replayOf)}${optionalMember('traceId', readTraceParent(context.headers.traceparent)?.traceId)}}`;
  const mark =
    (!outcome.ok || outboundFailures > 0 ? FAILED : 0) +
    (replayOf === undefined ? 0 : REPLAYED) +
    COUNT_FROM * Math.min(outboundFailures, MAX_COUNT);
  const figures = {
    beganMs: wholeMsOf(acceptedAtMs),
    tookMs: tenthsBetween(startedAtMs ?? acceptedAtMs, finishedAtMs),
    kind: kindOf(outcome.ok ? undefined : outcome.failure, outbound.length, warnings),
    cause: causeOf(outcome, outboundFault),
  };
  const flags = { atMs: finishedAtMs, key: executionId, group: lambdaId, mark, figures };
  const end = Math.max(endOf(details), endOf(event), endOf(result));
  invocations.add(flags, json, bytes.subarray(0, EXCERPT_CHARACTERS), end);
}

function detailsText(bodies: ByteLog, { outcome, logs, outbound }: Invocation, context: CallContext): string {
  const emptyDetails = emptyDetailsText(context);
  if (outcome.ok && logs.length + outbound.length === 0) return emptyDetails;
  const message = !outcome.ok && outcome.message.length > MESSAGE_CHARACTERS ? outcome.message : undefined;
  const more: Omit<Details, 'context'> = {
    logs: toLinesView(logs),
    outbound: outbound.map((call) =>
      toCallView(call, ({ bytes, sizeBytes, ...facts }) => ({
        ...facts,
        place: keepBody(bodies, { bytes, sizeBytes }),
      })),
    ),
    ...(message !== undefined && { message }),
  };
  return emptyDetails.slice(0, -NO_PARTS.length) + JSON.stringify(more).slice(1);
}

const NO_PARTS = '"logs":[],"outbound":[]}';
/** Calls of one connection often have the same context. */
const emptyDetailsTexts = new WeakMap<CallContext, string>();

/** Returns the details of an invocation without logs and outbound calls, and without credentials, which must not be written to a file. */
function emptyDetailsText(context: CallContext): string {
  const cachedText = emptyDetailsTexts.get(context);
  if (cachedText !== undefined) return cachedText;
  const headers = { ...context.headers };
  for (const name of ['authorization', 'cookie'])
    if (headers[name] !== undefined) headers[name] = toHeaderView(name, headers[name]);
  const text = `{"context":${JSON.stringify({ ...context, creds: undefined, headers })},${NO_PARTS}`;
  emptyDetailsTexts.set(context, text);
  return text;
}

/** A record of the list; its checksum is valid. */
export function decodeInvocation(json: unknown, tail: Buffer): RecordedInvocation {
  return Object.assign(json as RecordedInvocation, { beginning: Uint8Array.from(tail) });
}

/** The failure (0: none), whether an outbound call may have a warning, and the number of these calls, as a number in the index. */
function kindOf(failure: string | undefined, outboundCalls: number, warnings: number | undefined): number {
  const number = 1 + KINDS.indexOf(failure) + (outboundCalls > 0 && warnings !== 0 ? MAY_BE_WARNED : 0);
  return number + CALLS_FROM * Math.min(outboundCalls, MAX_COUNT);
}

export const failureOfKind = (kind: number): FailureKind | undefined => FAILURE_KINDS[(kind % MAY_BE_WARNED) - 1];
export const mayBeWarnedKind = (kind: number): boolean => (kind & MAY_BE_WARNED) !== 0;
export const outboundCallsOfKind = (kind: number): number => Math.trunc(kind / CALLS_FROM);

export function figuresOfInvocation(invocation: RecordedInvocation): RecordFigures {
  const kind = kindOf(invocation.outcome.failure, invocation.outboundCalls, invocation.warnings);
  const cause = causeOf(invocation.outcome, invocation.outboundFault);
  return { beganMs: Date.parse(invocation.acceptedAt), tookMs: invocation.durationMs, kind, cause };
}

/** A failed call without what differs from time to time: `POST to crm.example.com returned 400`. */
export function faultOfCall(call: Pick<CallView, 'method' | 'url' | 'status' | 'error'>): string {
  const { method, url, status, error } = call;
  const host = URL.canParse(url) ? new URL(url).host : url;
  return `${method} to ${host} ${error === undefined ? `returned ${status}` : `failed: ${error}`}`;
}

/** Returns a number that failures with the same error share: numbers, ids and quoted values in the message of a lambda may differ. */
function causeOf(outcome: { ok: boolean; message?: string | undefined }, outboundFault = ''): number {
  const message = (outcome.message ?? '').slice(0, MESSAGE_CHARACTERS);
  const text = outcome.ok ? outboundFault : message.replace(/'[^']*'|"[^"]*"|[0-9a-f-]*\d[0-9a-f-]*/gi, '#');
  return text === '' ? 0 : numberOf(text);
}

export const isFailedMark = (mark: number): boolean => (mark & FAILED) !== 0;
export const isReplayMark = (mark: number): boolean => (mark & REPLAYED) !== 0;
export const outboundFailuresOfMark = (mark: number): number => Math.trunc(mark / COUNT_FROM);

/** The parts that are stored outside the list; undefined if they were removed to free space. */
export function detailsOf(bodies: ByteLog, { details }: RecordedInvocation): Details | undefined {
  return textAt(bodies, details);
}

/** The outbound call that failed; what a lambda throws after a successful call is not due to an earlier one. */
export function failedCallOf(bodies: ByteLog, item: RecordedInvocation): RecordedCall | undefined {
  if (item.outboundFailures === 0) return undefined;
  const calls = detailsOf(bodies, item)?.outbound ?? [];
  return failedCalls(item.outcome.ok ? calls : calls.slice(-1))[0];
}

/** Returns the event and its context, for a replay. */
export function eventOf(
  bodies: ByteLog,
  invocation: RecordedInvocation,
): { body: Uint8Array | undefined; context: Details['context'] } {
  const [details, event] = [detailsOf(bodies, invocation), bodyAt(bodies, invocation.event)];
  const isWhole = details !== undefined && event?.bytes.length === event?.sizeBytes;
  return { body: isWhole ? event?.bytes : undefined, context: details?.context ?? NO_CONTEXT };
}

export function traceOfInvocation({ traceId, executionId }: RecordedInvocation): string {
  return traceId ?? traceStartedBy(executionId);
}

function excerptOf({ outcome, kind, beginning, result }: RecordedInvocation): string {
  if (!outcome.ok) return (outcome.message ?? '').slice(0, EXCERPT_CHARACTERS);
  return kind === 'nothing' ? '' : toTextOfView({ bytes: beginning, sizeBytes: result[2] }, undefined);
}

/** @param path reads the path of the request that caused it */
export function factsOfInvocation(
  bodies: ByteLog,
  invocation: RecordedInvocation,
  row: InvocationSummary,
  path: () => string,
  read?: Details,
): InvocationFacts {
  const details = () => {
    read ??= detailsOf(bodies, invocation) ?? { context: NO_CONTEXT, logs: [], outbound: [] };
    return read;
  };
  const calls = () => (invocation.outboundCalls === 0 ? [] : details().outbound);
  return {
    ...row,
    beganMs: Date.parse(invocation.acceptedAt),
    traceId: traceOfInvocation(invocation),
    log: () => (invocation.logLines === 0 ? [] : details().logs.map(({ text }) => text)),
    event() {
      const contentType = details().context.headers['content-type'];
      return toSearchedText(toTextOfView(bodyAt(bodies, invocation.event) ?? NO_BODY, contentType), contentType);
    },
    longResult: () =>
      invocation.result[2] <= invocation.beginning.length
        ? ''
        : toSearchedText(toTextOfView(bodyAt(bodies, invocation.result) ?? NO_BODY, undefined), undefined),
    path,
    tracesOfCalls: () => calls().map(({ traceId = '' }) => traceId),
    calls: () => calls().map(({ method, url }) => `${method} ${url}`),
  };
}

export function toSummaryView(
  invocation: RecordedInvocation,
  seq: number,
  httpStatus: number | undefined,
): InvocationSummary {
  const { startedAt, traceId, outboundFault, warnings, kind, event, result, details, beginning, ...summary } =
    invocation;
  return { ...summary, seq, excerpt: excerptOf(invocation), ...(httpStatus !== undefined && { httpStatus }) };
}

/** One invocation with everything that is stored of it; secrets in its event and result are hidden. */
export function toRecordedView(bodies: ByteLog, invocation: RecordedInvocation): Omit<RecordedView, 'seq'> {
  const { kind, event, result, beginning, logLines, outboundCalls, ...stored } = invocation;
  const { outboundFault, warnings, details: place, ...summary } = stored;
  const details = detailsOf(bodies, invocation);
  const [eventBody, resultBody] = [bodyAt(bodies, event), bodyAt(bodies, result)];
  const { headers, params, user, ...call } = details?.context ?? NO_CONTEXT;
  const value = resultBody ?? { bytes: beginning, sizeBytes: result[2] };
  const isCut = value.sizeBytes > value.bytes.length;
  const parsed = kind === 'nothing' ? undefined : resultOf(isCut && kind === 'json' ? 'text' : kind, value.bytes);
  return {
    ...summary,
    traceId: traceOfInvocation(invocation),
    event: {
      ...call,
      params: Object.fromEntries(Object.entries(params).map(([name, texts]) => [name, toTextsView(name, texts)])),
      headers: Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, toHeaderView(name, text)])),
      ...(user && { user }),
      body: toBodyView(eventBody ?? { ...NO_BODY, sizeBytes: event[2] }, headers['content-type']),
    },
    outcome: {
      ...invocation.outcome,
      ...(details?.message !== undefined && { message: details.message }),
      ...(parsed !== undefined && { result: kind === 'json' && !isCut ? withoutSecrets(parsed) : parsed }),
    },
    logs: details?.logs ?? [],
    outbound: (details?.outbound ?? []).map(({ request, response, ...rest }) => ({
      ...rest,
      ...(request && { request: toReferredView(bodies, request) }),
      ...(response && { response: toReferredView(bodies, response) }),
    })),
    ...(kind !== 'nothing' && { resultBytes: value.sizeBytes }),
    ...(!(details && eventBody && resultBody) && { isTruncated: true }),
  };
}

export function toReferredView(bodies: ByteLog, { place, ...facts }: BodyReference) {
  return toWireBodyView({ ...facts, ...(bodyAt(bodies, place) ?? { ...NO_BODY, sizeBytes: place[2] }) });
}
