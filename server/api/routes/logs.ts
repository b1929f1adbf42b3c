import { z } from 'zod';
import { FAILURE_KINDS, INVOCATION_TRIGGERS, MOCK_NAMES, TRANSPORTS } from '../../model/invocation.ts';
import { A_LAMBDA, id, logLine, object, recordedBody, time, traceId } from '../schemas/parts.ts';
import { countWithin, text } from './parameter.ts';
import { defineRoutes, ok, ownBody, permission, route, stream } from './route.ts';

const outboundBody = recordedBody.extend({
  encoding: z
    .string()
    .optional()
    .describe('Content encoding of the original body: `text` is decompressed, `sizeBytes` is the original size'),
});
export type OutboundBody = z.output<typeof outboundBody>;

export const outboundCall = z.object({
  startedAt: time,
  method: z.string().describe('`TCP`, `TLS`, `UDP` or `DNS` for a connection without HTTP'),
  url: z
    .string()
    .describe('`tcp://db.example:5432` for a connection without HTTP, `dns://shop.example?type=MX` for a look-up'),
  durationMs: z.number(),
  status: z.int().optional(),
  error: z.string().optional(),
  traceId: traceId.optional(),
  caughtBy: z.enum(MOCK_NAMES).optional(),
  connection: z
    .object({
      host: z.string(),
      port: z.int(),
      transport: z.enum(TRANSPORTS),
      sentBytes: z.int(),
      receivedBytes: z.int(),
    })
    .optional()
    .describe('Present for a connection without HTTP, for example to a database'),
  blocked: z.literal(true).optional().describe('Refused by a rule with `block` or by the setting `outbound.default`'),
  leftMachine: z.literal(true).optional().describe('It was sent to a host outside this machine'),
  afterRedirect: z
    .literal(true)
    .optional()
    .describe("The call followed the mock CRM's redirect to `retURL`; the mock answered it with a page of its own"),
  request: outboundBody.optional().describe('Absent if the body is empty'),
  warning: z.string().optional().describe('A form that reached no CRM, or was not caught, and what to do'),
  response: outboundBody.optional(),
  rules: z
    .array(z.object({ id: z.string(), text: z.string() }))
    .optional()
    .describe('Rules about outbound calls that matched'),
});
export type OutboundCall = z.output<typeof outboundCall>;

export const invocation = object('Invocation', {
  executionId: id,
  lambdaId: id,
  lambdaName: z.string(),
  trigger: z.enum(INVOCATION_TRIGGERS),
  cold: z.boolean().describe('A process had to be started'),
  acceptedAt: time,
  startedAt: time.optional().describe('Start of the handler; absent if it never started'),
  finishedAt: time,
  durationMs: z.number().describe('Duration in milliseconds, rounded to tenths'),
  outcome: z.object({
    ok: z.boolean(),
    failure: z.enum(FAILURE_KINDS).optional().describe('Kind of failure'),
    message: z.string().optional(),
    result: z.unknown().optional().describe('Return value of the handler, or the second argument of a failed callback'),
  }),
  logs: z.array(logLine),
  outbound: z.array(outboundCall).describe('Calls and connections of the lambda'),
});
export type InvocationView = z.output<typeof invocation>;

const LOGGED = { id: 'resource_id', types: ['lambdas', 'containers', 'jobs'] } as const;
const lines = ok(z.array(z.string()), 'Log lines, newest last');
// Passed as text: the owner of the log parses it (D-191).
const oldest = {
  time: text(
    'How far to go back: a duration (`90s`, `15m`, `2h`, `1d`), an ISO timestamp, or `all` (default: the newest 1000 lines)',
    { examples: ['15m', 'all'] },
  ),
  stderr: text('Include standard error', { type: 'boolean', default: true }),
};
export const waitS = countWithin('Seconds to wait for the first line if no line is available', 0, 60, 0);
const after = text('Cursor of an earlier response: only lines after it');

/** Logs of lambdas and containers, as specified (D-191): below `/log`. */
export const plainLogRoutes = defineRoutes('Logs', {
  readLambdaLog: route('get /log/lambda/{lambda_id}', permission('lambda.view', A_LAMBDA.id), {
    summary: 'Read the log of a lambda',
    target: A_LAMBDA,
    query: oldest,
    answer: lines,
  }),
  readContainerLog: route('get /log/container/{container_id}', permission('*.view', 'container_id'), {
    summary: 'Read the log of a container',
    target: { id: 'container_id', types: ['containers'] },
    query: oldest,
    answer: lines,
    errors: [503],
  }),
});

export const logRoutes = defineRoutes('Logs', {
  readOnInLog: route('get /inspect/logs/{resource_id}', permission('*.view', LOGGED.id), {
    summary: 'Read log lines since a cursor',
    description:
      'Reads the log of a lambda, container or job. Without `after`, returns the same lines as `/log`, and a cursor. With the ' +
      'cursor as `after`, returns the lines since then, and waits up to `waitS` seconds for the first line.',
    target: LOGGED,
    query: { after, waitS, ...oldest },
    answer: ok(
      object('LogPage', {
        lines: z.array(logLine).describe('Lines, oldest first'),
        cursor: z.string().describe('Cursor: `after` for the next request'),
        hasGap: z.boolean().describe('Lines were removed before they could be read'),
      }),
    ),
    errors: [503],
  }),
  followLog: route('get /inspect/logs/{resource_id}/stream', permission('*.view', LOGGED.id), {
    summary: 'Stream log lines',
    description:
      'Streams the log of a lambda, container or job as server-sent events `lines` with `{lines, hasGap}` and the cursor as id. ' +
      'The stream starts with the newest 1000 lines, or with the lines since `after` or `Last-Event-ID`. The server waits for slow ' +
      'readers.',
    target: LOGGED,
    query: { after },
    answer: stream(z.string(), 'text/event-stream'),
    errors: [503],
  }),
});

export const invokeRoutes = defineRoutes('Invocations', {
  invokeLambda: route('post /inspect/lambdas/{lambda_id}/invoke', permission('lambda.invoke', A_LAMBDA.id), {
    summary: 'Invoke a lambda',
    description: 'The request body is the event. The response is the record of the invocation, including failures.',
    target: A_LAMBDA,
    body: { ...ownBody(z.unknown()), isOptional: true, example: { greeting: 'hello' } },
    answer: ok(invocation),
  }),
});
