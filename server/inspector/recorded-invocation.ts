import { type CapturedBody, captured } from '../model/exchange-record.ts';
import { failedCalls } from '../model/failed-call.ts';
import type { Uuid } from '../model/ids.ts';
import type { CallContext, Invocation, LambdaCall, LambdaValue } from '../model/invocation.ts';
import type { Json, JsonObject } from '../model/json.ts';
import type { InvocationFacts } from '../model/recorded-queries.ts';
import { shownBody, shownHeader, shownTextOf, withoutSecrets } from './shown-body.ts';
import { shownInvocation } from './shown-invocation.ts';

const EXCERPT_CHARACTERS = 200;
/** What a record weighs besides its texts. */
const BASE_BYTES = 1_000;
const NOTHING: CapturedBody = { bytes: new Uint8Array(0), sizeBytes: 0 };

/** An invocation as it is kept. */
export interface RecordedInvocation extends Omit<Invocation, 'outcome'> {
  outcome: { ok: true } | { ok: false; failure: string; message: string };
  value: { kind: LambdaValue['kind']; body: CapturedBody };
  event: CapturedBody;
  context: CallContext;
  /** The invocation whose event it was given again. */
  replayOf: Uuid | undefined;
  logLines: number;
  outboundCalls: number;
  /** Calls of those that came to nothing (`failedCalls`). */
  outboundFailures: number;
  /** Were its event, result, log and outbound calls let go to make room? */
  isThinned: boolean;
}

export function recordedInvocation(
  invocation: Invocation,
  call: LambdaCall,
  replayOf: Uuid | undefined,
): RecordedInvocation {
  const { outcome, logs, outbound, ...rest } = invocation;
  const { value } = outcome;
  return {
    ...rest,
    logs,
    outbound,
    outcome: outcome.ok ? { ok: true } : { ok: false, failure: outcome.failure, message: outcome.message },
    value: { kind: value.kind, body: value.kind === 'nothing' ? NOTHING : captured(value.bytes) },
    event: captured(call.body),
    context: call.context,
    replayOf,
    logLines: logs.length,
    outboundCalls: outbound.length,
    outboundFailures: failedCalls(outbound).length,
    isThinned: false,
  };
}

/** About so much memory it takes. */
export function sizeOfInvocation({ event, value, logs, outbound, outcome }: RecordedInvocation): number {
  let bytes = BASE_BYTES + event.bytes.length + value.body.bytes.length;
  if (!outcome.ok) bytes += 2 * outcome.message.length;
  for (const { text } of logs) bytes += 120 + text.length * 2;
  for (const { url, request, response } of outbound)
    bytes += 200 + url.length * 2 + (request?.bytes.length ?? 0) + (response?.bytes.length ?? 0);
  return bytes;
}

export function thinnedInvocation(one: RecordedInvocation): RecordedInvocation {
  const event = { ...NOTHING, sizeBytes: one.event.sizeBytes };
  const value = {
    kind: one.value.kind,
    body: { bytes: one.value.body.bytes.slice(0, EXCERPT_CHARACTERS), sizeBytes: one.value.body.sizeBytes },
  };
  const { ok } = one.outcome;
  // A copy, since a slice would keep the whole message.
  const message = ok ? '' : Buffer.from(one.outcome.message.slice(0, EXCERPT_CHARACTERS)).toString();
  const outcome = ok ? one.outcome : { ...one.outcome, message };
  return { ...one, event, value, outcome, logs: [], outbound: [], isThinned: true };
}

/** Beginning of the result, or the error, in one line. */
function excerptOf({ outcome, value }: RecordedInvocation): string {
  if (!outcome.ok) return outcome.message.slice(0, EXCERPT_CHARACTERS);
  if (value.kind === 'nothing') return '';
  const body = { bytes: value.body.bytes.subarray(0, EXCERPT_CHARACTERS), sizeBytes: value.body.sizeBytes };
  return shownTextOf(body, undefined);
}

export function factsOfInvocation(one: RecordedInvocation, httpStatus: number | undefined): InvocationFacts {
  return {
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
    httpStatus,
    excerpt: excerptOf(one),
    log: () => one.logs.map(({ text }) => text),
    event: () => shownTextOf(one.event, one.context.headers['content-type']),
  };
}

/** One row of the list. */
export function shownSummary(one: RecordedInvocation, seq: number, httpStatus: number | undefined): JsonObject {
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
export function shownRecorded(one: RecordedInvocation): JsonObject {
  const { context, event, value, isThinned, replayOf, outboundFailures } = one;
  const { creds: _creds, headers, user, ...call } = context;
  const whole = shownInvocation({ ...one, outcome: outcomeOf(one) });
  return {
    ...whole,
    event: {
      ...call,
      params: withoutSecrets(call.params),
      headers: Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, shownHeader(name, text)])),
      ...(user && { user }),
      body: shownBody(event, headers['content-type']),
    },
    outboundFailures,
    ...(value.kind !== 'nothing' && { resultBytes: value.body.sizeBytes }),
    ...(replayOf !== undefined && { replayOf }),
    ...(isThinned && { isThinned }),
  };
}

/** Its outcome as an invocation has it; a value that was cut is text. */
function outcomeOf({ outcome, value }: RecordedInvocation): Invocation['outcome'] {
  const isCut = value.body.sizeBytes > value.body.bytes.length;
  const text = () => new TextDecoder().decode(value.body.bytes);
  const bytesOf = (shown: string) => new TextEncoder().encode(shown);
  const shown: LambdaValue =
    value.kind === 'nothing'
      ? { kind: 'nothing' }
      : value.kind === 'text' || isCut
        ? { kind: 'text', bytes: value.body.bytes }
        : { kind: 'json', bytes: bytesOf(JSON.stringify(withoutSecrets(JSON.parse(text()) as Json))) };
  // The kinds of failure are kept as text only.
  return (outcome.ok ? { ok: true, value: shown } : { ...outcome, value: shown }) as Invocation['outcome'];
}

function durationOf({ startedAtMs, acceptedAtMs, finishedAtMs }: RecordedInvocation): number {
  return finishedAtMs - (startedAtMs ?? acceptedAtMs);
}
