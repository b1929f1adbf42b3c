import { z } from 'zod';
import { INVOCATION_TRIGGERS } from '../model/invocation.ts';
import { named } from './named.ts';
import { countWithin, text } from './parameter.ts';
import { A_LAMBDA, id, logLine, recordedBody, time, traceId } from './parts.ts';
import { may } from './right.ts';
import { ok, ownBody, rowsOf, stream } from './row.ts';

const outboundBody = recordedBody.extend({
  encoding: z.string().optional().describe('Its content encoding: `text` is decompressed, `sizeBytes` is not'),
});
export type OutboundBody = z.output<typeof outboundBody>;

export const outboundCall = z.object({
  startedAt: time,
  method: z.string(),
  url: z.string(),
  durationMs: z.number(),
  status: z.int().optional(),
  error: z.string().optional(),
  traceId: traceId.optional(),
  caughtBy: z.enum(['crm']).optional(),
  request: outboundBody.optional().describe('Absent when it had no body'),
  response: outboundBody.optional(),
  rules: z
    .array(z.object({ id: z.string(), text: z.string() }))
    .optional()
    .describe('Rules about outbound calls that decided about it'),
});
export type OutboundCall = z.output<typeof outboundCall>;

/** The record of an invocation. */
export const invocation = named(
  'Invocation',
  z.object({
    executionId: id,
    lambdaId: id,
    lambdaName: z.string(),
    trigger: z.enum(INVOCATION_TRIGGERS),
    cold: z.boolean().describe('A process had to be made ready'),
    acceptedAt: time,
    startedAt: time.optional().describe('When the handler began; absent if it never did'),
    finishedAt: time,
    durationMs: z.number().describe('To a tenth, as its times are'),
    outcome: z.object({
      ok: z.boolean(),
      failure: z.string().optional().describe('Kind of failure, such as `error` or `timeout`'),
      message: z.string().optional(),
      result: z
        .unknown()
        .optional()
        .describe('What the handler gave back, or the second argument of a failed callback'),
    }),
    logs: z.array(logLine),
    outbound: z.array(outboundCall).describe('HTTP calls that the lambda made'),
  }),
);
export type ShownInvocation = z.output<typeof invocation>;

const LOGGED = { id: 'resource_id', of: ['lambdas', 'containers', 'jobs'] } as const;
const lines = ok(z.array(z.string()), 'Lines, newest last');
// As text: who keeps a log reads them (D-191).
const oldest = {
  time: text(
    'Back from now (`90s`, `15m`, `2h`, `1d`), an ISO timestamp, or `all`; the newest 1000 lines unless given',
    { examples: ['15m', 'all'] },
  ),
  stderr: text('With standard error', { type: 'boolean', default: true }),
};
/** How long an answer may wait for a first one. */
export const waitS = countWithin('Seconds to wait for a first one when there is none', 0, 60, 0);
const after = text('The cursor of an earlier answer: only lines since');

/** What lambdas and containers print, by the contract (D-191): below `/log`. */
export const plainLogRows = rowsOf('Logs', {
  readLambdaLog: {
    route: 'get /log/lambda/{lambda_id}',
    summary: 'What a lambda printed',
    right: may('lambda.view', A_LAMBDA.id),
    target: A_LAMBDA,
    query: oldest,
    answer: lines,
  },
  readContainerLog: {
    route: 'get /log/container/{container_id}',
    summary: 'What the instances of a container printed',
    right: may('*.view', 'container_id'),
    target: { id: 'container_id', of: ['containers'] },
    query: oldest,
    answer: lines,
    errors: [503],
  },
});

/** The same as one goes on reading. */
export const logRows = rowsOf('Logs', {
  readOnInLog: {
    route: 'get /inspect/logs/{resource_id}',
    summary: 'What is printed since a cursor',
    description:
      'Of a lambda, a container or a job. Without `after` the lines that `/log` gives. Gives back a cursor; with that as `after` it ' +
      'gives what has come since, and waits up to `waitS` seconds for a first line.',
    right: may('*.view', LOGGED.id),
    target: LOGGED,
    query: { after, waitS, ...oldest },
    answer: ok(
      named(
        'LogPage',
        z.object({
          lines: z.array(logLine).describe('Oldest first'),
          cursor: z.string().describe('For `after` in the next request'),
          hasGap: z.boolean().describe('Lines have gone before they could be read'),
        }),
      ),
    ),
    errors: [503],
  },
  followLog: {
    route: 'get /inspect/logs/{resource_id}/stream',
    summary: 'What is printed, as it is printed',
    description:
      'Of a lambda, a container or a job. Server-sent events `lines` with `{lines, hasGap}`, each with its cursor as id: first the newest ' +
      '1000 lines, or with `after` or `Last-Event-ID` those since, then each that follows. A slow reader is waited for.',
    right: may('*.view', LOGGED.id),
    target: LOGGED,
    query: { after },
    answer: stream(z.string(), 'text/event-stream'),
    errors: [503],
  },
});

/** Lambdas run by hand. */
export const invokeRows = rowsOf('Invocations', {
  invokeLambda: {
    route: 'post /inspect/lambdas/{lambda_id}/invoke',
    summary: 'Run a lambda',
    description: 'The body is the event. The answer is the record of the invocation, whatever came of it.',
    right: may('lambda.invoke', A_LAMBDA.id),
    target: A_LAMBDA,
    body: { ...ownBody(z.unknown()), isOptional: true },
    answer: ok(invocation),
  },
});
