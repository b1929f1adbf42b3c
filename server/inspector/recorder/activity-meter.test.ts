import { expect, it } from 'vitest';
import type { ExchangeRecord } from '../../model/exchange-record.ts';
import { ActivityMeter } from './activity-meter.ts';

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

const NAMES = ['resources', 'security', 'gateway', 'containers', 'scm'];

it('counts each minute of the last half hour for the service that a request was for', () => {
  const meter = new ActivityMeter(clock);
  meter.sawExchange(exchange({}), () => 1);
  nowMs += 2 * MINUTE_MS;
  meter.sawExchange(exchange({ target: '/meta?x=1' }), () => 2);
  meter.sawExchange(exchange({ target: '/security/root/oauth/issue' }), () => 3);
  meter.sawExchange(exchange({ target: '/metadata' }), () => 4);
  meter.sawExchange(exchange({ plane: 'gateway', target: '/website/lead' }), () => 5);
  meter.increment('scm');
  expect(meter.pulseOf(NAMES)).toMatchObject({
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
  expect(meter.pulseOf(NAMES)).toMatchObject({
    services: { resources: { total: 2, perMinute: [1, ...new Array(29).fill(0)] } },
  });
  nowMs += 24 * 60 * MINUTE_MS;
  expect(meter.pulseOf(NAMES)).toMatchObject({
    services: { resources: { total: 2, perMinute: new Array(30).fill(0) } },
  });
});

it('reports the last failure without secrets of its address, and no rejection', () => {
  const meter = new ActivityMeter(clock);
  meter.sawExchange(
    exchange({ plane: 'gateway', status: 502, target: '/a?access_token=s3cret', executionId: 'e' }),
    () => 7,
  );
  meter.sawExchange(exchange({ plane: 'gateway', status: 404 }), () => 8);
  meter.sawExchange(exchange({ status: undefined, method: 'PUT' }), () => 9);
  const { services } = meter.pulseOf(NAMES);
  expect(services).toMatchObject({
    gateway: { lastFault: { method: 'GET', status: 502, seq: 7, executionId: 'e', at: new Date(nowMs).toISOString() } },
    resources: { lastFault: { method: 'PUT', target: '/meta/orgs', seq: 9 } },
  });
  expect(JSON.stringify(services)).not.toContain('s3cret');
});
