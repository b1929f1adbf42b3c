import { z } from 'zod';
import { count, id, logLine, named, object, recordedBody, strictObject, time, traceId } from '../schemas/parts.ts';
import { invocation, outboundCall } from './logs.ts';
import { count as amount, choice, countOr, countWithin, required, text, uuid } from './parameter.ts';
import { defineRoutes, ok, optionalJson, permission, route } from './route.ts';

const MAX_REPLAYS = 500;

const recordedSide = z.object({
  headers: z.array(z.tuple([z.string(), z.string()])).describe('Headers as sent, with credentials hidden'),
  body: recordedBody.optional(),
});

const recordedRequest = z.object({
  seq: z.int(),
  plane: z.enum(['control', 'gateway']).describe('The management API (control) or a public endpoint (gateway)'),
  at: time,
  durationMs: z.number(),
  upstreamMs: z.number().describe('Time in the lambda or container'),
  method: z.string(),
  target: z.string(),
  peer: z.string().describe('Address of the client'),
  status: z.int().optional().describe('Absent if the client disconnected before the response'),
  isComplete: z.boolean().describe('Whether the entire response was sent'),
  endpointId: id.optional(),
  executionId: id.optional(),
  userId: id.optional(),
  outboundFailures: z.int().optional().describe('Failed outbound calls of the lambda behind it'),
});
export type RecordedRequest = z.output<typeof recordedRequest>;

const wholeRequest = named(
  'RecordedRequest',
  recordedRequest.extend({
    traceId: traceId.optional(),
    steps: z.array(z.object({ name: z.string(), afterMs: z.number() })).describe('End of each processing step'),
    request: recordedSide,
    response: recordedSide.optional(),
    isTruncated: z.boolean().optional().describe('Headers and bodies were removed to make space for newer ones'),
  }),
);
export type WholeRequest = z.output<typeof wholeRequest>;

const placesOfPage = {
  newest: z.int().describe('Sequence number of the newest entry, for `after`'),
  run: z.string().describe('If this changes, the sequence numbers start again'),
  next: z.int().optional().describe('`before` for the next page'),
};
const page = { total: z.int().describe('Number of recorded entries that you can view'), ...placesOfPage };

const summary = z.object({
  seq: z.int(),
  ...invocation.omit({ startedAt: true, durationMs: true, outcome: true, logs: true, outbound: true }).shape,
  durationMs: z.number(),
  outcome: invocation.shape.outcome.omit({ result: true }),
  excerpt: z.string().describe('Beginning of the result, or the error'),
  httpStatus: z.int().optional().describe('Status of the response of the gateway'),
  replayOf: id.optional(),
  logLines: count,
  outboundCalls: count,
  outboundFailures: count.describe('Number of failed outbound calls'),
});
export type InvocationSummary = z.output<typeof summary>;

const startedInvocation = summary.pick({
  executionId: true,
  lambdaId: true,
  lambdaName: true,
  trigger: true,
  acceptedAt: true,
});
export type StartedView = z.output<typeof startedInvocation>;

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
    event: invocationEvent.describe('The event of the invocation'),
    traceId,
    outboundFailures: count,
    resultBytes: count.optional(),
    replayOf: id.optional(),
    isTruncated: z.boolean().optional().describe('Texts were removed to make space for newer ones'),
    request: wholeRequest
      .optional()
      .describe('The request that caused the invocation, as in `GET /inspect/traffic/{seq}`'),
  }),
);
export type RecordedView = z.output<typeof recordedInvocation>;

/** Something besides commits that may be why calls go another way from then on. */
const activityKinds = z.enum(['rules', 'engine', 'deploy']);
export type ActivityKind = z.output<typeof activityKinds>;

const activityEvent = z.object({
  at: time,
  kind: activityKinds.describe('Outbound rules, a container engine, or a pipeline deployment'),
  text: z.string().describe('Description of the event'),
});

