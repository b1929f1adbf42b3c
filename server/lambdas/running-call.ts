import { MAX_CAPTURED_BYTES } from '../model/exchange-record.ts';
import type { Invocation, LambdaCall, LogLine, OutboundBody, OutboundCall, Outcome } from '../model/invocation.ts';
import type { LambdaDefinition } from './lambda-definition.ts';
import type { OutboundHead } from './process-messages.ts';

/** Outbound calls kept in the record of one invocation. */
const KEPT_OUTBOUND = 1_000;
/** Bytes of their bodies kept in it, all together. */
const KEPT_BODY_BYTES = 2 * 1024 * 1024;
/** An outbound call that is under way when the handler answers is given that long before the record is closed (D-138). */
const OPEN_OUTBOUND_MS = 1_000;

/** One accepted call from waiting to its record. */
export class RunningCall {
  readonly call: LambdaCall;
  readonly acceptedAtMs: number;
  /** The same by the monotonic clock, which nobody sets. */
  readonly waitingSinceMs = performance.now();
  /** Its place in the order of the pool's events. */
  readonly order: number;
  /** Settled once, with `finish`. */
  readonly done: Promise<Invocation>;
  /** Did a process have to be made ready for it? */
  cold = false;
  /** When the handler was called; undefined until then. */
  startedAtMs: number | undefined;

  readonly #logs: LogLine[] = [];
  #outbound: Map<number, OpenOutbound> | undefined;
  #bodyBytes = 0;
  #resolve: (invocation: Invocation) => void = () => {};
  #closeRecord: (() => void) | undefined;

  constructor(call: LambdaCall, acceptedAtMs: number, order: number) {
    this.call = call;
    this.acceptedAtMs = acceptedAtMs;
    this.order = order;
    this.done = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** A line that was written while it ran. */
  addLine(line: LogLine): void {
    this.#logs.push(line);
  }

  /** News of an outbound call; `bytes`: the part of a body that it has. */
  addOutbound(
    { id, method, url, traceId, caughtBy, rules, status, error, body, ended }: OutboundHead,
    bytes: Uint8Array,
    nowMs: number,
  ): void {
    this.#outbound ??= new Map();
    let known = this.#outbound.get(id);
    if (!known) {
      if (method === undefined || url === undefined || this.#outbound.size >= KEPT_OUTBOUND) return;
      known = { method, url, startedAtMs: nowMs, durationMs: 0, hasEnded: false, parts: { request: [], response: [] } };
      if (traceId !== undefined) known.traceId = traceId;
      this.#outbound.set(id, known);
    }
    if (caughtBy) known.caughtBy = caughtBy;
    if (rules) known.rules = rules;
    if (status !== undefined) known.status = status;
    if (error !== undefined) known.error = error;
    known.durationMs = nowMs - known.startedAtMs;
    known.hasEnded ||= ended === true;
    if (body) this.#addBody(known, body, bytes);
    if (!this.hasOpenOutbound) this.closeRecord();
  }

  #addBody(call: OpenOutbound, { of, ...facts }: NonNullable<OutboundHead['body']>, bytes: Uint8Array): void {
    const before = call[of]?.keptBytes ?? 0;
    const room = Math.min(MAX_CAPTURED_BYTES - before, KEPT_BODY_BYTES - this.#bodyBytes);
    const kept = bytes.subarray(0, Math.max(0, room));
    if (kept.length > 0) call.parts[of].push(kept);
    this.#bodyBytes += kept.length;
    call[of] = { ...facts, keptBytes: before + kept.length };
  }

  /** Is an outbound call under way? */
  get hasOpenOutbound(): boolean {
    return this.#outbound !== undefined && [...this.#outbound.values()].some(({ hasEnded }) => !hasEnded);
  }

  /** After `finish`: resolves with the record when no outbound call is under way any more, at the latest after a second. */
  async closed(invocation: Invocation, nowMs: () => number): Promise<Invocation> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, OPEN_OUTBOUND_MS);
      this.#closeRecord = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#closeRecord = undefined;
    return { ...invocation, outbound: this.#outboundAt(nowMs()) };
  }

  /** Nothing more will come. */
  closeRecord(): void {
    this.#closeRecord?.();
  }

  #outboundAt(nowMs: number): OutboundCall[] {
    return this.#outbound ? Array.from(this.#outbound.values(), (outbound) => closed(outbound, nowMs)) : [];
  }

  /** Makes the record and settles `done`. */
  finish(lambda: Pick<LambdaDefinition, 'id' | 'name' | 'accept'>, outcome: Outcome, nowMs: number): Invocation {
    const invocation: Invocation = {
      executionId: this.call.executionId,
      lambdaId: lambda.id,
      lambdaName: lambda.name,
      trigger: this.call.trigger,
      acceptedAtMs: this.acceptedAtMs,
      finishedAtMs: nowMs,
      cold: this.cold,
      outcome,
      logs: this.#logs,
      outbound: this.#outboundAt(nowMs),
    };
    if (this.startedAtMs !== undefined) invocation.startedAtMs = this.startedAtMs;
    if (lambda.accept !== undefined) invocation.accept = lambda.accept;
    this.#resolve(invocation);
    return invocation;
  }
}

/** An outbound call as far as it is known; its bodies lie in parts. */
interface OpenOutbound extends Omit<OutboundCall, 'request' | 'response'> {
  hasEnded: boolean;
  request?: Omit<OutboundBody, 'bytes'> & { keptBytes: number };
  response?: Omit<OutboundBody, 'bytes'> & { keptBytes: number };
  parts: { request: Uint8Array[]; response: Uint8Array[] };
}

function closed({ hasEnded, parts, request, response, ...call }: OpenOutbound, nowMs: number): OutboundCall {
  const bodies = {
    ...(request && { request: bodyOf(request, parts.request) }),
    ...(response && { response: bodyOf(response, parts.response) }),
  };
  if (hasEnded) return { ...call, ...bodies };
  const durationMs = nowMs - call.startedAtMs;
  const error = 'there was no answer before the invocation ended';
  return { ...call, ...bodies, durationMs, ...(call.status === undefined && { error }) };
}

function bodyOf(
  { keptBytes, ...facts }: NonNullable<OpenOutbound['request']>,
  parts: readonly Uint8Array[],
): OutboundBody {
  const bytes = new Uint8Array(keptBytes);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return { ...facts, bytes };
}
