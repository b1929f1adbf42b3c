import { z } from 'zod';
import { may, SEES_ALL } from '../contract/right.ts';
import { created, gone, listOf, type Operation, ok, ref, rowsOf } from './operation.ts';

const window = rowsOf('Window');
const id = z.uuid();
const time = z.iso.datetime();

export const recordedBody = z.object({
  sizeBytes: z.int(),
  isCut: z.boolean().optional().describe('Only its beginning was kept'),
  text: z.string().optional(),
  base64: z.string().optional(),
});
const recordedSide = z.object({
  headers: z.array(z.tuple([z.string(), z.string()])).describe('As sent, with credentials hidden'),
  body: recordedBody.optional(),
});
const recordedRequest = z.looseObject({
  seq: z.int(),
  plane: z.enum(['control', 'gateway']),
  at: time,
  durationMs: z.number(),
  method: z.string(),
  target: z.string(),
  status: z.int().optional().describe('Absent when the client went away before an answer'),
  endpointId: id.optional(),
  executionId: id.optional(),
  userId: id.optional(),
});

/** A run of invocations of one lambda that came to nothing. */
const failure = z.object({
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
});

const sessionKey = z
  .string()
  .min(32)
  .max(200)
  .optional()
  .describe('What the cookie is bound to: with it the header `X-Terrarium-Session-Key` has to come along');

/** What the window is sent and answered. */
export const windowSchemas = {
  SessionWish: z.union([
    z.object({ code: z.string(), key: sessionKey }),
    z.object({ username: z.string(), password: z.string(), key: sessionKey }),
  ]),
  Session: z.object({ user: z.looseObject({ id }) }),
  SessionCode: z.object({ code: z.string(), url: z.url().describe('Address of the window that signs in with it') }),
  PlatformStatus: z.looseObject({
    version: z.string(),
    addresses: z.record(z.string(), z.string()),
    dataDir: z.string(),
    store: z.looseObject({ seq: z.int(), resources: z.int(), isHealthy: z.boolean() }),
    engines: z.array(z.looseObject({ address: z.string(), state: z.string(), providers: z.array(z.string()) })),
    processes: z.record(z.string(), z.int()),
    services: z.record(z.string(), z.string()),
  }),
  PlatformPulse: z.object({
    minutes: z.int(),
    services: z.record(
      z.string(),
      z.object({
        perMinute: z.array(z.int()).describe('The oldest first'),
        total: z.int().describe('Since the platform started'),
        lastFault: z
          .looseObject({ at: time, method: z.string(), target: z.string(), status: z.int().optional() })
          .optional(),
      }),
    ),
  }),
  EndpointUse: z.object({
    id,
    total: z.int().describe('Requests since the platform started'),
    last: z.object({ at: time, status: z.int().optional() }).optional(),
    limit: z
      .object({ perMinute: z.int(), used: z.int(), endsAt: time.optional() })
      .optional()
      .describe('Of the window that is open now'),
  }),
  InvocationPage: z.object({
    invocations: z.array(
      z.looseObject({
        seq: z.int(),
        executionId: id,
        lambdaId: id,
        acceptedAt: time,
        durationMs: z.number(),
        outcome: z.looseObject({ ok: z.boolean() }),
        excerpt: z.string().describe('Beginning of the result, or the error'),
        httpStatus: z.int().optional().describe('Of the answer at the gateway'),
        replayOf: id.optional(),
      }),
    ),
    running: z.array(z.looseObject({ executionId: id, lambdaId: id, acceptedAt: time })).describe('Waiting ones, too'),
    total: z.int().describe('How many are kept'),
    newest: z.int().describe('Place of the newest, for `after`'),
    run: z.string().describe('Another one: the places are counted anew'),
    next: z.int().optional().describe('Where the next page begins, as `before`'),
  }),
  RecordedInvocation: z.looseObject({
    executionId: id,
    lambdaId: id,
    event: z.looseObject({ method: z.string(), headers: z.record(z.string(), z.string()), body: recordedBody }),
    request: z
      .looseObject({})
      .optional()
      .describe('The request that caused it, as `GET /inspect/traffic/{seq}` gives it'),
    isThinned: z.boolean().optional().describe('Its texts had to make room for newer ones'),
  }),
  Failure: failure,
  FailureList: z.object({ failures: z.array(failure) }),
  FailureReplay: z.strictObject({
    revert: z.int().min(1).optional().describe('A commit to undo first; for the root user'),
  }),
  FailureReplayed: z.object({
    commit: z.looseObject({ seq: z.int() }).optional().describe('The one that undid `revert`'),
    replayed: z.int(),
    good: z.int().describe('How many of them went well now'),
    notKept: z.int().describe('How many could not be replayed: their events were not kept'),
    left: z.int().describe('How many are left for another request'),
    invocations: z.array(z.object({ executionId: id, replayOf: id, isGood: z.boolean() })),
  }),
  Replay: z.strictObject({ event: z.unknown().optional().describe('Instead of the event that it was given') }),
  TrafficPage: z.object({
    requests: z.array(recordedRequest),
    total: z.int(),
    newest: z.int(),
    run: z.string(),
    next: z.int().optional(),
  }),
  RecordedRequest: recordedRequest.extend({
    steps: z.array(z.object({ name: z.string(), afterMs: z.number() })).describe('When each step of its way was done'),
    request: recordedSide,
    response: recordedSide.optional(),
    isThinned: z.boolean().optional(),
  }),
};

