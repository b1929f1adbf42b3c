import { isFailedCall } from '../../model/failed-call.ts';
import { FAILURE_KINDS, INVOCATION_TRIGGERS, MOCK_NAMES } from '../../model/invocation.ts';
import { parseQuery, type Query, type QueryField, queryTerms } from '../../model/query-language.ts';
import { FORM_STOPS, type FormStop, type FormView } from './forms.ts';
import type { InvocationSummary, RecordedRequest } from './recorded.ts';
import type { RecordedCall, RecordedLine } from './recorded-parts.ts';

/*
 * What lists of recorded data can be searched for: the rows that they show, and texts that are computed when a query needs them.
 */

export interface InvocationFacts extends InvocationSummary {
  beganMs: number;
  traceId: string;
  log(): readonly string[];
  event(): string;
  /** If it is longer than its excerpt. */
  longResult(): string;
  /** Path of the request that caused it. */
  path(): string;
  calls(): readonly string[];
  tracesOfCalls(): readonly string[];
}

export interface ExchangeFacts extends RecordedRequest {
  beganMs: number;
  traceId: string | undefined;
  body(): readonly string[];
}

export interface OutboundFacts extends RecordedCall {
  body(): readonly string[];
}

export interface LineFacts extends RecordedLine {
  beganMs: number;
  /** Trace of the invocation that printed it. */
  trace(): string | undefined;
}

const INVOCATION_FIELDS: readonly QueryField<InvocationFacts>[] = [
  { name: 'status', valueOf: statusWords, allowedValues: ['ok', 'failed', ...FAILURE_KINDS] },
  { name: 'time', valueOf: ({ beganMs }) => beganMs, isMoment: true },
  { name: 'lambda', valueOf: ({ lambdaName, lambdaId }) => [lambdaName, lambdaId] },
  { name: 'trigger', valueOf: ({ trigger }) => trigger, allowedValues: INVOCATION_TRIGGERS },
  { name: 'dur', valueOf: ({ durationMs }) => durationMs },
  { name: 'out', valueOf: ({ outboundCalls }) => outboundCalls },
  { name: 'outbound', valueOf: outboundWord, allowedValues: ['none', 'ok', 'error'] },
  { name: 'logs', valueOf: ({ logLines }) => logLines },
  { name: 'start', valueOf: ({ cold }) => (cold ? 'cold' : 'warm'), allowedValues: ['cold', 'warm'] },
  { name: 'http', valueOf: ({ httpStatus }) => httpStatus },
  { name: 'id', valueOf: ({ executionId }) => executionId },
  { name: 'log', valueOf: (facts) => facts.log() },
  { name: 'event', valueOf: (facts) => facts.event() },
  { name: 'result', valueOf: (facts) => [facts.excerpt, facts.longResult()] },
  { name: 'path', valueOf: (facts) => facts.path() },
  { name: 'call', valueOf: (facts) => facts.calls() },
  { name: 'trace', valueOf: (facts) => [facts.traceId, ...facts.tracesOfCalls()] },
];

/** Any failure is `failed` or an `error`, and so is a failed outbound call, because the invocation did not fulfill its purpose. */
function statusWords({ outcome, outboundFailures }: InvocationFacts): readonly string[] {
  if (!outcome.ok) return [outcome.failure ?? '', 'error', 'failed'];
  return outboundFailures > 0 ? ['error', 'failed'] : ['ok'];
}

function outboundWord({ outboundCalls, outboundFailures }: InvocationFacts): string {
  if (outboundCalls === 0) return 'none';
  return outboundFailures > 0 ? 'error' : 'ok';
}

/** Parses a query of invocations, e.g. `status:error lambda:webform dur:>200 time:>10m text`. @param nowMs epoch milliseconds */
export function invocationQuery(text: string, nowMs: number): Query<InvocationFacts> {
  return parseQuery(text, { fields: INVOCATION_FIELDS, textsOf: textsOfInvocation, nowMs });
}

