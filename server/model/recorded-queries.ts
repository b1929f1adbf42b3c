import { parseQuery, type Query, type QueryField } from './query-language.ts';

/** What invocations can be asked for by. Texts that take time to make are made when a query needs them. */
export interface InvocationFacts {
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
  /** Of the answer at the gateway. */
  httpStatus: number | undefined;
  /** Beginning of the result, or the error. */
  excerpt: string;
  /** What it printed. */
  log(): readonly string[];
  /** What it was given. */
  event(): string;
}

const INVOCATION_FIELDS: readonly QueryField<InvocationFacts>[] = [
  // Any failure is an error, too.
  { name: 'status', valueOf: ({ status }) => (status === 'ok' ? 'ok' : [status, 'error']) },
  { name: 'lambda', valueOf: ({ lambdaName, lambdaId }) => [lambdaName, lambdaId] },
  { name: 'trigger', valueOf: ({ trigger }) => trigger },
  { name: 'dur', valueOf: ({ durationMs }) => durationMs },
  { name: 'out', valueOf: ({ outboundCalls }) => outboundCalls },
  { name: 'outbound', valueOf: outboundWord },
  { name: 'logs', valueOf: ({ logLines }) => logLines },
  { name: 'start', valueOf: ({ isCold }) => (isCold ? 'cold' : 'warm') },
  { name: 'http', valueOf: ({ httpStatus }) => httpStatus },
  { name: 'id', valueOf: ({ executionId }) => executionId },
  { name: 'log', valueOf: (facts) => facts.log() },
  { name: 'event', valueOf: (facts) => facts.event() },
];

/** How the calls went that a lambda made: `none` when it made none. */
function outboundWord({ outboundCalls, outboundFailures }: InvocationFacts): string {
  if (outboundCalls === 0) return 'none';
  return outboundFailures > 0 ? 'error' : 'ok';
}

/** A query of invocations, e.g. `status:error lambda:webform dur:>200 text`. */
export function invocationQuery(text: string): Query<InvocationFacts> {
  return parseQuery(
    text,
    INVOCATION_FIELDS,
    ({ lambdaName, trigger, executionId, status, excerpt }) =>
      `${lambdaName} ${trigger} ${executionId} ${status} ${excerpt}`,
  );
}

/** What requests can be asked for by. */
export interface ExchangeFacts {
  plane: string;
  method: string;
  target: string;
  status: number | undefined;
  durationMs: number;
  peer: string;
  /** Calls that came to nothing of those that the lambda behind it made. */
  outboundFailures: number;
  /** Beginnings of the bodies. */
  body(): readonly string[];
}

const EXCHANGE_FIELDS: readonly QueryField<ExchangeFacts>[] = [
  { name: 'status', valueOf: ({ status }) => status },
  { name: 'method', valueOf: ({ method }) => method },
  { name: 'path', valueOf: ({ target }) => target },
  { name: 'dur', valueOf: ({ durationMs }) => durationMs },
  { name: 'peer', valueOf: ({ peer }) => peer },
  { name: 'plane', valueOf: ({ plane }) => plane },
  { name: 'outbound', valueOf: ({ outboundFailures }) => (outboundFailures > 0 ? 'error' : undefined) },
  { name: 'body', valueOf: (facts) => facts.body() },
];

/** A query of requests, e.g. `status:>=500 method:post path:/lead`. */
export function exchangeQuery(text: string): Query<ExchangeFacts> {
  return parseQuery(
    text,
    EXCHANGE_FIELDS,
    ({ method, target, status, peer }) => `${method} ${target} ${status ?? ''} ${peer}`,
  );
}
