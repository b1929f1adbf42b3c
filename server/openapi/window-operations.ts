import { z } from 'zod';
import { created, gone, type Operation, ok, ref, rowsOf } from './operation.ts';

const window = rowsOf('Window');
const id = z.uuid();
const time = z.iso.datetime();

/** What the window is sent and answered. */
export const windowSchemas = {
  SessionWish: z.union([z.object({ code: z.string() }), z.object({ username: z.string(), password: z.string() })]),
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
  InvocationPage: z.object({
    invocations: z.array(
      z.looseObject({ executionId: id, lambdaId: id, acceptedAt: time, outcome: z.looseObject({ ok: z.boolean() }) }),
    ),
    next: z.int().optional().describe('Where the next page begins, as `before`'),
  }),
  TrafficPage: z.object({
    requests: z.array(z.looseObject({ at: time, method: z.string(), target: z.string(), status: z.int().optional() })),
    next: z.int().optional(),
  }),
};

/** How the window signs in and what it is told. */
export const windowOperations: readonly Operation[] = [
  window('post /inspect/session', 'beginSession', 'Sign the window in', {
    description:
      'The session is a cookie that scripts cannot read. Changes are taken from pages of this very address only.',
    body: { schema: ref('SessionWish') },
    success: ok(ref('Session')),
    errors: [403, 429],
    security: [],
  }),
  window('get /inspect/session', 'readSession', 'Who is signed in', { success: ok(ref('Session')) }),
  window('delete /inspect/session', 'endSession', 'Sign out', { success: gone, security: [] }),
  window('post /inspect/session/codes', 'createSessionCode', 'A code to sign in with once', {
    description: 'For the root user. Good for ten minutes.',
    success: created(ref('SessionCode')),
    errors: [403],
  }),
  window('get /inspect/status', 'readStatus', 'How the platform is', {
    success: ok(ref('PlatformStatus')),
    errors: [403],
  }),
  window('get /inspect/events', 'followEvents', 'What happens, as it happens', {
    description:
      'Server-sent events, named for what has changed: world, history, invocations, traffic, leads, logs, containers, pipelines, ' +
      'status; `reset` when what came after `Last-Event-ID` is no longer known.',
    success: { ...ok({ type: 'string' }), mediaTypes: ['text/event-stream'] },
    errors: [403],
  }),
  window('get /inspect/invocations', 'listInvocations', 'The newest invocations of lambdas', {
    query: ['recent_lambda', 'recent_limit', 'recent_before'],
    success: ok(ref('InvocationPage')),
    errors: [400, 403],
  }),
  window('get /inspect/invocations/{execution_id}', 'readInvocation', 'One of them, with its log and outbound calls', {
    success: ok(ref('Invocation')),
    errors: [403, 404],
  }),
  window('get /inspect/traffic', 'listTraffic', 'The newest requests to the gateway', {
    query: ['recent_endpoint', 'recent_limit', 'recent_before'],
    success: ok(ref('TrafficPage')),
    errors: [400, 403],
  }),
];
