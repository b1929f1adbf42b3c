import { z } from 'zod';
import { count, id, object, time } from '../schemas/parts.ts';
import { countOr, text } from './parameter.ts';
import { defineRoutes, route, stream } from './route.ts';

export const HIT_KINDS = ['resource', 'lead', 'request', 'invocation', 'call', 'line', 'commit'] as const;
export type HitKind = (typeof HIT_KINDS)[number];

const hit = z.object({
  kind: z.enum(HIT_KINDS),
  id: z.string().describe('ID of a resource, lead or invocation; sequence number of a request, call, line or commit'),
  at: time.optional(),
  title: z.string(),
  detail: z.string().optional().describe('Type and path of a resource'),
  excerpt: z.string().describe('The text around the first word that was found'),
  isFailed: z.boolean().optional(),
  executionId: id.optional().describe('The invocation that it is part of'),
});
export type SearchHit = z.output<typeof hit>;

const part = object('SearchPart', {
  hits: z.array(hit).describe('What was found since the previous line, up to `limit` of each kind in total'),
  found: z.partialRecord(z.enum(HIT_KINDS), count).describe('Number of matches of each kind so far'),
  searched: count.describe('Number of entries searched so far'),
  total: count.describe('Approximate number of entries to search'),
  isComplete: z.boolean().describe('Whether everything was searched; true only in the last line'),
});
export type SearchPart = z.output<typeof part>;

export const searchRoutes = defineRoutes('Window', {
  searchAll: route('get /inspect/search', 'caller', {
    summary: 'Search everything that you can view',
    description:
      'Searches resources, leads, requests, invocations, outbound calls, log lines and the history, including decoded bodies. Sends ' +
      'one JSON object per line, newest entries first, while the search runs. To cancel the search, close the connection.',
    query: {
      q: text('Words, all of which must occur in an entry, in any letter case; text in quotation marks is one word'),
      limit: countOr(20, 'Maximum number of entries per kind; the others are counted', 1, 200),
    },
    answer: stream(part, 'application/x-ndjson'),
  }),
});
