import type { InvocationSummary, ShownRecorded } from '../contract/recorded.ts';
import type { CapturedBody } from '../model/exchange-record.ts';
import { failedCalls } from '../model/failed-call.ts';
import type { Uuid } from '../model/ids.ts';
import type {
  CallContext,
  Invocation,
  LambdaCall,
  LambdaValue,
  LogLine,
  OutboundBody,
  OutboundCall,
} from '../model/invocation.ts';
import type { Json } from '../model/json.ts';
import type { InvocationFacts } from '../model/recorded-queries.ts';
import { readTraceParent, traceBegunBy } from '../model/trace.ts';
import type { ByteLog } from '../store/records/byte-log.ts';
import type { RecordRing } from '../store/records/record-ring.ts';
import { jsonOf, jsonOfId, jsonOfPlace } from './record-text.ts';
import { type BodyPlace, bodyAt, endOf, keepBody, keepRest, NO_BODY, restAt } from './recorded-bodies.ts';
import { shownBody, shownHeader, shownTextOf, shownTexts, withoutSecrets } from './shown-body.ts';
import { shownInvocation, tenthsBetween } from './shown-invocation.ts';

const EXCERPT_CHARACTERS = 200;
/** A longer message is kept whole with the body. */
const MESSAGE_CHARACTERS = 2_000;
const FAILED = 1;
const REPLAYED = 2;
const COUNT_FROM = 4;
const MAX_COUNT = 4_000;
const NO_BYTES = new Uint8Array(0);

/** What is kept of an invocation in the list: all that is shown there. */
export interface RecordedInvocation extends Omit<Invocation, 'outcome' | 'accept' | 'logs' | 'outbound'> {
  /** Of a long message the beginning. */
  outcome: { ok: true } | { ok: false; failure: string; message: string };
  kind: LambdaValue['kind'];
  /** The invocation whose event it was given again. */
  replayOf?: Uuid;
  /** That it was given; absent: the one that began with it. */
  traceId?: string;
  logLines: number;
  outboundCalls: number;
  /** Calls of those that came to nothing (`failedCalls`). */
  outboundFailures: number;
  /** Beginning of its result. */
  excerpt: Uint8Array;
  event: BodyPlace;
  value: BodyPlace;
  rest: BodyPlace;
}

/** What is kept apart: it is read with the whole only. */
interface Rest {
  /** Its creds are always empty; earlier versions left them out. */
  context: Omit<CallContext, 'creds'> & { creds?: string };
  accept?: string;
  message?: string;
  logs: LogLine[];
  outbound: KeptOutbound[];
}

/** A call that it made, with the places of its bodies. */
interface KeptOutbound extends Omit<OutboundCall, 'request' | 'response'> {
  request?: KeptOutboundBody;
  response?: KeptOutboundBody;
}
type KeptOutboundBody = Omit<OutboundBody, keyof CapturedBody> & { place: BodyPlace };

/** An invocation with all that is kept of it. */
export interface WholeInvocation
  extends Omit<RecordedInvocation, 'event' | 'value' | 'rest'>,
    Omit<Rest, 'outbound' | 'context'> {
  context: Omit<CallContext, 'creds'>;
  outbound: OutboundCall[];
  event: CapturedBody;
  value: CapturedBody;
  /** Had its event, result, log and outbound calls to make room? */
  isThinned: boolean;
}