const recentPage = ['recent_scope', 'recent_limit', 'recent_before', 'recent_after'] as const;

/** How the window signs in and what it is told. */
export const windowOperations: readonly Operation[] = [
  window('post /inspect/session', 'beginSession', 'Sign the window in', {
    right: 'none',
    description:
      'The session is a cookie that scripts cannot read. Changes are taken from pages of this very address only. Browsers send ' +
      'the cookie to other ports of the same name, too: a page binds it to a key of its own, and sends both.',
    body: { schema: ref('SessionWish') },
    success: ok(ref('Session')),
    errors: [403, 429],
  }),
  window('get /inspect/session', 'readSession', 'Who is signed in', { right: 'caller', success: ok(ref('Session')) }),
  window('delete /inspect/session', 'endSession', 'Sign out', { right: 'none', success: gone }),
  window('post /inspect/session/codes', 'createSessionCode', 'A code to sign in with once', {
    right: 'root',
    description: 'For the root user. Good for ten minutes.',
    success: created(ref('SessionCode')),
    errors: [403],
  }),
  window('get /inspect/status', 'readStatus', 'How the platform is', {
    right: SEES_ALL,
    success: ok(ref('PlatformStatus')),
    errors: [403],
  }),
  window('get /inspect/pulse', 'readPulse', 'What happens at each service, minute by minute', {
    right: SEES_ALL,
    description: 'Counted since the platform started; what a window reads for itself is left out.',
    success: ok(ref('PlatformPulse')),
    errors: [403],
  }),
  window(
    'get /inspect/endpoints',
    'readEndpointUse',
    'What has come to public endpoints, and how much of their limits is used',
    {
      right: SEES_ALL,
      description: 'Those that have a limit or had a request.',
      success: ok(listOf(ref('EndpointUse'))),
      errors: [403],
    },
  ),
  window('get /inspect/events', 'followEvents', 'What happens, as it happens', {
    right: SEES_ALL,
    description:
      'Server-sent events, named for what has changed: world, history, invocations, traffic, leads, outbound, logs, containers, ' +
      'pipelines, status; `reset` when what came after `Last-Event-ID` is no longer known.',
    success: { ...ok({ type: 'string' }), mediaTypes: ['text/event-stream'] },
    errors: [403],
  }),
  window('get /inspect/invocations', 'listInvocations', 'The newest invocations of lambdas', {
    right: SEES_ALL,
    description: 'Newest first. A page may hold fewer than asked for, even none, and go on at `next`.',
    query: ['recent_query', 'recent_lambda', ...recentPage],
    success: ok(ref('InvocationPage')),
    errors: [400, 403],
  }),
  window('get /inspect/invocations/{execution_id}', 'readInvocation', 'One of them, with all that is kept of it', {
    right: SEES_ALL,
    success: ok(ref('RecordedInvocation')),
    errors: [403, 404],
  }),
  window('post /inspect/invocations/{execution_id}/replay', 'replayInvocation', 'Run it again', {
    right: [...SEES_ALL, ...may('lambda.invoke', 'execution_id')],
    description:
      'With the same event or another, in the name of the one who asks. Answers the record of the new invocation.',
    body: { schema: ref('Replay'), optional: true },
    success: ok(ref('Invocation')),
    errors: [403, 404, 409],
  }),
  window('get /inspect/failures', 'listFailures', 'What fails now, and what was changed before it did', {
    right: SEES_ALL,
    description: 'Every lambda whose newest invocation failed, or made a call that came to nothing.',
    success: ok(ref('FailureList')),
    errors: [403],
  }),
  window('get /inspect/failures/{execution_id}', 'readFailure', 'Why an invocation failed, and what failed like it', {
    right: SEES_ALL,
    success: ok(ref('Failure')),
    errors: [403, 404],
  }),
  window(
    'post /inspect/failures/{execution_id}/replay',
    'replayFailure',
    'Undo the cause, and run again what was lost',
    {
      right: [...SEES_ALL, ...may('lambda.invoke', 'execution_id')],
      description: 'What a replay has made good already is not run again.',
      body: { schema: ref('FailureReplay'), optional: true },
      success: ok(ref('FailureReplayed')),
      errors: [400, 403, 404, 409],
    },
  ),
  window('get /inspect/traffic', 'listTraffic', 'The newest requests to the platform', {
    right: SEES_ALL,
    description: 'To the management API and to public endpoints, but not those of the window itself. Newest first.',
    query: ['recent_query', 'recent_plane', 'recent_endpoint', ...recentPage],
    success: ok(ref('TrafficPage')),
    errors: [400, 403],
  }),
  window('get /inspect/traffic/{request_seq}', 'readRequest', 'One of them, with headers and bodies', {
    right: SEES_ALL,
    success: ok(ref('RecordedRequest')),
    errors: [403, 404],
  }),
];
