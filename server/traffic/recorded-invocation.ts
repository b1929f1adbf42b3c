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
import { readTraceParent } from '../model/trace.ts';
import type { ByteLog } from '../store/records/byte-log.ts';
import type { RecordRing } from '../store/records/record-ring.ts';
import { jsonOf, jsonOfId, jsonOfPlace } from './record-text.ts';
import { type BodyPlace, bodyAt, endOf, keepBody, keepSameRest, NO_BODY, restAt } from './recorded-bodies.ts';
import { shownHeader } from './shown-body.ts';

export const EXCERPT_CHARACTERS = 200;
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
  const { outcome, outbound, executionId, lambdaId } = invocation;
  const result = outcome.value.kind === 'nothing' ? NO_BYTES : outcome.value.bytes;
  const event = keepBody(bodies, { bytes: call.body, sizeBytes: call.body.length }, known?.request);
  const value = keepBody(bodies, { bytes: result, sizeBytes: result.length }, known?.response);
  const rest = keepSameRest(bodies, restText(bodies, invocation, call.context));
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

/** The JSON of a `Rest`. */
function restText(bodies: ByteLog, { outcome, accept, logs, outbound }: Invocation, context: CallContext): string {
  const message = !outcome.ok && outcome.message.length > MESSAGE_CHARACTERS ? outcome.message : undefined;
  let text = `{"context":${contextText(context)}`;
  if (accept !== undefined) text += `,"accept":${jsonOf(accept)}`;
  if (message !== undefined) text += `,"message":${JSON.stringify(message)}`;
  const calls = outbound.length === 0 ? '[]' : JSON.stringify(outbound.map((one) => keptOutbound(bodies, one)));
  return `${text},"logs":${logs.length === 0 ? '[]' : JSON.stringify(logs)},"outbound":${calls}}`;
}

/** JSON of contexts: calls that come over one connection often share theirs. */
const contextTexts = new WeakMap<CallContext, string>();

function contextText(context: CallContext): string {
  let text = contextTexts.get(context);
  if (text === undefined) {
    text = JSON.stringify(keptContext(context));
    contextTexts.set(context, text);
  }
  return text;
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
