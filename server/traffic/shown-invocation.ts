import type { OutboundCall as ShownCall, ShownInvocation } from '../contract/logs.ts';
import type { ShownLine } from '../contract/parts.ts';
import type { Invocation, LambdaValue, LogLine, OutboundCall } from '../model/invocation.ts';
import type { Json } from '../model/json.ts';
import { shownTarget, shownWireBody } from './shown-body.ts';

/** The record of an invocation as a client sees it; times are ISO-8601 UTC (D-014). */
export function shownInvocation(invocation: Invocation): ShownInvocation {
  const { executionId, lambdaId, lambdaName, trigger, cold, outcome, logs, outbound } = invocation;
  const { acceptedAtMs, startedAtMs, finishedAtMs } = invocation;
  return {
    executionId,
    lambdaId,
    lambdaName,
    trigger,
    cold,
    acceptedAt: timeOf(acceptedAtMs),
    ...(startedAtMs !== undefined && { startedAt: timeOf(startedAtMs) }),
    finishedAt: timeOf(finishedAtMs),
    durationMs: tenthsBetween(startedAtMs ?? acceptedAtMs, finishedAtMs),
    outcome: {
      ok: outcome.ok,
      ...(!outcome.ok && { failure: outcome.failure, message: outcome.message }),
      ...(outcome.value.kind !== 'nothing' && { result: resultOf(outcome.value) }),
    },
    logs: logs.map((line) => ({ ...shownLine(line), at: timeOf(line.atMs) })),
    outbound: outbound.map(shownOutbound),
  };
}

/** A line of a log as a client sees it. */
export function shownLine({ atMs, stream, text, executionId }: LogLine): ShownLine {
  return { at: new Date(atMs).toISOString(), stream, text, ...(executionId && { executionId }) };
}

/** The body of a form is masked like that of a request to the gateway. */
function shownOutbound({ startedAtMs, durationMs, request, response, url, ...call }: OutboundCall): ShownCall {
  const { rules, ...rest } = call;
  return {
    startedAt: timeOf(startedAtMs),
    url: shownTarget(url),
    ...rest,
    durationMs: tenthsBetween(0, durationMs),
    ...(rules && { rules: rules.map((rule) => ({ ...rule })) }),
    ...(request && { request: shownWireBody(request) }),
    ...(response && { response: shownWireBody(response) }),
  };
}

function resultOf(value: Exclude<LambdaValue, { kind: 'nothing' }>): Json {
  const text = new TextDecoder().decode(value.bytes);
  return value.kind === 'json' ? JSON.parse(text) : text;
}

/** With the tenth of its millisecond, which ISO 8601 has room for: parts of a call take less than one. */
export function timeOf(atMs: number): string {
  const tenths = Math.round(atMs * 10);
  return new Date(Math.floor(tenths / 10)).toISOString().replace('Z', `${tenths % 10}Z`);
}

/** Milliseconds from one moment to another, to a tenth. */
export function tenthsBetween(fromMs: number, untilMs: number): number {
  return Math.round((untilMs - fromMs) * 10) / 10;
}
