import type { InvocationSummary, ShownRecorded } from '../contract/recorded.ts';
import type { Invocation, LambdaValue } from '../model/invocation.ts';
import type { Json } from '../model/json.ts';
import type { InvocationFacts } from '../model/recorded-queries.ts';
import { traceBegunBy } from '../model/trace.ts';
import { EXCERPT_CHARACTERS, type RecordedInvocation, type WholeInvocation } from './recorded-invocation.ts';
import { shownBody, shownHeader, shownTextOf, shownTexts, withoutSecrets } from './shown-body.ts';
import { shownInvocation, tenthsBetween } from './shown-invocation.ts';

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
