import { isFailedCall } from '../../model/failed-call.ts';
import { FAILURE_KINDS, INVOCATION_TRIGGERS, MOCK_NAMES } from '../../model/invocation.ts';
import { parseQuery, type Query, type QueryField, queryTerms } from '../../model/query-language.ts';
import { FORM_STOPS, type FormStop, type FormView } from './forms.ts';
import type { InvocationSummary, RecordedCall, RecordedLine, RecordedRequest } from './recorded.ts';

/* What lists of recorded data can be searched for: the rows that they show, and texts that are computed when a query needs them. */

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

/** Returns a parser of queries, which takes the present time in epoch milliseconds. */
function queryOf<Facts>(textsOf: (facts: Facts) => Iterable<string>, fields: readonly QueryField<Facts>[]) {
  return (text: string, nowMs: number): Query<Facts> => parseQuery(text, { fields, textsOf, nowMs });
}

/** For example `status:error lambda:webform dur:>200 time:>10m text`. */
export const invocationQuery = queryOf<InvocationFacts>(textsOfInvocation, [
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
]);

/** Any failure is `failed` or an `error`, and so is a failed outbound call, because the invocation did not fulfill its purpose. */
function statusWords({ outcome, outboundFailures }: InvocationFacts): readonly string[] {
  if (!outcome.ok) return [outcome.failure ?? '', 'error', 'failed'];
  return outboundFailures > 0 ? ['error', 'failed'] : ['ok'];
}

function outboundWord({ outboundCalls, outboundFailures }: InvocationFacts): string {
  if (outboundCalls === 0) return 'none';
  return outboundFailures > 0 ? 'error' : 'ok';
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

/** For example `status:>=500 method:post path:/lead time:>10m`. */
export const exchangeQuery = queryOf<ExchangeFacts>(textsOfExchange, [
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
]);

/** A request whose lambda had a failed outbound call did not fulfill its purpose. */
export function outcomeWord({
  status,
  outboundFailures,
}: Pick<RecordedRequest, 'status' | 'outboundFailures'>): 'ok' | 'refused' | 'failed' {
  if (status === undefined || status >= 500) return 'failed';
  if (status >= 400) return 'refused';
  return outboundFailures ? 'failed' : 'ok';
}

export function* textsOfExchange(facts: ExchangeFacts): Generator<string> {
  const { method, target, status, peer, traceId = '' } = facts;
  yield `${method} ${target} ${status ?? ''} ${peer} ${traceId}`;
  yield* facts.body();
}

/** For example `is:failed url:crm.example time:>10m`. */
export const outboundQuery = queryOf<OutboundFacts>(textsOfCall, [
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
]);

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

/** For example `stream:stderr lambda:webform "no such lead"`. */
export const lineQuery = queryOf<LineFacts>(textsOfLine, [
  { name: 'time', valueOf: ({ beganMs }) => beganMs, isMoment: true },
  { name: 'lambda', valueOf: ({ lambdaName, lambdaId }) => [lambdaName, lambdaId] },
  { name: 'stream', valueOf: ({ stream }) => stream, allowedValues: ['stdout', 'stderr'] },
  { name: 'text', valueOf: ({ text }) => text },
  { name: 'id', valueOf: ({ executionId }) => executionId },
  { name: 'trace', valueOf: (facts) => facts.trace() },
]);

function textsOfLine({ text, lambdaName, executionId = '' }: LineFacts): readonly string[] {
  return [`${text} ${lambdaName} ${executionId}`];
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

/** For example `is:lost email:ada since:1h`. */
export const formQuery = queryOf<FormFacts>(textsOfForm, [
  {
    name: 'is',
    valueOf: stopWords,
    allowedValues: ['lost', ...FORM_STOPS, 'received', 'taken', 'refused', 'resent'],
  },
  { name: 'time', valueOf: ({ beganMs }) => beganMs, isMoment: true },
  { name: 'name', valueOf: ({ view }) => nameOfForm(view()) },
  { name: 'company', valueOf: ({ view }) => view().mapped.company },
  { name: 'email', valueOf: ({ view }) => view().mapped.email },
  { name: 'oid', valueOf: ({ view }) => view().mapped.oid },
  { name: 'lambda', valueOf: ({ view }) => [view().lambdaName ?? '', view().lambdaId ?? ''] },
  { name: 'execution', valueOf: ({ view }) => view().executionId },
]);

function* textsOfForm({ view, body }: FormFacts): Generator<string> {
  const { id, mapped, reason, lambdaName, executionId } = view();
  yield [id, ...Object.values(mapped), reason, lambdaName, executionId].join(' ');
  yield* body();
}
