import { expect, it } from 'vitest';
import type { ExchangeRecord } from '../../model/exchange-record.ts';
import { EndpointActivity } from './endpoint-activity.ts';

const at = (endpointId: string | undefined, atMs: number, status?: number): ExchangeRecord => ({
  plane: 'gateway',
  atMs,
  durationMs: 1,
  upstreamMs: 0,
  steps: [],
  method: 'GET',
  target: '/a/b',
  peer: '127.0.0.1',
  requestHeaders: [],
  requestBody: undefined,
  status,
  responseHeaders: [],
  responseBody: undefined,
  isComplete: true,
  endpointId,
  executionId: undefined,
  traceId: undefined,
  userId: undefined,
});

it('counts what came to each endpoint and tells its last answer and its limit', () => {
  const activity = new EndpointActivity();
  activity.sawExchange(at('a', 1_000, 200));
  activity.sawExchange(at('a', 2_000, 429));
  activity.sawExchange(at('b', 3_000));
  activity.sawExchange(at(undefined, 4_000, 404));
  const limits = [
    { endpointId: 'a', perMinute: 60, used: 1, endsAtMs: 61_000 },
    { endpointId: 'c', perMinute: 5, used: 0, endsAtMs: undefined },
  ];
  expect(activity.usesOf(limits)).toEqual([
    {
      id: 'a',
      total: 2,
      last: { at: '1970-01-01T00:00:02.000Z', status: 429 },
      limit: { perMinute: 60, used: 1, endsAt: '1970-01-01T00:01:01.000Z' },
    },
    { id: 'c', total: 0, limit: { perMinute: 5, used: 0 } },
    { id: 'b', total: 1, last: { at: '1970-01-01T00:00:03.000Z' } },
  ]);
});
