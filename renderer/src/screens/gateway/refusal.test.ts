import { expect, it } from 'vitest';
import type { RecordedExchange } from '../../api/traffic.ts';
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
    '{"code":429,"message":"API rate limit exceeded"}',
  );
  expect(refusalOf(limited)).toEqual({
    explanation: '429: API rate limit exceeded (last step: auth).',
    next: expect.stringContaining('raise the limit'),
  });
  expect(refusalOf(exchange({ status: 404 }, 'no JSON'))?.explanation).toBe(
    '404: the response gives no reason (no endpoint was found for it).',
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
