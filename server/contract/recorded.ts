import { z } from 'zod';
import { invocation } from './logs.ts';
import { named } from './named.ts';
import { count as amount, choice, countOr, text, uuid } from './parameter.ts';
import { count, id, recordedBody, time, traceId } from './parts.ts';
import { may } from './right.ts';
import { ok, optionalJson, rowsOf } from './row.ts';

/** So many are replayed by one request; the rest by the next. */
const MAX_REPLAYS = 500;

const recordedSide = z.object({
  headers: z.array(z.tuple([z.string(), z.string()])).describe('As sent, with credentials hidden'),
  body: recordedBody.optional(),
});

const recordedRequest = z.object({
  seq: z.int(),
  plane: z.enum(['control', 'gateway']).describe('The management API, or a public endpoint'),
  at: time,
  durationMs: z.number(),
  upstreamMs: z.number().describe('Part of it that a lambda or container took'),
  method: z.string(),
  target: z.string(),
  peer: z.string().describe('Address of the client'),
  status: z.int().optional().describe('Absent when the client went away before an answer'),
  isComplete: z.boolean().describe('Was the whole answer sent?'),
  endpointId: id.optional(),
  executionId: id.optional(),
  userId: id.optional(),
  outboundFailures: z.int().optional().describe('Calls of the lambda behind it that came to nothing'),
});
export type RecordedRequest = z.output<typeof recordedRequest>;

const wholeRequest = named(
  'RecordedRequest',
  recordedRequest.extend({
    traceId: traceId.optional(),
    steps: z.array(z.object({ name: z.string(), afterMs: z.number() })).describe('When each step of its way was done'),
    request: recordedSide,
    response: recordedSide.optional(),
    isThinned: z.boolean().optional().describe('Its headers and bodies had to make room for newer ones'),
  }),
);
export type WholeRequest = z.output<typeof wholeRequest>;

/** Where a page of a list stands. */
export const placesOfPage = {
  newest: z.int().describe('Place of the newest, for `after`'),
  run: z.string().describe('Another one: the places are counted anew'),
  next: z.int().optional().describe('Where the next page begins, as `before`'),
};
const page = { total: z.int().describe('How many are kept; of those that one may see'), ...placesOfPage };

const { executionId, lambdaId, lambdaName, trigger, cold, acceptedAt, finishedAt } = invocation.shape;
const summary = z.object({
  seq: z.int(),
  executionId,
  lambdaId,
  lambdaName,
  trigger,
  cold,
  acceptedAt,
  finishedAt,
  durationMs: z.number(),
  outcome: invocation.shape.outcome.omit({ result: true }),
  excerpt: z.string().describe('Beginning of the result, or the error'),
  httpStatus: z.int().optional().describe('Of the answer at the gateway'),
  replayOf: id.optional(),
  logLines: count,
  outboundCalls: count,
  outboundFailures: count.describe('Calls of those that came to nothing'),
});
export type InvocationSummary = z.output<typeof summary>;

const begun = z.object({ executionId, lambdaId, lambdaName, trigger, acceptedAt });
export type ShownBegun = z.output<typeof begun>;

const invocationEvent = z.object({
  method: z.string(),
  path: z.string(),
  params: z.record(z.string(), z.array(z.string())),
  headers: z.record(z.string(), z.string()),
  user: z.object({ id, name: z.string() }).optional(),
  apiEndpointId: id.optional(),
  httpAware: z.boolean(),
  body: recordedBody,
});

const recordedInvocation = named(
  'RecordedInvocation',
  invocation.extend({
    seq: z.int(),
    event: invocationEvent.describe('What the lambda was given'),
    traceId,
    outboundFailures: count,
    resultBytes: count.optional(),
    replayOf: id.optional(),
    isThinned: z.boolean().optional().describe('Its texts had to make room for newer ones'),
    request: wholeRequest.optional().describe('The request that caused it, as `GET /inspect/traffic/{seq}` gives it'),
  }),
);
export type ShownRecorded = z.output<typeof recordedInvocation>;

