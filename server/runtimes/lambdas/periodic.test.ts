import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Invocation } from '../../model/invocation.ts';
import type { JsonObject } from '../../model/json.ts';
import { nextRunMs, periodicInfo } from '../../model/period.ts';
import { LAMBDA } from '../../model/types/lambda.ts';
import { Gate, WAIT_AT_GATE } from '../../testing/gate.ts';
import { TestLambdaService } from '../../testing/lambda-service.ts';
import { PlainWorld } from '../../testing/plain-world.ts';
import { idleInvoker } from '../../testing/world-seeds.ts';
import { Periodic } from './periodic.ts';

/* Lambdas that run by the clock, where that is switched on (D-056). */

let service: TestLambdaService | undefined;
afterEach(() => service?.stop());

async function start(periodic: boolean): Promise<{ service: TestLambdaService; records: Invocation[] }> {
  const records: Invocation[] = [];
  service = await TestLambdaService.start({ periodic, onInvocation: (invocation) => void records.push(invocation) });
  return { service, records };
}
const resultsOf = (records: readonly Invocation[]) =>
  records.map(({ outcome }) => ('bytes' in outcome.value ? Buffer.from(outcome.value.bytes).toString() : ''));
const WAIT = { timeout: 50_000 };

describe('a lambda with periodic_info', () => {
  it('runs again and again with its payload, each time as an invocation of its own', async () => {
    const { service, records } = await start(true);
    const periodic_info = { interval_seconds: 0.2, payload: { of: 'clock' } };
    const madeAtMs = Date.now();
    const id = service.lambda('exports.run = (event) => event', { periodic_info });
    const { nextAtMs = 0 } = service.lambdas.schedule(id) ?? {};
    expect(nextAtMs).toBeGreaterThanOrEqual(madeAtMs);
    await vi.waitFor(() => expect(records.length).toBeGreaterThan(2), WAIT);
    expect(new Set(resultsOf(records))).toEqual(new Set(['{"of":"clock"}']));
    expect(records[0]).toMatchObject({ lambdaId: id, trigger: 'periodic' });
    expect(service.lambdas.schedule(id)).toMatchObject({ lastAtMs: expect.any(Number), nextAtMs: expect.any(Number) });
  });

  it('is not run by the clock unless that is switched on', async () => {
    const { service } = await start(false);
    const id = service.lambda('exports.run = (event) => event', { periodic_info: { interval_seconds: 0.01 } });
    expect(service.lambdas.schedule(id)).toEqual({ leftOut: 0 });
    expect(service.lambdas.schedule(service.lambda('exports.run = () => 1'))).toBeUndefined();
  });

  it('whose run takes longer than its period skips the runs due meanwhile: runs never pile up', async () => {
    const { service, records } = await start(true);
    const gate = await Gate.open();
    onTestFinished(() => gate.stop());
    const code = `${WAIT_AT_GATE} const wait = exports.run; let at = 0;
      exports.run = (event, context, callback) => wait('${gate.url}', context, () => callback(null, String(++at)));`;
    const id = service.lambda(code, { periodic_info: { interval_seconds: 0.1 }, timeout: 600 });
    const leftOut = () => service.lambdas.schedule(id)?.leftOut;
    for (const run of [1, 2]) {
      await gate.waitForClients(1);
      const before = leftOut() ?? 0;
      await vi.waitFor(() => expect(leftOut()).toBeGreaterThan(before + 5), WAIT);
      expect(gate.waiting).toBe(1);
      expect(service.lambdas.stats().running + service.lambdas.stats().waiting).toBe(1);
      gate.release();
      await vi.waitFor(() => expect(records).toHaveLength(run), WAIT);
    }
    // One after the other: one process has run them all.
    expect(resultsOf(records)).toEqual(['1', '2']);
    const skipLines = service.lambdas.log(id, {}).filter((line) => line.includes('was skipped'));
    expect(skipLines).toHaveLength(1);
  });

  it('follows its record: another period, none, deleted', async () => {
    const { service } = await start(true);
    const id = service.lambda('exports.run = () => 1', { periodic_info: { interval_seconds: 3_600 } });
    const first = service.lambdas.schedule(id)?.nextAtMs ?? 0;
    service.change(id, 'exports.run = () => 2', { periodic_info: { interval_seconds: 3_600 } });
    expect(service.lambdas.schedule(id)?.nextAtMs).toBe(first);
    service.change(id, 'exports.run = () => 2', { periodic_info: { cron: '0 0 1 1 *' } });
    expect(new Date(service.lambdas.schedule(id)?.nextAtMs ?? 0).toISOString()).toMatch(/-01-01T00:00:00.000Z$/);
    service.change(id, 'exports.run = () => 2');
    expect(service.lambdas.schedule(id)).toBeUndefined();
    service.change(id, 'exports.run = () => 2', { periodic_info: { interval_seconds: 3_600 } });
    service.remove(id);
    expect(service.lambdas.schedule(id)).toBeUndefined();
  });
});

