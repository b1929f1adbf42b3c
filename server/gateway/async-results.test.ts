import { describe, expect, it, vi } from 'vitest';
import { invocation, text } from '../testing/gateway.ts';
import { MemoryLog } from '../testing/memory-log.ts';
import { AsyncResults, type StoredResult } from './async-results.ts';
import { defaultLimits } from './gateway-limits.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

function results(log = new MemoryLog<StoredResult>(), limits = defaultLimits) {
  const clock = { nowMs: 1_000 };
  const store = new AsyncResults(
    log,
    limits,
    () => clock.nowMs,
    () => clock.nowMs,
  );
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

  it('are no more than memory can hold: the oldest of all go, and no call that is under way', async () => {
    const { log, store, run } = results(undefined, { ...defaultLimits, resultsBytes: 4_000 });
    await store.accept('slow', 'lambda');
    for (let at = 0; at < 100; at++) await run(`run ${at}`, `lambda ${at}`);
    expect(log.size).toBeLessThan(30);
    expect(store.find('run 0')).toBeUndefined();
    expect(store.findLatest('lambda 99')?.executionId).toBe('run 99');
    expect(store.find('slow')).toMatchObject({ state: 'pending' });
  });

  it('of a lambda are listed in the order they finished, after a restart too', async () => {
    const { log, clock, store } = results();
    await store.accept('slow', 'lambda');
    await store.accept('quick', 'lambda');
    for (const id of ['quick', 'slow']) {
      clock.nowMs += 10;
      await store.finish(id, invocation('lambda', id, text(id)));
    }
    expect(store.findLatest('lambda')?.executionId).toBe('slow');
    const restarted = new AsyncResults(
      log,
      defaultLimits,
      () => clock.nowMs,
      () => clock.nowMs,
    );
    await restarted.recover();
    expect(restarted.findLatest('lambda')?.executionId).toBe('slow');
  });

  it('are read from memory while they cannot be written, and are written later', async () => {
    vi.useFakeTimers();
    try {
      const { log, store } = results();
      await store.accept('one', 'lambda');
      log.durable = async () => {
        throw new Error('disk full');
      };
      await store.finish('one', invocation('lambda', 'one', text('one')));
      expect(log.get('one')).toMatchObject({ state: 'pending' });
      expect(store.find('one')).toMatchObject({ state: 'finished', result: 'one' });
      expect(store.findLatest('lambda')?.finished.result).toBe('one');
      log.durable = async () => {};
      await vi.advanceTimersByTimeAsync(1000);
      expect(log.get('one')).toMatchObject({ state: 'finished', result: 'one' });
      expect(store.find('one')).toMatchObject({ result: 'one' });
      const put = vi.spyOn(log, 'put');
      await vi.advanceTimersByTimeAsync(5000);
      expect(put).not.toHaveBeenCalled();
    } finally {
      vi.useRealTimers();
    }
  });

  it('are written at the stop, if that goes by then', async () => {
    const { log, store } = results();
    await store.accept('one', 'lambda');
    log.durable = async () => {
      throw new Error('disk full');
    };
    await store.finish('one', invocation('lambda', 'one', text('one')));
    log.durable = async () => {};
    await store.stop();
    expect(log.get('one')).toMatchObject({ state: 'finished', result: 'one' });
  });

  it('that wait in memory are not let grow for ever: no more calls are accepted then, until they are written', async () => {
    const { log, store } = results();
    const big = 'x'.repeat(40 * 1024 * 1024);
    log.durable = async () => {
      if (log.size > 0 && [...log.entries()].some(([, result]) => result.state === 'finished'))
        throw new Error('disk full');
    };
    for (const id of ['one', 'two']) {
      await store.accept(id, 'lambda');
      await store.finish(id, invocation('lambda', id, text(big)));
    }
    await expect(store.accept('three', 'lambda')).rejects.toMatchObject({
      status: 503,
      message: expect.stringMatching(
        /^the disk is full: 2 asynchronous results are waiting to be saved\. The lambda was not run\./,
      ),
    });
    log.durable = async () => {};
    await store.stop();
    await store.accept('three', 'lambda');
  });

  it.each([
    ['has saved it', undefined],
    ['has rejected it', new Error('disk full')],
  ])('become visible when the disk %s, not before', async (_end, failure) => {
    const { log, store, run } = results();
    await run('earlier', 'lambda');
    await store.accept('later', 'lambda');
    let endWrite = (_failure?: Error) => {};
    log.durable = () =>
      new Promise((resolve, reject) => {
        endWrite = (error) => (error ? reject(error) : resolve());
      });
    const finish = store.finish('later', invocation('lambda', 'later', text('later')));
    expect(store.find('later')).toMatchObject({ state: 'pending' });
    expect(store.findLatest('lambda')?.executionId).toBe('earlier');
    endWrite(failure);
    await finish;
    expect(store.find('later')).toMatchObject({ state: 'finished', result: 'later' });
    expect(store.findLatest('lambda')?.executionId).toBe('later');
    log.durable = async () => {};
    await store.stop();
  });

  it('that never were accepted are not made up', async () => {
    const { log, store } = results();
    await store.finish('stranger', invocation('lambda', 'stranger', text('x')));
    expect(log.size).toBe(0);
  });
});
