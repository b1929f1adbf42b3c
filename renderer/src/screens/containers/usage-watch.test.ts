import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { UsageWatch } from './usage-watch.ts';

const instance = { instanceId: 'i', cpus: 0.5, memoryBytes: 1, memoryLimitBytes: 2, receivedBytes: 0, sentBytes: 0 };
const noop = () => {};

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function watchOf(has: (id: string) => boolean = () => true) {
  const requestedIds: string[][] = [];
  const state = { isSeen: true };
  const watch = new UsageWatch({
    measure: async (ids) => {
      requestedIds.push([...ids]);
      return ids.filter(has).map((containerId) => ({ containerId, instances: [instance] }));
    },
    isSeen: () => state.isSeen,
    nowMs: () => Date.now(),
  });
  return { watch, asked: requestedIds, state };
}

it('measures containers that are shown together in one request, as long as they are shown', async () => {
  const { watch, asked: requestedIds } = watchOf();
  const ends = ['a', 'b'].map((id) => watch.watch(id, noop));
  await vi.advanceTimersByTimeAsync(0);
  expect(requestedIds).toEqual([['a', 'b']]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(requestedIds).toHaveLength(2);
  ends[0]?.();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(requestedIds.at(-1)).toEqual(['b']);
  ends[1]?.();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(requestedIds).toHaveLength(3);
  expect(watch.samplesOf('a')).toHaveLength(2);
});

it('asks for fifty at a time', async () => {
  const { watch, asked: requestedIds } = watchOf();
  for (let id = 0; id < 120; id += 1) watch.watch(String(id), noop);
  await vi.advanceTimersByTimeAsync(0);
  expect(requestedIds.map(({ length }) => length)).toEqual([50, 50, 20]);
});

it('measures nothing while the page is hidden, and resumes when it is visible', async () => {
  const { watch, asked: requestedIds, state } = watchOf();
  state.isSeen = false;
  watch.watch('a', noop);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(requestedIds).toEqual([]);
  state.isSeen = true;
  await vi.advanceTimersByTimeAsync(2_000);
  expect(requestedIds).toEqual([['a']]);
});

it('keeps the newest sixty samples, tells of each, and of one that is away', async () => {
  let isThere = true;
  const { watch } = watchOf(() => isThere);
  const reported = vi.fn();
  watch.watch('a', reported);
  await vi.advanceTimersByTimeAsync(2_000 * 70);
  expect(watch.samplesOf('a')).toHaveLength(60);
  expect(watch.samplesOf('a').at(-1)?.instances).toEqual([instance]);
  expect(reported).toHaveBeenCalledTimes(71);
  isThere = false;
  await vi.advanceTimersByTimeAsync(2_000);
  expect(watch.samplesOf('a').at(-1)?.instances).toEqual([]);
});