/** Records an invocation. @param known where its event and result may be kept already */
export function addInvocation(
  { ring, bodies }: { ring: RecordRing<RecordedInvocation>; bodies: ByteLog },
  invocation: Invocation,
  call: LambdaCall,
  replayOf: Uuid | undefined,
  known: { request?: BodyPlace | undefined; response?: BodyPlace | undefined } | undefined,
): { event: BodyPlace; value: BodyPlace } {
  const { outcome, logs, outbound, executionId, lambdaId } = invocation;
  const result = outcome.value.kind === 'nothing' ? NO_BYTES : outcome.value.bytes;
  const event = keepBody(bodies, { bytes: call.body, sizeBytes: call.body.length }, known?.request);
  const value = keepBody(bodies, { bytes: result, sizeBytes: result.length }, known?.response);
  const message = outcome.ok ? '' : outcome.message;
  const rest = keepRest(
    bodies,
    JSON.stringify({
      context: keptContext(call.context),
      accept: invocation.accept,
      message: message.length > MESSAGE_CHARACTERS ? message : undefined,
      logs,
      outbound: outbound.map((one) => keptOutbound(bodies, one)),
    }),
  );
  const outboundFailures = outbound.length === 0 ? 0 : failedCalls(outbound).length;
  const json = rowText(invocation, {
    replayOf,
    traceId: readTraceParent(call.context.headers.traceparent)?.traceId,
    outboundFailures,
    event,
    value,
    rest,
  });
  const hasFailed = !outcome.ok || outboundFailures > 0;
  const mark =
    (hasFailed ? FAILED : 0) +
    (replayOf === undefined ? 0 : REPLAYED) +
    COUNT_FROM * Math.min(outboundFailures, MAX_COUNT);
  const marks = { atMs: invocation.finishedAtMs, key: executionId, group: lambdaId, mark };
  ring.add(marks, json, result.subarray(0, EXCERPT_CHARACTERS), Math.max(endOf(rest), endOf(event), endOf(value)));
  return { event, value };
}

/** Of a row in its order; null for what is absent. Earlier versions kept an object as `RecordedInvocation` is. */
type Row = [
  executionId: string,
  lambdaId: string,
  lambdaName: string,
  trigger: Invocation['trigger'],
  acceptedAtMs: number,
  startedAtMs: number | null,
  finishedAtMs: number,
  cold: 0 | 1,
  kind: LambdaValue['kind'],
  failure: string | null,
  message: string,
  replayOf: string | null,
  traceId: string | null,
  logLines: number,
  outboundCalls: number,
  outboundFailures: number,
  event: BodyPlace,
  value: BodyPlace,
  rest: BodyPlace,
];

type FactsApart = Pick<RecordedInvocation, 'outboundFailures' | 'event' | 'value' | 'rest'> & {
  replayOf: Uuid | undefined;
  traceId: string | undefined;
};

/** The JSON of a `Row`. */
function rowText(
  invocation: Invocation,
  { replayOf, traceId, outboundFailures, event, value, rest }: FactsApart,
): string {
  const { executionId, lambdaId, lambdaName, trigger, acceptedAtMs, startedAtMs, finishedAtMs, cold } = invocation;
  const { outcome, logs, outbound } = invocation;
  const failure = outcome.ok
    ? 'null,""'
    : `"${outcome.failure}",${jsonOf(outcome.message.slice(0, MESSAGE_CHARACTERS))}`;
  return (
    `[${jsonOfId(executionId)},${jsonOf(lambdaId)},${jsonOf(lambdaName)},"${trigger}",${acceptedAtMs},` +
    `${startedAtMs ?? null},${finishedAtMs},${cold ? 1 : 0},"${outcome.value.kind}",${failure},${jsonOf(replayOf)},` +
    `${jsonOfId(traceId)},${logs.length},${outbound.length},${outboundFailures},` +
    `${jsonOfPlace(event)},${jsonOfPlace(value)},${jsonOfPlace(rest)}]`
  );
}

/** A record of the list, as it was added: its checksum holds. */
export function decodeInvocation(json: unknown, tail: Buffer): RecordedInvocation {
  const excerpt = Uint8Array.from(tail);
  if (!Array.isArray(json)) return Object.assign(json as RecordedInvocation, { excerpt });
  const [executionId, lambdaId, lambdaName, trigger, acceptedAtMs, startedAtMs, finishedAtMs, cold, ...more] =
    json as Row;
  const [kind, failure, message, replayOf, traceId, logLines, outboundCalls, outboundFailures, ...places] = more;
  const [event, value, rest] = places;
  return {
    executionId,
    lambdaId,
    lambdaName,
    trigger,
    acceptedAtMs,
    ...(startedAtMs !== null && { startedAtMs }),
    finishedAtMs,
    cold: cold === 1,
    outcome: failure === null ? { ok: true } : { ok: false, failure, message },
    kind,
    ...(replayOf !== null && { replayOf }),
    ...(traceId !== null && { traceId }),
    logLines,
    outboundCalls,
    outboundFailures,
    excerpt,
    event,
    value,
    rest,
  };
}