export function* textsOfInvocation(facts: InvocationFacts): Generator<string> {
  const { lambdaName, trigger, executionId, traceId, outcome, excerpt } = facts;
  yield `${lambdaName} ${trigger} ${executionId} ${traceId} ${outcome.failure ?? 'ok'} ${excerpt}`;
  yield facts.path();
  yield* facts.log();
  yield facts.event();
  yield facts.longResult();
  yield* facts.calls();
}

/** Words for `is:`; `refused` is that of saved views of earlier versions. */
function outcomeWords(facts: ExchangeFacts): string | readonly string[] {
  const outcome = outcomeWord(facts);
  return outcome === 'refused' ? ['rejected', outcome] : outcome;
}

const EXCHANGE_FIELDS: readonly QueryField<ExchangeFacts>[] = [
  { name: 'status', valueOf: ({ status }) => status },
  { name: 'time', valueOf: ({ beganMs }) => beganMs, isMoment: true },
  { name: 'is', valueOf: outcomeWords, allowedValues: ['ok', 'rejected', 'failed', 'refused'] },
  { name: 'method', valueOf: ({ method }) => method },
  { name: 'path', valueOf: ({ target }) => target },
  { name: 'dur', valueOf: ({ durationMs }) => durationMs },
  { name: 'peer', valueOf: ({ peer }) => peer },
  { name: 'plane', valueOf: ({ plane }) => plane, allowedValues: ['control', 'gateway'] },
  {
    name: 'outbound',
    valueOf: ({ outboundFailures = 0 }) => (outboundFailures > 0 ? 'error' : undefined),
    allowedValues: ['error'],
  },
  { name: 'trace', valueOf: ({ traceId }) => traceId },
  { name: 'body', valueOf: (facts) => facts.body() },
];

/**
 * The outcome of a request. It also counts as failed if an outbound call of the lambda behind it failed, because the request did not
 * fulfill its purpose.
 */
