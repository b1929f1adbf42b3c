import { z } from 'zod';
import { id, logLine, object } from '../schemas/parts.ts';
import { outboundCall } from './logs.ts';
import { text } from './parameter.ts';
import { pageQuery, placesOfPage } from './recorded.ts';
import { defineRoutes, ok, route } from './route.ts';

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

const ofOneLambda = text('Only this lambda', { format: 'uuid' });

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
