import type { Invocation, LambdaCall, LogLine, OutboundCall, Outcome } from '../model/invocation.ts';
import type { LambdaDefinition } from './lambda-definition.ts';
import type { OutboundHead } from './protocol.ts';

/** Outbound calls kept in the record of one invocation. */
const KEPT_OUTBOUND = 1_000;
/** An outbound call that is under way when the handler answers is given that long before the record is closed (D-138). */
const OPEN_OUTBOUND_MS = 1_000;

/** One accepted call from waiting to its record. */
export class RunningCall {
  readonly call: LambdaCall;
  readonly acceptedAtMs: number;
  /** Its place in the order of the pool's events. */
  readonly order: number;
  /** Settled once, with `finish`. */
  readonly done: Promise<Invocation>;
  /** Did a process have to be made ready for it? */
  cold = false;
  /** When the handler was called; undefined until then. */
  startedAtMs: number | undefined;

  readonly #logs: LogLine[] = [];
  readonly #outbound = new Map<number, OutboundCall & { hasEnded: boolean }>();
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

  /** News of an outbound call. */
  addOutbound({ id, method, url, caughtBy, rules, status, error, ended }: OutboundHead, nowMs: number): void {
    let known = this.#outbound.get(id);
    if (!known) {
      if (method === undefined || url === undefined || this.#outbound.size >= KEPT_OUTBOUND) return;
      known = { method, url, startedAtMs: nowMs, durationMs: 0, hasEnded: false };
      this.#outbound.set(id, known);
    }
    if (caughtBy) known.caughtBy = caughtBy;
    if (rules) known.rules = rules;
    if (status !== undefined) known.status = status;
    if (error !== undefined) known.error = error;
    known.durationMs = nowMs - known.startedAtMs;
    known.hasEnded ||= ended === true || status !== undefined;
    if (!this.hasOpenOutbound) this.closeRecord();
  }

  /** Is an outbound call under way? */
  get hasOpenOutbound(): boolean {
    return [...this.#outbound.values()].some(({ hasEnded }) => !hasEnded);
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
    return [...this.#outbound.values()].map((outbound) => closed(outbound, nowMs));
  }

  /** Makes the record and settles `done`. */
  finish(lambda: Pick<LambdaDefinition, 'id' | 'name' | 'accept'>, outcome: Outcome, nowMs: number): Invocation {
    const invocation: Invocation = {
      executionId: this.call.executionId,
      lambdaId: lambda.id,
      lambdaName: lambda.name,
      trigger: this.call.trigger,
      acceptedAtMs: this.acceptedAtMs,
      ...(this.startedAtMs !== undefined && { startedAtMs: this.startedAtMs }),
      finishedAtMs: nowMs,
      cold: this.cold,
      outcome,
      ...(lambda.accept !== undefined && { accept: lambda.accept }),
      logs: this.#logs,
      outbound: this.#outboundAt(nowMs),
    };
    this.#resolve(invocation);
    return invocation;
  }
}

function closed({ hasEnded, ...call }: OutboundCall & { hasEnded: boolean }, nowMs: number): OutboundCall {
  if (hasEnded) return call;
  return { ...call, durationMs: nowMs - call.startedAtMs, error: 'there was no answer before the invocation ended' };
}