/** Runs one lambda by a clock that tests move, with fake timers. */
function startByClock(periodic_info: JsonObject, fastMs = 0) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const clock = { fastMs, runs: 0 };
  const beganMs = Date.now();
  const periodic = new Periodic({
    view: new PlainWorld().view,
    invoker: {
      ...idleInvoker,
      invoke: (...call) => {
        clock.runs++;
        return idleInvoker.invoke(...call);
      },
    },
    isOn: true,
    nowMs: () => Date.now() + clock.fastMs,
    monotonicMs: () => Date.now() - beganMs,
    onChange: () => {},
    logLine: () => {},
  });
  onTestFinished(() => periodic.stop());
  const at = new Date(beganMs).toISOString();
  const lambda = {
    id: 'clocked',
    type: LAMBDA,
    name: 'clocked',
    parent: null,
    state: 'Active',
    owner: 'root',
    created: { by: 'root', at },
    modified: { action: 'create', by: 'root', at },
    properties: { periodic_info },
  } as const;
  periodic.changed([{ after: lambda }]);
  return { clock, periodic, lambda };
}

it('a lambda whose creation a rule suppressed is run from its activation on (D-127)', async () => {
  const { clock, periodic, lambda } = startByClock({ interval_seconds: 60 });
  periodic.changed([{ before: lambda, after: { ...lambda, state: 'Pending' } }]);
  await vi.advanceTimersByTimeAsync(120_000);
  expect(clock.runs).toBe(0);
  periodic.changed([{ after: lambda }]);
  await vi.advanceTimersByTimeAsync(61_000);
  expect(clock.runs).toBe(1);
});

describe('a clock that was fast and is corrected', () => {
  it.each([
    { info: { interval_seconds: 60 }, afterMs: 60_000 },
    { info: { cron: '0 * * * *' }, afterMs: 60 * 60_000 },
  ])('does not stop runs by $info', async ({ info, afterMs }) => {
    const { clock } = startByClock(info, 24 * 60 * 60_000);
    await vi.advanceTimersByTimeAsync(1_000);
    clock.fastMs = 0;
    await vi.advanceTimersByTimeAsync(afterMs + 10_000);
    expect(clock.runs).toBeGreaterThan(0);
  });
});

it.each([{ interval_seconds: 3_600 }, { cron: '0 * * * *' }])(
  'a clock that is advanced (D-222) runs %j once, at once, and again in its turn when the clock is back',
  async (info) => {
    const { clock, periodic } = startByClock(info);
    clock.fastMs = 24 * 60 * 60_000;
    periodic.clockMoved(clock.fastMs);
    await vi.advanceTimersByTimeAsync(1);
    expect(clock.runs).toBe(1);
    const backMs = -clock.fastMs;
    clock.fastMs = 0;
    periodic.clockMoved(backMs);
    await vi.advanceTimersByTimeAsync(1);
    expect(clock.runs).toBe(1);
    await vi.advanceTimersByTimeAsync(2 * 60 * 60_000);
    expect(clock.runs).toBeGreaterThan(1);
  },
);

describe('the next run', () => {
  const at = (text: string) => Date.parse(text);
  it('by interval follows the one before, but never lies in the past', () => {
    expect(nextRunMs({ intervalMs: 1_000 }, 5_000, 5_000)).toBe(6_000);
    expect(nextRunMs({ intervalMs: 1_000 }, 5_000, 9_500)).toBe(10_000);
  });
  it('by cron is in UTC unless a time zone is given', () => {
    const now = at('2026-06-01T10:30:00Z');
    expect(nextRunMs({ cron: '0 12 * * *' }, now, now)).toBe(at('2026-06-01T12:00:00Z'));
    expect(nextRunMs({ cron: '0 12 * * *', timezone: 'Europe/Berlin' }, now, now)).toBe(at('2026-06-02T10:00:00Z'));
  });
  it.each([
    [{ cron: 'every day' }, 'cron'],
    [{ cron: '0 12 * * *', timezone: 'Nowhere' }, 'timezone'],
    [{ cron: '0 12 * * *', interval_seconds: 5 }, 'interval_seconds'],
    [{ interval_seconds: 0 }, 'interval_seconds'],
    [{ interval_seconds: '5' }, 'interval_seconds'],
  ])('is refused for %j', (info, name) => {
    expect(periodicInfo.safeParse(info).error?.issues[0]?.path).toEqual([name]);
  });
});
