import { formWarning } from '../../../model/crm-form.ts';
import { MAX_CAPTURED_BYTES } from '../../../model/exchange-record.ts';
import type {
  CallContext,
  Invocation,
  InvocationTrigger,
  LambdaCall,
  LambdaValue,
  LogLine,
  OutboundCall,
  Outcome,
} from '../../../model/invocation.ts';
import { tenthsBetween } from '../../../model/iso-time.ts';
import { monotonicMs } from '../../../system/clock.ts';
import type { LambdaDefinition } from '../lambda-definition.ts';
import { failed, interrupted } from '../lambda-failure.ts';
import { isDebuggerTalk } from '../process/debugging.ts';
import type { Ending } from '../process/in-flight-calls.ts';
import type { LambdaProcesses } from '../process/lambda-processes.ts';
import type { OutboundHead } from '../process/process-messages.ts';
import type { InvokeHead } from '../process/protocol.ts';

export interface PoolHost {
  readonly limits: { concurrency: number; queue: number; idleMs: number; openOutboundMs: number };
  readonly processes: LambdaProcesses;
  nowMs(): number;
  onLine(lambdaId: string, line: LogLine): void;
  onBegin?(running: ActiveInvocation): void;
  /** A connection reaches a mock from this port. @param executionId returns the invocation that uses it at present */
  onConnection(localPort: number, executionId: () => string): void;
  onInvocation?(invocation: ActiveInvocation, call: LambdaCall): void;
}

/** Answers the calls of one lambda, closes their records, and keeps its log. */
export class InvocationFinalizer {
  readonly #host: PoolHost;
  readonly #definition: () => LambdaDefinition;
  readonly #open = new Map<ActiveInvocation, Promise<void>>();

  constructor(host: PoolHost, definition: () => LambdaDefinition) {
    this.#host = host;
    this.#definition = definition;
  }

