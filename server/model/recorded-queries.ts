import { FAILURE_KINDS, INVOCATION_TRIGGERS } from './invocation.ts';
import { parseQuery, type Query, type QueryField } from './query-language.ts';

/** What invocations can be asked for by. Texts that take time to make are made when a query needs them. */
export interface InvocationFacts {
  /** When it was accepted, epoch milliseconds. */
  atMs: number;
  /** `ok`, or the kind of the failure. */
  status: string;
  lambdaId: string;
  lambdaName: string;
  trigger: string;
  durationMs: number;
  outboundCalls: number;
  /** Calls of those that came to nothing. */
  outboundFailures: number;
  logLines: number;
  isCold: boolean;
  executionId: string;
  traceId: string;
  /** Of the answer at the gateway. */
  httpStatus: number | undefined;
  /** Beginning of the result, or the error. */
  excerpt: string;
  /** What it printed. */
  log(): readonly string[];
  /** What it was given. */
  event(): string;
  /** What it gave back, where that is longer than its excerpt. */
  result(): string;
  /** Of the request that caused it. */
  path(): string;
  /** The addresses that it called. */
  calls(): readonly string[];
  /** The traces that these calls carried. */
  tracesOfCalls(): readonly string[];
}

const INVOCATION_FIELDS: readonly QueryField<InvocationFacts>[] = [
  { name: 'status', valueOf: statusWords, words: ['ok', ...FAILURE_KINDS] },
  { name: 'time', valueOf: ({ atMs }) => atMs, isMoment: true },
  { name: 'lambda', valueOf: ({ lambdaName, lambdaId }) => [lambdaName, lambdaId] },
  { name: 'trigger', valueOf: ({ trigger }) => trigger, words: INVOCATION_TRIGGERS },
  { name: 'dur', valueOf: ({ durationMs }) => durationMs },
  { name: 'out', valueOf: ({ outboundCalls }) => outboundCalls },
  { name: 'outbound', valueOf: outboundWord, words: ['none', 'ok', 'error'] },
  { name: 'logs', valueOf: ({ logLines }) => logLines },
  { name: 'start', valueOf: ({ isCold }) => (isCold ? 'cold' : 'warm'), words: ['cold', 'warm'] },
  { name: 'http', valueOf: ({ httpStatus }) => httpStatus },
  { name: 'id', valueOf: ({ executionId }) => executionId },
  { name: 'log', valueOf: (facts) => facts.log() },
  { name: 'event', valueOf: (facts) => facts.event() },
  { name: 'result', valueOf: (facts) => [facts.excerpt, facts.result()] },
  { name: 'path', valueOf: (facts) => facts.path() },
  { name: 'call', valueOf: (facts) => facts.calls() },
  { name: 'trace', valueOf: (facts) => [facts.traceId, ...facts.tracesOfCalls()] },
];

/** Any failure is an error, and so is a call that came to nothing: what became of the purpose counts. */
function statusWords({ status, outboundFailures }: InvocationFacts): readonly string[] {
  if (status !== 'ok') return [status, 'error'];
  return [outboundFailures > 0 ? 'error' : 'ok'];
}

/** How the calls went that a lambda made: `none` when it made none. */
function outboundWord({ outboundCalls, outboundFailures }: InvocationFacts): string {
  if (outboundCalls === 0) return 'none';
  return outboundFailures > 0 ? 'error' : 'ok';
}

/** A query of invocations, e.g. `status:error lambda:webform dur:>200 time:>10m text`. @param nowMs epoch milliseconds */
export function invocationQuery(text: string, nowMs: number): Query<InvocationFacts> {
  return parseQuery(text, { fields: INVOCATION_FIELDS, textsOf: textsOfInvocation, nowMs });
}

function* textsOfInvocation(facts: InvocationFacts): Generator<string> {
  const { lambdaName, trigger, executionId, traceId, status, excerpt } = facts;
  yield `${lambdaName} ${trigger} ${executionId} ${traceId} ${status} ${excerpt}`;
  yield facts.path();
  yield* facts.log();
  yield facts.event();
  yield facts.result();
  yield* facts.calls();
}

/** What requests can be asked for by. */
export interface ExchangeFacts {
  /** When it came in, epoch milliseconds. */
  atMs: number;
  plane: string;
  method: string;
  target: string;
  status: number | undefined;
  durationMs: number;
  peer: string;
  /** Calls that came to nothing of those that the lambda behind it made. */
  outboundFailures: number;
  traceId: string | undefined;
  /** Beginnings of the bodies. */
  body(): readonly string[];
}

const EXCHANGE_FIELDS: readonly QueryField<ExchangeFacts>[] = [
  { name: 'status', valueOf: ({ status }) => status },
  { name: 'time', valueOf: ({ atMs }) => atMs, isMoment: true },
  { name: 'is', valueOf: howItWent, words: ['ok', 'refused', 'failed'] },
  { name: 'method', valueOf: ({ method }) => method },
  { name: 'path', valueOf: ({ target }) => target },
  { name: 'dur', valueOf: ({ durationMs }) => durationMs },
  { name: 'peer', valueOf: ({ peer }) => peer },
  { name: 'plane', valueOf: ({ plane }) => plane, words: ['control', 'gateway'] },
  {
    name: 'outbound',
    valueOf: ({ outboundFailures }) => (outboundFailures > 0 ? 'error' : undefined),
    words: ['error'],
  },
  { name: 'trace', valueOf: ({ traceId }) => traceId },
  { name: 'body', valueOf: (facts) => facts.body() },
];

/** What became of a request. It has failed as well when the lambda behind it did not reach somebody: what it was for was not done. */
export function howItWent({
  status,
  outboundFailures,
}: {
  status?: number | undefined;
  outboundFailures?: number | undefined;
}): 'ok' | 'refused' | 'failed' {
  if (status === undefined || status >= 500) return 'failed';
  if (status >= 400) return 'refused';
  return outboundFailures ? 'failed' : 'ok';
}

/** A query of requests, e.g. `status:>=500 method:post path:/lead time:>10m`. @param nowMs epoch milliseconds */
export function exchangeQuery(text: string, nowMs: number): Query<ExchangeFacts> {
  return parseQuery(text, { fields: EXCHANGE_FIELDS, textsOf: textsOfExchange, nowMs });
}

function* textsOfExchange(facts: ExchangeFacts): Generator<string> {
  const { method, target, status, peer, traceId = '' } = facts;
  yield `${method} ${target} ${status ?? ''} ${peer} ${traceId}`;
  yield* facts.body();
}
