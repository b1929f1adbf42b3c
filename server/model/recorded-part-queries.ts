import { isFailedCall } from './failed-call.ts';
import { parseQuery, type Query, type QueryField } from './query-language.ts';

/** What the calls of lambdas can be asked for by. */
export interface OutboundFacts {
  /** When it was made, epoch milliseconds. */
  atMs: number;
  method: string;
  url: string;
  status: number | undefined;
  error: string | undefined;
  durationMs: number;
  lambdaName: string;
  lambdaId: string;
  executionId: string;
  traceId: string | undefined;
  /** In words. */
  rules: readonly string[];
  /** `crm`, when a stand-in answered. */
  caughtBy: string | undefined;
  /** Beginnings of its bodies. */
  body(): readonly string[];
}

const OUTBOUND_FIELDS: readonly QueryField<OutboundFacts>[] = [
  { name: 'is', valueOf: (facts) => (hasFailed(facts) ? 'failed' : 'ok'), words: ['ok', 'failed'] },
  { name: 'status', valueOf: ({ status }) => status },
  { name: 'time', valueOf: ({ atMs }) => atMs, isMoment: true },
  { name: 'method', valueOf: ({ method }) => method },
  { name: 'url', valueOf: ({ url }) => url },
  { name: 'dur', valueOf: ({ durationMs }) => durationMs },
  { name: 'lambda', valueOf: ({ lambdaName, lambdaId }) => [lambdaName, lambdaId] },
  { name: 'error', valueOf: ({ error }) => error },
  { name: 'rule', valueOf: ({ rules }) => rules },
  { name: 'caught', valueOf: ({ caughtBy = 'no' }) => caughtBy, words: ['crm', 'no'] },
  { name: 'id', valueOf: ({ executionId }) => executionId },
  { name: 'trace', valueOf: ({ traceId }) => traceId },
  { name: 'body', valueOf: (facts) => facts.body() },
];

function hasFailed({ method, url, status, error }: OutboundFacts): boolean {
  return isFailedCall({ method, url, ...(status !== undefined && { status }), ...(error !== undefined && { error }) });
}

/** A query of calls, e.g. `is:failed url:crm.example time:>10m`. @param nowMs epoch milliseconds */
export function outboundQuery(text: string, nowMs: number): Query<OutboundFacts> {
  return parseQuery(text, { fields: OUTBOUND_FIELDS, textsOf: textsOfCall, nowMs });
}

function* textsOfCall(facts: OutboundFacts): Generator<string> {
  const { method, url, status = '', error = '', lambdaName, executionId, traceId = '', rules } = facts;
  yield `${method} ${url} ${status} ${error} ${lambdaName} ${executionId} ${traceId} ${rules.join(' ')}`;
  yield* facts.body();
}

/** What lines of logs can be asked for by. */
export interface LineFacts {
  /** Epoch milliseconds. */
  atMs: number;
  stream: string;
  text: string;
  lambdaName: string;
  lambdaId: string;
  /** Of the call that printed it, if one did. */
  executionId: string | undefined;
  /** Of that call. */
  trace(): string | undefined;
}

const LINE_FIELDS: readonly QueryField<LineFacts>[] = [
  { name: 'time', valueOf: ({ atMs }) => atMs, isMoment: true },
  { name: 'lambda', valueOf: ({ lambdaName, lambdaId }) => [lambdaName, lambdaId] },
  { name: 'stream', valueOf: ({ stream }) => stream, words: ['stdout', 'stderr'] },
  { name: 'text', valueOf: ({ text }) => text },
  { name: 'id', valueOf: ({ executionId }) => executionId },
  { name: 'trace', valueOf: (facts) => facts.trace() },
];

/** A query of lines, e.g. `stream:stderr lambda:webform "no such lead"`. @param nowMs epoch milliseconds */
export function lineQuery(text: string, nowMs: number): Query<LineFacts> {
  const textsOf = ({ text: line, lambdaName, executionId = '' }: LineFacts) => [`${line} ${lambdaName} ${executionId}`];
  return parseQuery(text, { fields: LINE_FIELDS, textsOf, nowMs });
}