  /** Returns the result at once. With `endedAtMs` the record can stay open for outbound calls; then the promise resolves when it is closed. */
  finish(running: ActiveInvocation, outcome: Outcome, endedAtMs?: number): Promise<void> | undefined {
    if (!outcome.ok && outcome.failure !== 'busy') this.note(running, `${outcome.failure}: ${outcome.message}`);
    const { processes } = this.#host;
    const definition = this.#definition();
    running.finish(definition, outcome, endedAtMs, (call) => formWarning(call, processes, definition.env));
    this.#noteWarnings(running);
    if (endedAtMs === undefined || !running.hasOpenOutbound) {
      this.#host.onInvocation?.(running, running.call);
      return undefined;
    }
    const recorded = running.closed(this.#host.limits.openOutboundMs).then(() => {
      this.#open.delete(running);
      this.#noteWarnings(running);
      this.#host.onInvocation?.(running, running.call);
    });
    this.#open.set(running, recorded);
    return recorded;
  }

  async closeRecords(): Promise<void> {
    for (const running of this.#open.keys()) running.closeRecord?.();
    await Promise.all(this.#open.values());
  }

  #noteWarnings(running: ActiveInvocation): void {
    for (const { warning } of running.outbound) {
      if (warning === undefined || running.notedWarnings?.has(warning)) continue;
      running.notedWarnings ??= new Set();
      running.notedWarnings.add(warning);
      this.note(running, warning);
    }
  }

  note(running: ActiveInvocation | undefined, text: string, executionId = running?.executionId): void {
    this.addLine(running, 'stderr', `[terrarium] ${text}`, executionId);
  }

  /** @param executionId of an invocation whose record is closed */
  addLine(
    running: ActiveInvocation | undefined,
    stream: LogLine['stream'],
    text: string,
    executionId = running?.executionId,
  ): void {
    const { id, isDebugged } = this.#definition();
    if (isDebugged && isDebuggerTalk(text)) return;
    const atMs = (running ?? this.#host).nowMs();
    const line: LogLine = { atMs, stream, text };
    if (executionId !== undefined) line.executionId = executionId;
    running?.logs.push(line);
    this.#host.onLine(id, line);
  }
}

/** True if the call has not started, through no fault of its own. Then another process can run it, and no handler is called twice. */
export function isForAnother(ending: Ending, wasUsed: boolean, wasAhead: boolean): boolean {
  if (ending.kind !== 'gone') return ending.kind === 'withdrawn';
  return !ending.hasBegun && (wasAhead || (wasUsed && ending.failure.failure === 'crash'));
}

export function outcomeOf(ending: Ending): Outcome {
  if (ending.kind === 'withdrawn') return failed(interrupted());
  if (ending.kind === 'gone') return failed(ending.failure);
  const { head, body: bytes } = ending;
  const { failure, message = '', kind, contentType } = head;
  const value: LambdaValue =
    kind === 'nothing'
      ? { kind }
      : kind === 'json' || contentType === undefined
        ? { kind, bytes }
        : { kind, bytes, contentType };
  return failure ? { ok: false, failure, message, value } : { ok: true, value };
}

const KEPT_OUTBOUND = 1_000;
const KEPT_BODY_BYTES = 2 * 1024 * 1024;
const NOT_ENDED = failed(interrupted());

interface OpenOutbound {
  call: OutboundCall;
  parts: Record<'request' | 'response', Uint8Array[]>;
  hasEnded: boolean;
}

/** Calls of one connection often have the same context. Only the handler reads it, so it is JSON within JSON. */
const contextTexts = new WeakMap<CallContext, { lambdaId: string; lambdaName: string; text: string }>();

export class ActiveInvocation implements Invocation {
  readonly executionId: string;
  readonly trigger: InvocationTrigger;
  readonly lambdaId: string;
  lambdaName: string;
  readonly acceptedAtMs: number;
  startedAtMs?: number;
  finishedAtMs = 0;
  cold = false;
  /** The handler has left a timer or started a subprocess, so the record waits for the outbound calls that may follow. */
  waitsForLateCalls = false;
  outcome: Outcome = NOT_ENDED;
  accept?: string;
  readonly logs: LogLine[] = [];
  outbound: OutboundCall[] = [];
  notedWarnings: Set<string> | undefined;

  readonly call: LambdaCall;
  /** The start of the wait by the monotonic clock, which is never set. */
  readonly waitingSinceMs = performance.now();
  readonly order: number;
  readonly done: Promise<Invocation>;
  #calls: Map<number, OpenOutbound> | undefined;
  #bodyBytes = 0;
  #warningOf: ((call: OutboundCall) => string | undefined) | undefined;
  #resolve: ((invocation: Invocation) => void) | undefined;
  /** Set while the record is open after the end. */
  closeRecord: (() => void) | undefined;
  /** Epoch time minus the monotonic clock, which is never set. */
  readonly #aheadMs: number;

  constructor(call: LambdaCall, { id, name }: { id: string; name: string }, acceptedAtMs: number, order = 0) {
    this.call = call;
    this.executionId = call.executionId;
    this.trigger = call.trigger;
    this.lambdaId = id;
    this.lambdaName = name;
    this.acceptedAtMs = acceptedAtMs;
    this.#aheadMs = acceptedAtMs - monotonicMs();
    this.order = order;
    this.done = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** The clock of this invocation's times. */
  nowMs(): number {
    return tenthsBetween(-this.#aheadMs, monotonicMs());
  }

  /** JSON of the members of an `InvokeHead` that follow from the context and the lambda. */
  headMembers(lambda: { readonly id: string; readonly name: string }): string {
    const { context } = this.call;
    const cached = contextTexts.get(context);
    if (cached?.lambdaId === lambda.id && cached.lambdaName === lambda.name) return cached.text;
    const { httpAware, apiEndpointId } = context;
    const members: Pick<InvokeHead, 'place' | 'context' | 'lambda'> = {
      place: { httpAware, apiEndpointId },
      context: JSON.stringify(context).slice(0, -1),
      lambda: JSON.stringify({ lambdaId: lambda.id, lambdaName: lambda.name }).slice(1, -1),
    };
    const text = JSON.stringify(members).slice(1, -1);
    contextTexts.set(context, { lambdaId: lambda.id, lambdaName: lambda.name, text });
    return text;
  }

  /**
   * Returns the time of an event of its process, or now; not before the call was sent, whatever the lambda reports.
   *
   * @param eventMs when it happened, by `monotonicMs`
   */
  timeOf(eventMs: number | undefined, afterMs: number): number {
    const nowMs = this.nowMs();
    if (eventMs === undefined) return nowMs;
    const timeMs = tenthsBetween(-this.#aheadMs, eventMs);
    return Math.min(Math.max(timeMs, afterMs), nowMs);
  }

  /** News of an outbound call. @param bytes the part of a body that it has */
  addOutbound(update: OutboundHead, bytes: Uint8Array, nowMs: number): void {
    const { id, method, url, rules } = update;
    this.#calls ??= new Map();
    if (update.carriesHttp) {
      this.#calls.delete(id);
      return;
    }
    let openCall = this.#calls.get(id);
    if (!openCall) {
      if (method === undefined || url === undefined || this.#calls.size >= KEPT_OUTBOUND) return;
      const call: OutboundCall = { method, url, startedAtMs: nowMs, durationMs: 0 };
      if (update.traceId !== undefined) call.traceId = update.traceId;
      openCall = { call, parts: { request: [], response: [] }, hasEnded: false };
      this.#calls.set(id, openCall);
    }
    const { call } = openCall;
    if (update.caughtBy) call.caughtBy = update.caughtBy;
    if (update.connection) call.connection = update.connection;
    if (update.blocked) call.blocked = true;
    if (update.leftMachine) call.leftMachine = true;
    else if (update.leftMachine === false) delete call.leftMachine;
    if (update.afterRedirect) call.afterRedirect = true;
    if (rules?.length === 0) delete call.rules;
    else if (rules) call.rules = rules;
    if (update.status !== undefined) call.status = update.status;
    if (update.error !== undefined) call.error = update.error;
    call.durationMs = nowMs - call.startedAtMs;
    openCall.hasEnded ||= update.ended === true;
    if (update.body) this.#addBody(openCall, update.body, bytes);
    if (this.closeRecord && !this.hasOpenOutbound) this.closeRecord();
  }

  #addBody(
    { call, parts }: OpenOutbound,
    { of: side, ...facts }: NonNullable<OutboundHead['body']>,
    bytes: Uint8Array,
  ): void {
    const before = parts[side].reduce((sum, { length }) => sum + length, 0);
    const free = Math.min(MAX_CAPTURED_BYTES - before, KEPT_BODY_BYTES - this.#bodyBytes);
    const keptBytes = bytes.subarray(0, Math.max(0, free));
    if (keptBytes.length > 0) parts[side].push(keptBytes);
    this.#bodyBytes += keptBytes.length;
    call[side] = { ...facts, bytes: keptBytes };
  }

  /** True while the record of outbound calls is not complete. */
  get hasOpenOutbound(): boolean {
    if (this.waitsForLateCalls) return true;
    // Connections can stay open for later invocations.
    for (const { hasEnded, call } of this.#calls?.values() ?? []) if (!hasEnded && !call.connection) return true;
    return false;
  }

  /** After `finish`: resolves when no outbound call is under way any more, at the latest after this time. */
  async closed(atMostMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, atMostMs);
      this.closeRecord = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.closeRecord = undefined;
    this.waitsForLateCalls = false;
    this.#takeOutbound(this.nowMs(), true);
  }

  #takeOutbound(nowMs: number, isFinal: boolean): void {
    if (!this.#calls) return;
    this.outbound = Array.from(this.#calls.values(), ({ call, parts, hasEnded }) => {
      for (const side of ['request', 'response'] as const) {
        const body = call[side];
        if (body) body.bytes = Buffer.concat(parts[side]);
      }
      // It depends on the response, which a call that goes on has not received yet.
      const warning = hasEnded || isFinal ? this.#warningOf?.(call) : undefined;
      const record = { ...call, ...(warning !== undefined && { warning }) };
      if (call.caughtBy || isUndelivered(call)) delete record.leftMachine;
      if (hasEnded || call.connection) return record;
      const error = 'no response before the invocation ended';
      return { ...record, durationMs: nowMs - call.startedAtMs, ...(call.status === undefined && { error }) };
    });
  }

  finish(
    { name, accept }: Pick<LambdaDefinition, 'name' | 'accept'>,
    outcome: Outcome,
    endedAtMs = this.nowMs(),
    warningOf?: (call: OutboundCall) => string | undefined,
  ): void {
    this.#warningOf = warningOf;
    this.lambdaName = name;
    if (accept !== undefined) this.accept = accept;
    this.finishedAtMs = endedAtMs;
    this.outcome = outcome;
    this.#takeOutbound(endedAtMs, false);
    this.#resolve?.(this);
  }
}

/** True if no byte of the call has reached its host. */
function isUndelivered({ status, error }: OutboundCall): boolean {
  return status === undefined && /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH|EHOSTUNREACH)\b/.test(error ?? '');
}
