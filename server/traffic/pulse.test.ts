import { expect, it } from 'vitest';
import type { ExchangeRecord } from '../model/exchange-record.ts';
import { Pulse } from './pulse.ts';

const MINUTE_MS = 60_000;
let nowMs = 1_000 * MINUTE_MS;
const clock = () => nowMs;

const exchange = (more: Partial<ExchangeRecord>): ExchangeRecord => ({
  plane: 'control',
  atMs: nowMs,
  durationMs: 1,
  upstreamMs: 0,
  steps: [],
  method: 'GET',
  target: '/meta/orgs',
  peer: '127.0.0.1',
  requestHeaders: [],
  requestBody: undefined,
  status: 200,
  responseHeaders: [],
  responseBody: undefined,
  isComplete: true,
  endpointId: undefined,
  executionId: undefined,
  traceId: undefined,
  userId: undefined,
  ...more,
});

it('counts each minute of the last half hour for the service that a request was for', () => {
  const pulse = new Pulse(clock);
  pulse.sawExchange(exchange({}), 1);
  nowMs += 2 * MINUTE_MS;
  pulse.sawExchange(exchange({ target: '/meta?x=1' }), 2);
  pulse.sawExchange(exchange({ target: '/security/root/oauth/issue' }), 3);
  pulse.sawExchange(exchange({ target: '/metadata' }), 4);
  pulse.sawExchange(exchange({ plane: 'gateway', target: '/website/lead' }), 5);
  pulse.beat('scm');
  expect(pulse.shown()).toMatchObject({
    minutes: 30,
    services: {
      resources: { total: 2, perMinute: [...new Array(27).fill(0), 1, 0, 1] },
      security: { total: 1 },
      gateway: { total: 1 },
      containers: { total: 0, perMinute: new Array(30).fill(0) },
      scm: { total: 1 },
    },
  });
  nowMs += 29 * MINUTE_MS;
  expect(pulse.shown()).toMatchObject({
    services: { resources: { total: 2, perMinute: [1, ...new Array(29).fill(0)] } },
  });
  nowMs += 24 * 60 * MINUTE_MS;
  expect(pulse.shown()).toMatchObject({ services: { resources: { total: 2, perMinute: new Array(30).fill(0) } } });
});

it('tells the last fault, without what is secret in its address, and no refusal', () => {
  const pulse = new Pulse(clock);
  pulse.sawExchange(exchange({ plane: 'gateway', status: 502, target: '/a?access_token=s3cret', executionId: 'e' }), 7);
  pulse.sawExchange(exchange({ plane: 'gateway', status: 404 }), 8);
  pulse.sawExchange(exchange({ status: undefined, method: 'PUT' }), 9);
  const { services } = pulse.shown();
  expect(services).toMatchObject({
    gateway: { lastFault: { method: 'GET', status: 502, seq: 7, executionId: 'e', at: new Date(nowMs).toISOString() } },
    resources: { lastFault: { method: 'PUT', target: '/meta/orgs', seq: 9 } },
  });
  expect(JSON.stringify(services)).not.toContain('s3cret');
});