const happening = z.object({
  at: time,
  kind: z
    .enum(['rules', 'engine', 'deploy'])
    .describe('Outbound rules, a container engine, or a deployment by a pipeline'),
  text: z.string().describe('What happened, in words'),
});

const mark = z.object({
  at: time,
  kind: z.enum(['commit', 'rules', 'engine', 'deploy']),
  text: z.string().describe('What happened, in words'),
  seq: z.int().optional().describe('Of a commit'),
});

/** A run of invocations of one lambda that came to nothing. */
const failure = named(
  'Failure',
  z.object({
    lambdaId: id,
    lambdaName: z.string(),
    lambdaPath: z.string().optional().describe('Absent when the lambda is gone'),
    kind: z
      .enum(['form', 'call', 'invocation'])
      .describe('What came to nothing: a form for the CRM, a call of the lambda, or its invocation'),
    text: z.string().describe('What went wrong, in words'),
    count: z.int().describe('How many failed one after the other'),
    lost: z.int().describe('How many of them no replay has made good yet'),
    since: time,
    newest: id,
    first: id,
    isOver: z.boolean().describe('Has something gone well since?'),
    lastGood: z.object({ executionId: id, at: time }).optional(),
    suspects: z
      .array(
        z.object({
          seq: z.int(),
          at: time,
          by: z.string(),
          via: z.string(),
          resource: z.object({ id, type: z.string(), name: z.string(), path: z.string() }),
          deeds: z.array(z.string()).describe('Such as `removed CRM_OID`'),
        }),
      )
      .describe('Commits that changed something just before, the likeliest first'),
    rule: z
      .object({ id: z.string(), text: z.string() })
      .optional()
      .describe('The outbound rule that decided about the call that came to nothing'),
    happenings: z.array(happening).describe('What else happened just before, the newest first'),
    historyFrom: time.optional().describe('Nothing is known of commits before it, and the cause may be one of these'),
  }),
);
export type ShownFailure = z.output<typeof failure>;

const failureReplayed = named(
  'FailureReplayed',
  z.object({
    commit: z.looseObject({ seq: z.int() }).optional().describe('The one that undid `revert`'),
    replayed: z.int(),
    good: z.int().describe('How many of them went well now'),
    notKept: z.int().describe('How many could not be replayed: their events were not kept'),
    left: z.int().describe('How many are left for another request'),
    invocations: z.array(z.object({ executionId: id, replayOf: id, isGood: z.boolean() })),
  }),
);
export type FailureReplayed = z.output<typeof failureReplayed>;

const lambdaUse = z.object({
  lambdaId: id,
  calls: count,
  failed: count.describe('Those that failed, or made a call that came to nothing'),
  last: z.object({ executionId: id, at: time }),
  lastFailure: z
    .object({ executionId: id, at: time, text: z.string().describe('What went wrong, in words') })
    .optional(),
});
export type LambdaUse = z.output<typeof lambdaUse>;

/** Who may replay an invocation: whoever may see and run its lambda. */
const mayReplay = [...may('lambda.view', 'execution_id'), ...may('lambda.invoke', 'execution_id')];

export const pageQuery = {
  scope: uuid('Those below an organization, workspace or environment'),
  limit: countOr(100, 'How many', 1, 1_000),
  before: amount('The `next` of the page before', 1),
  after: amount('Only newer ones than this place, e.g. the `newest` of an earlier answer', 0),
};
const q = text('What to look for: all terms have to hold; `-` before one says that it must not', {
  examples: ['status:error lambda:webform dur:>200 text', 'status:>=500 method:post path:/lead'],
});

