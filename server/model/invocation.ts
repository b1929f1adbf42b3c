import type { CapturedBody, SharedBodies } from './exchange-record.ts';
import type { MetRule } from './outbound-rule.ts';
import type { Uuid } from './record.ts';

/**
 * The triggers of an invocation: a gateway call, an asynchronous call, a policy event, a migration rule, a user, the
 * schedule.
 */
export const INVOCATION_TRIGGERS = ['gateway', 'async', 'event', 'move', 'manual', 'periodic'] as const;
export type InvocationTrigger = (typeof INVOCATION_TRIGGERS)[number];

/** The `context` of a lambda (D-136), except for the members that the runner adds (lambdaId, lambdaName, deadline). */
export interface CallContext {
  method: string;
  /** Rest of the path after the matched prefix: empty, or starting with `/`. */
  path: string;
  params: Record<string, string[]>;
  headers: Record<string, string>;
  creds: string;
  user: { id: Uuid; name: string } | null;
  apiEndpointId?: Uuid;
  httpAware: boolean;
}

export interface LambdaCall {
  executionId: Uuid;
  trigger: InvocationTrigger;
  /** The request body verbatim; empty if there is no body (the event is then `{}`, D-135). */
  body: Uint8Array;
  context: CallContext;
  stopsFirst?: true;
  replayOf?: Uuid;
  bodies?: SharedBodies;
}

/** The return value of a handler (D-137) as bytes to send: text and bytes unchanged, other values as JSON. */
export type LambdaValue =
  | { kind: 'nothing' }
  | { kind: 'json'; bytes: Uint8Array }
  /** `contentType` is that of a web `Response`. */
  | { kind: 'text' | 'bytes'; bytes: Uint8Array; contentType?: string };

/** Kinds of failures of an invocation (D-139); each has one HTTP response. */
export const FAILURE_KINDS = [
  'error', // callback(error), throw, rejection: 500
  'timeout', // 504
  'crash', // the process ended or ran out of memory: 502
  'load', // the code or package could not be loaded, or does not have the handler: 502
  'too-large', // the result is over the limit (D-185): 502
  'deleted', // the lambda does not exist: 503
  'busy', // queue full: 503, Retry-After 1
  'runtime', // runtime not emulated: 501
  'interrupted', // the platform stopped or restarted before the end (D-168): 503
  'invalid-result', // the result cannot be sent (D-137): 502
  'pending', // a rule suppressed the creation of the lambda (D-127): 503
] as const;
export type FailureKind = (typeof FAILURE_KINDS)[number];

export type Outcome =
  | { ok: true; value: LambdaValue }
  | { ok: false; failure: FailureKind; message: string /** second argument of the callback */; value: LambdaValue };

export interface LogLine {
  atMs: number;
  stream: 'stdout' | 'stderr';
  text: string;
  executionId?: Uuid;
  /** The instance of a container that wrote it, as its engine names it. */
  instance?: string;
}

export interface OutboundBody extends CapturedBody {
  contentType?: string;
  /** Such as gzip, if `bytes` are compressed. */
  contentEncoding?: string;
}

/** Mocks that can respond to an outbound call instead of its host. */
export const MOCK_NAMES = ['crm', 'mail'] as const;
export type MockName = (typeof MOCK_NAMES)[number];
export const MOCK_TITLES: Readonly<Record<MockName, string>> = { crm: 'the mock CRM', mail: 'the mock mail server' };

export const TRANSPORTS = ['tcp', 'tls', 'udp', 'dns'] as const;

/** A connection that carries no HTTP. */
export interface OutboundConnection {
  host: string;
  port: number;
  transport: (typeof TRANSPORTS)[number];
  sentBytes: number;
  receivedBytes: number;
}

/** An HTTP call; or a connection, with `TCP`, `TLS`, `UDP` or `DNS` as its method and a URL such as `tcp://db.example:5432`. */
export interface OutboundCall {
  method: string;
  url: string;
  startedAtMs: number;
  durationMs: number;
  status?: number;
  error?: string;
  /** The trace that it carried (W3C trace context), if any. */
  traceId?: string;
  request?: OutboundBody;
  response?: OutboundBody;
  /** The mock that responded instead of the addressed host. */
  caughtBy?: MockName;
  connection?: OutboundConnection;
  /** An outbound rule with `block`, or the policy, refused it. */
  blocked?: true;
  /** It was sent to a host outside this machine. */
  leftMachine?: true;
  /** The call followed a redirect of the mock CRM, which answered it with a page of its own (D-200). */
  afterRedirect?: true;
  /** A warning for the author of the lambda: the problem, and the action to take. */
  warning?: string;
  rules?: MetRule[];
}

export type StartedInvocation = Pick<
  Invocation,
  'executionId' | 'lambdaId' | 'lambdaName' | 'trigger' | 'acceptedAtMs'
>;

export interface Invocation {
  executionId: Uuid;
  lambdaId: Uuid;
  lambdaName: string;
  trigger: InvocationTrigger;
  acceptedAtMs: number;
  /** Start of the handler; absent if it never started. */
  startedAtMs?: number;
  finishedAtMs: number;
  cold: boolean;
  outcome: Outcome;
  /** Content type of the response from the lambda's `headers.Accept`, unless it is a wildcard (D-137). */
  accept?: string;
  logs: LogLine[];
  outbound: OutboundCall[];
}

/** Runs lambdas by id. Never rejects because of a lambda or its definition: failures are outcomes. */
export interface LambdaInvoker {
  invoke(lambdaId: Uuid, call: LambdaCall): Promise<Invocation>;
  /**
   * Returns the outcome if an invocation would be rejected now (`deleted`, `busy`, `runtime`), for asynchronous callers
   * (D-164); undefined otherwise.
   */
  refusal(lambdaId: Uuid): Outcome | undefined;
  reserveSlot(lambdaId: Uuid): () => void;
  logMessage?(lambdaId: Uuid, text: string): void;
}