const mark = z.object({
  at: time,
  kind: z.enum(['commit', ...activityKinds.options]),
  text: z.string().describe('Description of the event'),
  seq: z.int().optional().describe('Commit number'),
  count: z.int().describe('Number of changes in this part of the range; the newest is described'),
});
export type RecordedMark = z.output<typeof mark>;

/** Invocations of one lambda that failed with the same error. */
const failure = object('Failure', {
  lambdaId: id,
  lambdaName: z.string(),
  lambdaPath: z.string().optional().describe('Absent if the lambda was deleted'),
  kind: z.enum(['form', 'call', 'invocation']).describe('A form for the CRM, an outbound call, or the invocation'),
  text: z.string().describe('Description of the failure'),
  isInputInvalid: z
    .boolean()
    .describe('The newest request failed because its body is not JSON; no change is a likely cause'),
  count: z.int().describe('Number of failures with the same error'),
  succeeded: z.int().describe('Number of invocations of the lambda that succeeded since the first failure'),
  lost: z.int().describe('Number of failures that no replay has fixed'),
  since: time,
  newest: id,
  first: id,
  isOver: z.boolean().describe('Whether as many invocations in a row succeeded later'),
  lastGood: z.object({ executionId: id, at: time }).optional(),
  likelyCauses: z
    .array(
      z.object({
        seq: z.int(),
        at: time,
        by: z.string(),
        via: z.string(),
        resource: z.object({ id, type: z.string(), name: z.string(), path: z.string() }),
        changes: z.array(z.string()).describe('For example `removed CRM_OID`'),
        others: z.array(z.string()).describe('Names of other resources that the commit changed'),
        isUndoable: z
          .boolean()
          .describe(
            'Whether to recommend reverting it: a call succeeded before it and none after it, it created nothing, and ' +
              'its changes are still in place',
          ),
        isUndone: z.boolean().describe('Whether nothing of its changes is left'),
      }),
    )
    .describe('Commits shortly before the failure, the likeliest cause first'),
  rule: z
    .object({ id: z.string(), text: z.string(), isEnabled: z.boolean().describe('Whether it is enabled now') })
    .optional()
    .describe('The outbound rule that matched the failed call'),
  activity: z.array(activityEvent).describe('Other events shortly before the failure, newest first'),
  historyFrom: time.optional().describe('The history has no earlier commits, so the cause may be unknown'),
});
export type FailureView = z.output<typeof failure>;

const failureReplayed = object('FailureReplayed', {
  commit: z.looseObject({ seq: z.int() }).optional().describe('The commit that undid `revert`'),
  replayed: z.int(),
  good: z.int().describe('Number of replays that succeeded'),
  notKept: z.int().describe('Number of invocations without a stored event, which cannot be replayed'),
  left: z.int().describe('Number of invocations left for another request'),
  invocations: z.array(z.object({ executionId: id, replayOf: id, isGood: z.boolean() })),
});
export type FailureReplayed = z.output<typeof failureReplayed>;

const lambdaUse = z.object({
  lambdaId: id,
  calls: count,
  failed: count.describe('Failed invocations, and invocations with a failed outbound call'),
  last: z.object({ executionId: id, at: time }),
  lastFailure: z
    .object({ executionId: id, at: time, text: z.string().describe('Description of the failure') })
    .optional(),
});
export type LambdaUse = z.output<typeof lambdaUse>;

const mayReplay = [...permission('lambda.view', 'execution_id'), ...permission('lambda.invoke', 'execution_id')];

const pageQuery = {
  scope: uuid('Only below this organization, workspace or environment'),
  limit: countOr(100, 'Maximum number of results', 1, 1_000),
  before: amount('`next` of the previous page', 1),
  after: amount('Only entries after this sequence number, for example `newest` of an earlier response', 0),
};
const q = text('Search terms, all of which must match; `-` before a term excludes it', {
  examples: ['status:error lambda:webform dur:>200 text', 'status:>=500 method:post path:/lead'],
});

const ofOneLambda = text('Only this lambda', { format: 'uuid' });

