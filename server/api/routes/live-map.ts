import { z } from 'zod';
import { count, id, object, time } from '../schemas/parts.ts';
import { uuid } from './parameter.ts';
import { defineRoutes, ok, route } from './route.ts';

export const MAP_COLUMNS = ['callers', 'endpoints', 'targets', 'outside'] as const;
export type MapColumn = (typeof MAP_COLUMNS)[number];

const mapNode = z.object({
  id: z.string().describe('Unique text'),
  resourceId: id.optional().describe('Absent if the node is no resource, or the resource was deleted'),
  column: z.enum(MAP_COLUMNS),
  kind: z.enum([
    ...['user', 'caller', 'endpoint', 'lambda', 'container'],
    ...['crm', 'mail', 'scm', 'host', 'deleted', 'unpublished', 'more'],
  ] as const),
  name: z.string(),
  requests: count,
  failed: count.describe('Requests that stopped here and that no replay has fixed'),
  isFailing: z.boolean().describe('Whether fewer requests in a row have succeeded here since the newest failure'),
  lastFailure: z
    .object({ executionId: id.optional(), requestSeq: z.int().optional() })
    .optional()
    .describe('The newest failed invocation or request'),
});
export type MapNode = z.output<typeof mapNode>;

const mapEdge = z.object({
  from: z.string(),
  to: z.string(),
  requests: count.describe('0: configured, but without a request'),
  failed: count.describe('Requests that stopped at `to` and that no replay has fixed'),
});
export type MapEdge = z.output<typeof mapEdge>;

const mapPassage = z.object({ seq: z.int(), from: z.string(), to: z.string(), isFailed: z.boolean() });
export type PassageView = z.output<typeof mapPassage>;

export const liveMapRoutes = defineRoutes('Window', {
  readLiveMap: route('get /inspect/live-map', 'caller', {
    summary: 'Read the ways of requests in the last hour',
    description:
      'Returns who called which endpoints, lambdas and containers, and which hosts lambdas called, as nodes and edges. They are ' +
      'counted from the records of resources that you can view. In each column, the busiest nodes are listed, and one node is ' +
      'the sum of the others.',
    query: { scope: uuid('Only below this organization, workspace or environment') },
    answer: ok(
      object('LiveMap', {
        requests: count.describe('Requests and runs of lambdas, wherever they come from'),
        nodes: z.array(mapNode),
        edges: z.array(mapEdge),
        passages: z.array(mapPassage).describe('The ways of requests that ended in the last seconds, oldest first'),
        countedFrom: time.optional().describe('Older records are not counted, because there are too many'),
      }),
    ),
  }),
});
