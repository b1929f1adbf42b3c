import { z } from 'zod';
import { outboundCall } from './logs.ts';
import { named } from './named.ts';
import { text } from './parameter.ts';
import { id, logLine } from './parts.ts';
import { pageQuery, placesOfPage } from './recorded.ts';
import { ok, rowsOf } from './row.ts';

const { startedAt, method, url, durationMs, status, error, traceId, caughtBy, rules } = outboundCall.shape;
const recordedCall = z.object({
  seq: z.int(),
  executionId: id.describe('The invocation that made it'),
  lambdaId: id,
  lambdaName: z.string(),
  startedAt,
  method,
  url,
  durationMs,
  status,
  error,
  traceId,
  caughtBy,
  rules,
});
export type RecordedCall = z.output<typeof recordedCall>;

const recordedLine = logLine.extend({
  seq: z.int(),
  lambdaId: id,
  lambdaName: z.string(),
});
export type RecordedLine = z.output<typeof recordedLine>;

const ofOneLambda = text('Those of one lambda', { format: 'uuid' });

/** What lambdas called while they ran, over all of them. */
export const outboundListRows = rowsOf('Window', {
  listOutboundCalls: {
    route: 'get /inspect/outbound-calls',
    summary: 'The newest calls that lambdas made',
    description:
      'HTTP calls of lambdas that one may view, of invocations that are over. Newest first. A page may hold fewer than asked for, even none, ' +
      'and go on at `next`.',
    right: 'caller',
    query: {
      q: text('What to look for, as for invocations', { examples: ['is:failed url:crm.example time:>10m'] }),
      lambda: ofOneLambda,
      ...pageQuery,
    },
    answer: ok(named('OutboundCallPage', z.object({ calls: z.array(recordedCall), ...placesOfPage }))),
  },
});

/** What lambdas printed, over all of them. */
export const lineListRows = rowsOf('Logs', {
  listLogLines: {
    route: 'get /inspect/log-lines',
    summary: 'The newest lines that lambdas printed',
    description:
      'Of lambdas that one may view. Newest first. A page may hold fewer than asked for, even none, and go on at `next`. ' +
      'Of one lambda, a container or a job `GET /inspect/logs/{resource_id}` gives the log as it is printed.',
    right: 'caller',
    query: {
      q: text('What to look for, as for invocations', { examples: ['stream:stderr lambda:webform "no such lead"'] }),
      lambda: ofOneLambda,
      ...pageQuery,
    },
    answer: ok(named('LogLinePage', z.object({ lines: z.array(recordedLine), ...placesOfPage }))),
  },
});