/** Invocations and requests as they were recorded. */
export const recordedRows = rowsOf('Window', {
  listInvocations: {
    route: 'get /inspect/invocations',
    summary: 'The newest invocations of lambdas',
    description:
      'Of lambdas that one may view. Newest first. A page may hold fewer than asked for, even none, and go on at `next`.',
    right: 'caller',
    query: { q, lambda: text('Those of one lambda', { format: 'uuid' }), ...pageQuery },
    answer: ok(
      named(
        'InvocationPage',
        z.object({
          invocations: z.array(summary),
          running: z.array(begun).describe('Waiting ones, too'),
          ...page,
        }),
      ),
    ),
  },
  listLambdaUse: {
    route: 'get /inspect/lambda-use',
    summary: 'How often each lambda ran, and how often it failed',
    description: 'Counted over the newest 20,000 invocations; lambdas that did not run among these are left out.',
    right: 'caller',
    answer: ok(named('LambdaUseList', z.object({ lambdas: z.array(lambdaUse) }))),
  },
  readInvocation: {
    route: 'get /inspect/invocations/{execution_id}',
    summary: 'One of them, with all that is kept of it',
    right: 'caller',
    answer: ok(recordedInvocation),
    errors: [404],
  },
  replayInvocation: {
    route: 'post /inspect/invocations/{execution_id}/replay',
    summary: 'Run it again',
    description:
      'With the same event or another, in the name of the one who asks. Answers the record of the new invocation.',
    right: mayReplay,
    body: optionalJson(
      named(
        'Replay',
        z.strictObject({
          event: z.unknown().optional().describe('Instead of the event that it was given'),
          stopsFirst: z
            .boolean()
            .optional()
            .describe(
              'While the lambda is debugged: a debugger that is attached stands at the first line of its handler',
            ),
        }),
      ),
    ),
    answer: ok(invocation.extend({ replayOf: id })),
    errors: [404, 409],
  },
  listTraffic: {
    route: 'get /inspect/traffic',
    summary: 'The newest requests to the platform',
    description:
      'To public endpoints that one may view and, of those to the management API, all for whoever may look at the whole platform, their own ' +
      'for everybody else; not those of the window itself. Newest first.',
    right: 'caller',
    query: {
      q,
      plane: choice('Those to the management API, or to public endpoints', ['control', 'gateway']),
      endpoint: text('Those to one endpoint', { format: 'uuid' }),
      ...pageQuery,
    },
    answer: ok(named('TrafficPage', z.object({ requests: z.array(recordedRequest), ...page }))),
  },
  readRequest: {
    route: 'get /inspect/traffic/{request_seq}',
    summary: 'One of them, with headers and bodies',
    right: 'caller',
    answer: ok(wholeRequest),
    errors: [404],
  },
});

/** What fails, and the way back. */
export const failureRows = rowsOf('Window', {
  listFailures: {
    route: 'get /inspect/failures',
    summary: 'What fails now, and what was changed before it did',
    description: 'Every lambda that one may view whose newest invocation failed, or made a call that came to nothing.',
    right: 'caller',
    answer: ok(named('FailureList', z.object({ failures: z.array(failure) }))),
  },
  listMarks: {
    route: 'get /inspect/marks',
    summary: 'What was changed since a moment',
    description:
      'Commits, and for whoever may look at the whole platform changes of outbound rules, news of container engines and deployments, newest first; the newest 100.',
    right: 'caller',
    query: { from: amount('Epoch milliseconds', 0) },
    answer: ok(named('MarkList', z.object({ marks: z.array(mark) }))),
  },
  readFailure: {
    route: 'get /inspect/failures/{execution_id}',
    summary: 'Why an invocation failed, and what failed like it',
    right: 'caller',
    answer: ok(failure),
    errors: [404],
  },
  replayFailure: {
    route: 'post /inspect/failures/{execution_id}/replay',
    summary: 'Undo the cause, and run again what was lost',
    description:
      'What a replay has made good already is not run again. Whoever asks for a few at a time can stop in between.',
    right: mayReplay,
    body: optionalJson(
      named(
        'FailureReplay',
        z.strictObject({
          revert: z.int().min(1).optional().describe('A commit to undo first; for the root user'),
          most: z
            .int()
            .min(1)
            .max(MAX_REPLAYS)
            .default(MAX_REPLAYS)
            .describe('So many at most; how many are left is told'),
          skip: z.int().min(0).default(0).describe('So many of the oldest not: those that failed once more'),
        }),
      ),
    ),
    answer: ok(failureReplayed),
    errors: [404, 409],
  },
});