const trafficQuery = {
  plane: choice('Only requests to the management API (control) or to public endpoints (gateway)', [
    'control',
    'gateway',
  ]),
  endpoint: text('Only requests to this endpoint', { format: 'uuid' }),
};

export const recordedRoutes = defineRoutes('Window', {
  listInvocations: route('get /inspect/invocations', 'caller', {
    summary: 'List invocations of lambdas',
    description:
      'Lists invocations of lambdas that you can view, newest first. A page can contain fewer invocations than requested, even ' +
      'none, and still have a `next`.',
    query: { q, lambda: ofOneLambda, ...pageQuery },
    answer: ok(
      object('InvocationPage', {
        invocations: z.array(summary),
        running: z.array(startedInvocation).describe('Running and waiting invocations'),
        ...page,
      }),
    ),
  }),
  listLambdaUse: route('get /inspect/lambda-use', 'caller', {
    summary: 'Count invocations and failures per lambda',
    description: 'Lambdas without a recorded invocation are left out.',
    answer: ok(object('LambdaUseList', { lambdas: z.array(lambdaUse) })),
  }),
  readInvocation: route('get /inspect/invocations/{execution_id}', 'caller', {
    summary: 'Read an invocation',
    answer: ok(recordedInvocation),
  }),
  replayInvocation: route('post /inspect/invocations/{execution_id}/replay', mayReplay, {
    summary: 'Replay an invocation',
    description:
      'Uses the same event or another one, and runs with the identity of the caller. Returns the record of the new invocation.',
    body: optionalJson(
      strictObject('Replay', {
        event: z.unknown().optional().describe('Event to use instead of the original one'),
        stopsFirst: z
          .boolean()
          .optional()
          .describe('For a debugged lambda: pause an attached debugger at the first line of the handler'),
      }),
      { event: { greeting: 'hello' } },
    ),
    answer: ok(invocation.extend({ replayOf: id })),
    errors: [409],
  }),
  listTraffic: route('get /inspect/traffic', 'caller', {
    summary: 'List requests to the platform',
    description:
      'Lists recorded requests, newest first. Requests to public endpoints are included if you can view the endpoint. Of requests ' +
      'to the management API, users with permission to view the entire platform see all, other users see their own. Requests made ' +
      'by the window are not recorded.',
    query: {
      q,
      ...trafficQuery,
      ...pageQuery,
    },
    answer: ok(object('TrafficPage', { requests: z.array(recordedRequest), ...page })),
  }),
  readRequest: route('get /inspect/traffic/{request_seq}', 'caller', {
    summary: 'Read a request with headers and bodies',
    answer: ok(wholeRequest),
  }),
});

const recordedCall = z.object({
  seq: z.int(),
  executionId: id.describe('The invocation that made the call'),
  lambdaId: id,
  lambdaName: z.string(),
  ...outboundCall.omit({ request: true, response: true }).shape,
});
export type RecordedCall = z.output<typeof recordedCall>;

const recordedLine = logLine.extend({
  seq: z.int(),
  lambdaId: id,
  lambdaName: z.string(),
});
export type RecordedLine = z.output<typeof recordedLine>;

export const outboundListRoutes = defineRoutes('Window', {
  listOutboundCalls: route('get /inspect/outbound-calls', 'caller', {
    summary: 'List outbound calls of lambdas',
    description:
      'Lists calls and connections of lambdas that you can view, from finished invocations, newest first. A page can contain fewer calls than ' +
      'requested, even none, and still have a `next`.',
    query: {
      q: text('Search terms, as for invocations', { examples: ['is:failed url:crm.example time:>10m'] }),
      lambda: ofOneLambda,
      ...pageQuery,
    },
    answer: ok(object('OutboundCallPage', { calls: z.array(recordedCall), ...placesOfPage })),
  }),
});