export function outcomeWord({
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

/** Parses a query of requests, e.g. `status:>=500 method:post path:/lead time:>10m`. @param nowMs epoch milliseconds */
export function exchangeQuery(text: string, nowMs: number): Query<ExchangeFacts> {
  return parseQuery(text, { fields: EXCHANGE_FIELDS, textsOf: textsOfExchange, nowMs });
}

export function* textsOfExchange(facts: ExchangeFacts): Generator<string> {
  const { method, target, status, peer, traceId = '' } = facts;
  yield `${method} ${target} ${status ?? ''} ${peer} ${traceId}`;
  yield* facts.body();
}

const OUTBOUND_FIELDS: readonly QueryField<OutboundFacts>[] = [
  {
    name: 'is',
    valueOf: (facts) => [
      isFailedCall(facts) ? 'failed' : 'ok',
      ...(facts.warning === undefined ? [] : ['warned']),
      ...(facts.blocked ? ['blocked'] : []),
      ...(facts.leftMachine ? ['left'] : []),
    ],
    allowedValues: ['ok', 'failed', 'warned', 'blocked', 'left'],
  },
  { name: 'status', valueOf: ({ status }) => status },
  { name: 'time', valueOf: ({ startedAt }) => Date.parse(startedAt), isMoment: true },
  { name: 'method', valueOf: ({ method }) => method },
  { name: 'url', valueOf: ({ url }) => url },
  { name: 'dur', valueOf: ({ durationMs }) => durationMs },
  { name: 'lambda', valueOf: ({ lambdaName, lambdaId }) => [lambdaName, lambdaId] },
  { name: 'error', valueOf: ({ error }) => error },
  { name: 'rule', valueOf: ({ rules = [] }) => rules.map(({ text }) => text) },
  { name: 'caught', valueOf: ({ caughtBy = 'no' }) => caughtBy, allowedValues: [...MOCK_NAMES, 'no'] },
  { name: 'id', valueOf: ({ executionId }) => executionId },
  { name: 'trace', valueOf: ({ traceId }) => traceId },
  { name: 'body', valueOf: (facts) => facts.body() },
];

/** Parses a query of calls, e.g. `is:failed url:crm.example time:>10m`. @param nowMs epoch milliseconds */
export function outboundQuery(text: string, nowMs: number): Query<OutboundFacts> {
  return parseQuery(text, { fields: OUTBOUND_FIELDS, textsOf: textsOfCall, nowMs });
}

/** True if a valid query matches only calls with a warning. */
export function isWarnedQuery(text: string): boolean {
  return [...queryTerms(text)].some(
    (term) => 'field' in term && term.field === 'is' && !term.isNegative && term.value.toLowerCase() === 'warned',
  );
}

export function* textsOfCall(facts: OutboundFacts): Generator<string> {
  const { method, url, status = '', error = '', lambdaName, executionId, traceId = '', rules = [] } = facts;
  yield `${method} ${url} ${status} ${error} ${lambdaName} ${executionId} ${traceId} ${rules.map(({ text }) => text).join(' ')}`;
  yield* facts.body();
}

const LINE_FIELDS: readonly QueryField<LineFacts>[] = [
  { name: 'time', valueOf: ({ beganMs }) => beganMs, isMoment: true },
  { name: 'lambda', valueOf: ({ lambdaName, lambdaId }) => [lambdaName, lambdaId] },
  { name: 'stream', valueOf: ({ stream }) => stream, allowedValues: ['stdout', 'stderr'] },
  { name: 'text', valueOf: ({ text }) => text },
  { name: 'id', valueOf: ({ executionId }) => executionId },
  { name: 'trace', valueOf: (facts) => facts.trace() },
];

/** Parses a query of lines, e.g. `stream:stderr lambda:webform "no such lead"`. @param nowMs epoch milliseconds */
export function lineQuery(text: string, nowMs: number): Query<LineFacts> {
  const textsOf = ({ text: line, lambdaName, executionId = '' }: LineFacts) => [`${line} ${lambdaName} ${executionId}`];
  return parseQuery(text, { fields: LINE_FIELDS, textsOf, nowMs });
}

export interface FormFacts {
  beganMs: number;
  stop: FormStop;
  view(): FormView;
  /** The decoded body of the form or of its request. */
  body(): readonly string[];
}

const nameOfForm = ({ mapped: { firstName, lastName } }: FormView) => [firstName, lastName].filter(Boolean).join(' ');

/** Words for `is:`; `received`, `taken`, `refused` and `resent` are those of saved views of earlier versions. */
function stopWords({ stop }: FormFacts): readonly string[] {
  if (stop === 'delivered') return [stop, 'received', 'taken'];
  if (stop === 'rejected') return ['lost', stop, 'refused'];
  return stop === 'replayed' ? [stop, 'resent'] : ['lost', stop];
}

const FORM_FIELDS: readonly QueryField<FormFacts>[] = [
  { name: 'is', valueOf: stopWords, allowedValues: ['lost', ...FORM_STOPS, 'received', 'taken', 'refused', 'resent'] },
  { name: 'time', valueOf: ({ beganMs }) => beganMs, isMoment: true },
  { name: 'name', valueOf: ({ view }) => nameOfForm(view()) },
  { name: 'company', valueOf: ({ view }) => view().mapped.company },
  { name: 'email', valueOf: ({ view }) => view().mapped.email },
  { name: 'oid', valueOf: ({ view }) => view().mapped.oid },
  { name: 'lambda', valueOf: ({ view }) => [view().lambdaName ?? '', view().lambdaId ?? ''] },
  { name: 'execution', valueOf: ({ view }) => view().executionId },
];

/** Parses a query of forms, e.g. `is:lost email:ada since:1h`. @param nowMs epoch milliseconds */
export function formQuery(text: string, nowMs: number): Query<FormFacts> {
  return parseQuery(text, { fields: FORM_FIELDS, textsOf: textsOfForm, nowMs });
}

function* textsOfForm({ view, body }: FormFacts): Generator<string> {
  const { id, mapped, reason, lambdaName, executionId } = view();
  yield [id, ...Object.values(mapped), reason, lambdaName, executionId].join(' ');
  yield* body();
}
