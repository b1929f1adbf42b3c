import type { CapturedBody } from './exchange-record.ts';
import type { Uuid } from './ids.ts';
import type { MetRule } from './outbound-rule.ts';

/** Why an invocation ran: a gateway call, an asynchronous call, a policy event, a migration rule, a person, the clock. */
export const INVOCATION_TRIGGERS = ['gateway', 'async', 'event', 'move', 'manual', 'periodic'] as const;
export type InvocationTrigger = (typeof INVOCATION_TRIGGERS)[number];

/** What a lambda sees in its `context` (D-136), but for the members that the runner itself adds (lambdaId, lambdaName, deadline). */
export interface CallContext {
  method: string;
  /** Rest of the path after the matched prefix: empty, or starting with `/`. */
  path: string;
  params: Record<string, string[]>;
  /** Lower-case header name to value. */
  headers: Record<string, string>;
  /** The Authorization header verbatim, or empty. */
  creds: string;
  user: { id: Uuid; name: string } | null;
  apiEndpointId?: Uuid;
  httpAware: boolean;
}

/** One call of a lambda. */
export interface LambdaCall {
  executionId: Uuid;
  trigger: InvocationTrigger;
  /** The request body verbatim; empty means no body (the event is then `{}`, D-135). */
  body: Uint8Array;
  context: CallContext;
  /** Shall a debugger that is attached stand at the first line of the handler? */
  stopsFirst?: true;
}

/** What a handler gave back (D-137), as bytes ready to be sent: text as is, other values as JSON. */
export type LambdaValue =
  | { kind: 'nothing' }
  | { kind: 'text'; bytes: Uint8Array }
  | { kind: 'json'; bytes: Uint8Array };

/** How an invocation can fail (D-139); each has one HTTP answer. */
export const FAILURE_KINDS = [
  'error', // callback(error), throw, rejection: 500
  'timeout', // 504
  'crash', // the process ended, ran out of memory, or its result could not be read: 502
  'load', // the code or package could not be loaded, or has no such handler: 502
  'too-large', // the result is over the limit (D-185): 502
  'deleted', // no such lambda: 503
  'busy', // queue full: 503, Retry-After 1
  'runtime', // runtime not emulated: 501
  'interrupted', // the emulator stopped or restarted before it ended (D-168): 503
] as const;
export type FailureKind = (typeof FAILURE_KINDS)[number];

export type Outcome =
  | { ok: true; value: LambdaValue }
  | { ok: false; failure: FailureKind; message: string /** second callback argument */; value: LambdaValue };

export interface LogLine {
  /** Epoch milliseconds. */
  atMs: number;
  stream: 'stdout' | 'stderr';
  text: string;
  executionId?: Uuid;
}

/** A body of an outbound call, or the beginning of one, as it went over the wire. */
export interface OutboundBody extends CapturedBody {
  contentType?: string;
  /** Such as gzip: `bytes` are compressed then. */
  contentEncoding?: string;
}

/** One HTTP call a lambda made while it ran. */
export interface OutboundCall {
  method: string;
  url: string;
  startedAtMs: number;
  durationMs: number;
  status?: number;
  error?: string;
  /** The trace that it carried (W3C trace context), if one did. */
  traceId?: string;
  /** Absent when it had none. */
  request?: OutboundBody;
  response?: OutboundBody;
  /** The local stand-in that answered instead of the addressed host. */
  caughtBy?: 'crm';
  /** Rules about outbound calls that decided about it, in order. */
  rules?: MetRule[];
}

/** An invocation that waits or runs. */
export type BegunInvocation = Pick<Invocation, 'executionId' | 'lambdaId' | 'lambdaName' | 'trigger' | 'acceptedAtMs'>;

/** The record of one invocation from acceptance to its end. */
export interface Invocation {
  executionId: Uuid;
  lambdaId: Uuid;
  lambdaName: string;
  trigger: InvocationTrigger;
  acceptedAtMs: number;
  /** When the handler began; absent if it never did. */
  startedAtMs?: number;
  finishedAtMs: number;
  /** Did a process have to be made ready for it? */
  cold: boolean;
  outcome: Outcome;
  /** Content type of the answer from the lambda's `headers.Accept`, unless it names a wildcard (D-137). */
  accept?: string;
  logs: LogLine[];
  outbound: OutboundCall[];
}

/** Runs lambdas by id. Never rejects for what a lambda or its definition does: that is an outcome. */
export interface LambdaInvoker {
  invoke(lambdaId: Uuid, call: LambdaCall): Promise<Invocation>;
  /**
   * Why a call of this lambda would be refused right now (`deleted`, `busy`, `runtime`), or undefined:
   * what an asynchronous call is told at once (D-164).
   */
  refusal(lambdaId: Uuid): Outcome | undefined;
  /** Keeps a place for a call of this lambda that is not refused, until what is returned is called. */
  holdPlace(lambdaId: Uuid): () => void;
}