/** What the mark of a record says. */
export const isFailedMark = (mark: number): boolean => (mark & FAILED) !== 0;
export const isReplayMark = (mark: number): boolean => (mark & REPLAYED) !== 0;
export const outboundFailuresOfMark = (mark: number): number => Math.floor(mark / COUNT_FROM);

/** The record with what is kept apart from the list. */
export function wholeInvocation(bodies: ByteLog, one: RecordedInvocation): WholeInvocation {
  const rest = restAt<Rest>(bodies, one.rest);
  const [event, value] = [bodyAt(bodies, one.event), bodyAt(bodies, one.value)];
  const isThinned = !rest || !event || !value;
  const message = rest?.message;
  return {
    ...one,
    outcome: one.outcome.ok || message === undefined ? one.outcome : { ...one.outcome, message },
    context: rest ? withoutCreds(rest.context) : NO_CONTEXT,
    ...(rest?.accept !== undefined && { accept: rest.accept }),
    logs: rest?.logs ?? [],
    outbound: rest?.outbound.map((one) => wholeOutbound(bodies, one)) ?? [],
    event: event ?? { ...NO_BODY, sizeBytes: one.event[2] },
    value: value ?? { bytes: one.excerpt, sizeBytes: one.value[2] },
    isThinned,
  };
}

const NO_CONTEXT = { method: '', path: '', params: {}, headers: {}, user: null, httpAware: false };

/** A call that a lambda made; its bodies are read when they are asked for. */
export interface OutboundPlace {
  call: Omit<OutboundCall, 'request' | 'response'>;
  whole(): OutboundCall;
}

/** The calls that an invocation made, in their order; none when these had to make room. */
export function outboundOf(bodies: ByteLog, { rest }: RecordedInvocation): OutboundPlace[] {
  const calls = restAt<Rest>(bodies, rest)?.outbound ?? [];
  return calls.map((call) => ({ call, whole: () => wholeOutbound(bodies, call) }));
}

function keptOutbound(bodies: ByteLog, { request, response, ...call }: OutboundCall): KeptOutbound {
  const keep = ({ bytes, sizeBytes, ...facts }: OutboundBody): KeptOutboundBody => ({
    ...facts,
    place: keepBody(bodies, { bytes, sizeBytes }),
  });
  return { ...call, ...(request && { request: keep(request) }), ...(response && { response: keep(response) }) };
}

function wholeOutbound(bodies: ByteLog, { request, response, ...call }: KeptOutbound): OutboundCall {
  const read = ({ place, ...facts }: KeptOutboundBody): OutboundBody => ({
    ...facts,
    ...(bodyAt(bodies, place) ?? { bytes: NO_BYTES, sizeBytes: place[2] }),
  });
  return { ...call, ...(request && { request: read(request) }), ...(response && { response: read(response) }) };
}

function withoutCreds({ creds: _creds, ...context }: Rest['context']): WholeInvocation['context'] {
  return context;
}

/** What nobody may use again, not even a replay, is not kept: it would stand in a file. Most calls have none, and are not copied. */
function keptContext(context: CallContext): CallContext {
  const { authorization, cookie } = context.headers;
  if (authorization === undefined && cookie === undefined && context.creds === '') return context;
  const headers = { ...context.headers };
  for (const name of ['authorization', 'cookie'])
    if (headers[name] !== undefined) headers[name] = shownHeader(name, headers[name]);
  return { ...context, creds: '', headers };
}

/** Beginning of the result, or the error, in one line. */
function excerptOf({ outcome, kind, excerpt, value }: RecordedInvocation | WholeInvocation): string {
  if (!outcome.ok) return outcome.message.slice(0, EXCERPT_CHARACTERS);
  if (kind === 'nothing') return '';
  return shownTextOf({ bytes: excerpt, sizeBytes: 'sizeBytes' in value ? value.sizeBytes : value[2] }, undefined);
}

/**
 * @param request at the gateway that caused it
 * @param whole reads what is asked of events, logs, results and calls
 */