export const lineListRoutes = defineRoutes('Logs', {
  listLogLines: route('get /inspect/log-lines', 'caller', {
    summary: 'List log lines of lambdas',
    description:
      'Lists log lines of lambdas that you can view, newest first. A page can contain fewer lines than requested, even none, and ' +
      'still have a `next`. To follow one lambda, container or job, use `GET /inspect/logs/{resource_id}`.',
    query: {
      q: text('Search terms, as for invocations', { examples: ['stream:stderr lambda:webform "no such lead"'] }),
      lambda: ofOneLambda,
      ...pageQuery,
    },
    answer: ok(object('LogLinePage', { lines: z.array(recordedLine), ...placesOfPage })),
  }),
});

const span = z.object({
  ok: count,
  refused: count,
  failed: count,
  slowest: z.object({ seq: z.int(), tookMs: z.number() }).optional(),
  p50Ms: z.number().optional(),
  p95Ms: z.number().optional(),
  p99Ms: z.number().optional(),
});
const figures = named(
  'Figures',
  span.extend({
    from: time,
    to: time,
    bucketMs: z.number(),
    buckets: z.array(span).describe('Equal parts of the range, oldest first'),
    countedFrom: time
      .optional()
      .describe('Older records are not counted, because too many would have to be read for this search'),
  }),
);

const FIGURE_LISTS = ['invocations', 'traffic', 'outbound-calls', 'log-lines', 'forms'] as const;

export const figureRoutes = defineRoutes('Window', {
  readFigures: route('get /inspect/figures', 'caller', {
    summary: 'Count records over time',
    description:
      'Counts what the list of the same name contains, however long it is, by result. A log line counts as failed if it was ' +
      'written to standard error, and a form as refused if it arrived only when it was sent again. Durations are in milliseconds. The search sets the range, for example `time:>1h`.',
    query: {
      of: required(choice('Which list', FIGURE_LISTS)),
      q,
      scope: pageQuery.scope,
      lambda: ofOneLambda,
      ...trafficQuery,
      buckets: countWithin('Maximum number of buckets', 1, 1_000, 120),
    },
    answer: ok(figures),
  }),
});

export const failureRoutes = defineRoutes('Window', {
  listFailures: route('get /inspect/failures', 'caller', {
    summary: 'List current failures and the changes before them',
    description:
      'Lists failures of lambdas that you can view, one for each error, oldest first. A failure is listed until as many ' +
      'invocations in a row succeeded, or replays fixed all of it.',
    answer: ok(object('FailureList', { failures: z.array(failure) })),
  }),
  listMarks: route('get /inspect/marks', 'caller', {
    summary: 'List changes in a range of time',
    description:
      'Returns one entry for each part of the range that contains changes, newest first: commits and, with permission to view the ' +
      'entire platform, changes of outbound rules and events of container engines and deployments.',
    query: {
      from: amount('Epoch milliseconds', 0),
      to: amount('Epoch milliseconds; default: now', 0),
      parts: countWithin('Number of equal parts of the range', 1, 1_000, 60),
    },
    answer: ok(
      object('MarkList', {
        marks: z.array(mark),
        total: count,
        isCut: z.boolean().describe('There are older changes in the range that were not counted'),
      }),
    ),
  }),
  readFailure: route('get /inspect/failures/{execution_id}', 'caller', {
    summary: 'Explain a failed invocation and list similar failures',
    answer: ok(failure),
  }),
  replayFailure: route('post /inspect/failures/{execution_id}/replay', mayReplay, {
    summary: 'Revert the cause and replay the failed invocations',
    description:
      'Invocations that an earlier replay fixed are skipped. To be able to stop in between, replay a few at a time.',
    body: optionalJson(
      strictObject('FailureReplay', {
        revert: z.int().min(1).optional().describe('A commit to revert first; for the root user'),
        most: z
          .int()
          .min(1)
          .max(MAX_REPLAYS)
          .default(MAX_REPLAYS)
          .describe('Maximum number of replays; `left` in the response counts the rest'),
        skip: z.int().min(0).default(0).describe('Number of oldest invocations to skip, because their replay failed'),
      }),
      { most: 10 },
    ),
    answer: ok(failureReplayed),
    errors: [409],
  }),
});
