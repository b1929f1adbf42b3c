import { describe, expect, it } from 'vitest';
import { AsyncResults, type StoredResult } from './async-results.ts';
import { FakeLog, invocation, text } from './gateway-for-tests.ts';
import { defaultLimits } from './limits.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

function results(log = new FakeLog<StoredResult>()) {
  const clock = { nowMs: 1_000 };
  const store = new AsyncResults(log, defaultLimits, () => clock.nowMs);
  const run = async (executionId: string, lambdaId: string) => {
    await store.accept(executionId, lambdaId);
    await store.finish(executionId, invocation(lambdaId, executionId, text(executionId)));
  };
  return { log, clock, store, run };
}

describe('asynchronous results (D-169)', () => {
  it('are gone a day after they finished, and leave the log with the next one', async () => {
    const { log, clock, store, run } = results();
    await run('one', 'lambda');
    clock.nowMs += DAY_MS - 1;
    expect(store.find('one')).toBeDefined();
    clock.nowMs += 1;
    expect(store.find('one')).toBeUndefined();
    expect(store.findLatest('lambda')).toBeUndefined();
    await run('two', 'other');
    expect([...log.entries()].map(([id]) => id)).toEqual(['two']);
  });

  it('are at most 1000 a lambda, the newest', async () => {
    const { log, store, run } = results();
    await run('other', 'another');
    for (let at = 0; at < 1005; at++) await run(`run ${at}`, 'lambda');
    expect(log.size).toBe(1001);
    expect(store.find('run 4')).toBeUndefined();
    expect(store.find('run 5')).toBeDefined();
    expect(store.findLatest('lambda')?.executionId).toBe('run 1004');
    expect(store.find('other')).toBeDefined();
  });

  it('of a lambda are told in the order they finished, after a restart too', async () => {
    const { log, clock, store } = results();
    await store.accept('slow', 'lambda');
    await store.accept('quick', 'lambda');
    for (const id of ['quick', 'slow']) {
      clock.nowMs += 10;
      await store.finish(id, invocation('lambda', id, text(id)));
    }
    expect(store.findLatest('lambda')?.executionId).toBe('slow');
    const restarted = new AsyncResults(log, defaultLimits, () => clock.nowMs);
    await restarted.recover();
    expect(restarted.findLatest('lambda')?.executionId).toBe('slow');
  });

  it('that never were accepted are not made up', async () => {
    const { log, store } = results();
    await store.finish('stranger', invocation('lambda', 'stranger', text('x')));
    expect(log.size).toBe(0);
  });
});