export function factsOfInvocation(
  one: RecordedInvocation,
  request: { status: number | undefined; target(): string },
  whole: (one: RecordedInvocation) => WholeInvocation,
): InvocationFacts {
  let read: WholeInvocation | undefined;
  const wholeOnce = () => {
    read ??= whole(one);
    return read;
  };
  return {
    atMs: one.acceptedAtMs,
    status: one.outcome.ok ? 'ok' : one.outcome.failure,
    lambdaId: one.lambdaId,
    lambdaName: one.lambdaName,
    trigger: one.trigger,
    durationMs: durationOf(one),
    outboundCalls: one.outboundCalls,
    outboundFailures: one.outboundFailures,
    logLines: one.logLines,
    isCold: one.cold,
    executionId: one.executionId,
    traceId: traceOfInvocation(one),
    httpStatus: request.status,
    excerpt: excerptOf(one),
    log: () => (one.logLines === 0 ? [] : wholeOnce().logs.map(({ text }) => text)),
    event: () => {
      const { event, context } = wholeOnce();
      return shownTextOf(event, context.headers['content-type']);
    },
    result: () => (one.value[2] <= one.excerpt.length ? '' : shownTextOf(wholeOnce().value, undefined)),
    path: () => request.target(),
    tracesOfCalls: () => (one.outboundCalls === 0 ? [] : wholeOnce().outbound.map(({ traceId = '' }) => traceId)),
    calls: () => (one.outboundCalls === 0 ? [] : wholeOnce().outbound.map(({ method, url }) => `${method} ${url}`)),
  };
}

/** The trace that it belongs to. */
export function traceOfInvocation({
  traceId,
  executionId,
}: Pick<RecordedInvocation, 'traceId' | 'executionId'>): string {
  return traceId ?? traceBegunBy(executionId);
}

/** One row of the list. */
export function shownSummary(one: RecordedInvocation, seq: number, httpStatus: number | undefined): InvocationSummary {
  const { executionId, lambdaId, lambdaName, trigger, cold, outcome, logLines, outboundCalls, outboundFailures } = one;
  return {
    seq,
    executionId,
    lambdaId,
    lambdaName,
    trigger,
    cold,
    acceptedAt: new Date(one.acceptedAtMs).toISOString(),
    finishedAt: new Date(one.finishedAtMs).toISOString(),
    durationMs: durationOf(one),
    outcome: { ...outcome },
    excerpt: excerptOf(one),
    ...(httpStatus !== undefined && { httpStatus }),
    ...(one.replayOf !== undefined && { replayOf: one.replayOf }),
    logLines,
    outboundCalls,
    outboundFailures,
  };
}

/** One invocation with all that is kept of it; secrets in its event and result are hidden. */
export function shownRecorded(one: WholeInvocation): Omit<ShownRecorded, 'seq'> {
  const { context, event, value, isThinned, replayOf, outboundFailures } = one;
  const { headers, user, ...call } = context;
  const whole = shownInvocation({ ...one, outcome: outcomeOf(one) });
  return {
    ...whole,
    traceId: traceOfInvocation(one),
    event: {
      ...call,
      params: Object.fromEntries(Object.entries(call.params).map(([name, texts]) => [name, shownTexts(name, texts)])),
      headers: Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, shownHeader(name, text)])),
      ...(user && { user }),
      body: shownBody(event, headers['content-type']),
    },
    outboundFailures,
    ...(one.kind !== 'nothing' && { resultBytes: value.sizeBytes }),
    ...(replayOf !== undefined && { replayOf }),
    ...(isThinned && { isThinned }),
  };
}

/** Its outcome as an invocation has it; a value that was cut is text. */
function outcomeOf({ outcome, value, kind }: WholeInvocation): Invocation['outcome'] {
  const isCut = value.sizeBytes > value.bytes.length;
  const text = () => new TextDecoder().decode(value.bytes);
  const bytesOf = (shown: string) => new TextEncoder().encode(shown);
  const shown: LambdaValue =
    kind === 'nothing'
      ? { kind: 'nothing' }
      : kind === 'text' || isCut
        ? { kind: 'text', bytes: value.bytes }
        : { kind: 'json', bytes: bytesOf(JSON.stringify(withoutSecrets(JSON.parse(text()) as Json))) };
  // The kinds of failure are kept as text only.
  return (outcome.ok ? { ok: true, value: shown } : { ...outcome, value: shown }) as Invocation['outcome'];
}

function durationOf({
  startedAtMs,
  acceptedAtMs,
  finishedAtMs,
}: Pick<RecordedInvocation, 'startedAtMs' | 'acceptedAtMs' | 'finishedAtMs'>): number {
  return tenthsBetween(startedAtMs ?? acceptedAtMs, finishedAtMs);
}
