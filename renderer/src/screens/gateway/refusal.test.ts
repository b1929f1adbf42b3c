import { expect, it } from 'vitest';
import type { RecordedExchange } from '../../api/use-traffic.ts';
import { refusalOf } from './refusal.ts';

const exchange = (more: Partial<RecordedExchange>, body?: string): RecordedExchange => ({
  seq: 1,
  plane: 'gateway',
  at: '2026-01-01T00:00:00.000Z',
  durationMs: 1,
  upstreamMs: 0,
  method: 'POST',
  target: '/website/lead',
  peer: '127.0.0.1',
  isComplete: true,
  steps: [],
  request: { headers: [] },
  response: { headers: [], ...(body !== undefined && { body: { sizeBytes: body.length, text: body } }) },
  ...more,
});

it('explains which check of the gateway rejected a request', () => {
  const limited = exchange(
    {
      status: 429,
      steps: [
        { name: 'route', afterMs: 1 },
        { name: 'auth', afterMs: 2 },
      ],
    },
    '{"code":429,"reason":"rate_limited","message":"API rate limit exceeded"}',
  );
  limited.response?.headers.push(['Retry-After', '41'], ['X-RateLimit-Limit-Minute', '60']);
  expect(refusalOf(limited)).toEqual({
    explanation: '429: API rate limit exceeded (rejected by the rate limit, 60/60 in this minute).',
    next: 'The endpoint accepted calls again 41 s after this request. To accept more, raise its limit.',
  });
  const explanationOf = (status: number, reason: string) =>
    refusalOf(exchange({ status }, JSON.stringify({ code: status, reason, message: 'why' })))?.explanation;
  expect(explanationOf(404, 'no_endpoint')).toBe('404: why (rejected by routing: no endpoint was found).');
  expect(explanationOf(403, 'host_not_allowed')).toBe('403: why (rejected by the check of the host name).');
  expect(explanationOf(403, 'forbidden')).toBe('403: why (rejected by authorization).');
  expect(refusalOf(exchange({ status: 404 }, 'no JSON'))?.explanation).toBe(
    '404: the response gives no reason (rejected by the check after the step start).',
  );
  expect(refusalOf(exchange({ status: 413 }, '[]'))?.next).toBeUndefined();
  expect(refusalOf(exchange({ status: 502, upstreamMs: 4 }))).toBeDefined();
});

it('does not explain responses of others', () => {
  expect(refusalOf(exchange({ status: 200 }))).toBeUndefined();
  expect(refusalOf(exchange({}))).toBeUndefined();
  expect(refusalOf(exchange({ status: 500, executionId: 'e' }))).toBeUndefined();
  expect(refusalOf(exchange({ status: 404, upstreamMs: 3 }))).toBeUndefined();
  expect(refusalOf(exchange({ status: 403, plane: 'control' }))).toBeUndefined();
});
