import { QueryClient } from '@tanstack/react-query';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { LiveCache } from './live-cache.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A list of invocations that is on the screen, and how often it was read. */
async function watchedList() {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } });
  const read = vi.fn(async () => 'rows');
  const { QueryObserver } = await import('@tanstack/react-query');
  const observer = new QueryObserver(client, { queryKey: ['invocations', 'list'], queryFn: read });
  const leave = observer.subscribe(() => {});
  await vi.advanceTimersByTimeAsync(0);
  read.mockClear();
  const cache = new LiveCache(client);
  const notify = (name: string) => cache.apply(new Set([name]));
  return { read, tell: notify, leave };
}

it('reloads a list at once when its records change', async () => {
  const { read, tell: notify, leave } = await watchedList();
  notify('leads');
  await vi.advanceTimersByTimeAsync(0);
  expect(read).not.toHaveBeenCalled();
  notify('invocations');
  await vi.advanceTimersByTimeAsync(0);
  expect(read).toHaveBeenCalledOnce();
  leave();
});

/** Readings in two seconds of events every 10 ms, each answered after so long. */
async function requestsInBurst(answeredAfterMs: number): Promise<number> {
  const { read, tell: notify, leave } = await watchedList();
  const startedMs: number[] = [];
  read.mockImplementation(() => {
    startedMs.push(Date.now());
    return new Promise((resolve) => setTimeout(() => resolve('rows'), answeredAfterMs));
  });
  let reportedMs = 0;
  for (let ms = 0; ms < 2000; ms += 10) {
    reportedMs = Date.now();
    notify('invocations');
    await vi.advanceTimersByTimeAsync(10);
  }
  await vi.advanceTimersByTimeAsync(3000);
  expect(startedMs.at(-1)).toBeGreaterThan(reportedMs);
  leave();
  return startedMs.length;
}

it.each([
  ['ten times a second where answers come at once', 0, 20, 27],
  ['a quarter of the time where they take some', 60, 8, 10],
  ['twice a second where they take long', 400, 5, 6],
])('reads it %s under a storm of events, and once more after the last', async (_how, tookMs, least, most) => {
  const readings = await requestsInBurst(tookMs);
  expect(readings).toBeGreaterThanOrEqual(least);
  expect(readings).toBeLessThanOrEqual(most);
});

it('reads it once more when it was being read as something happened: the answer may be of before', async () => {
  const { read, tell: notify, leave } = await watchedList();
  let answer = (_rows: string) => {};
  read.mockImplementationOnce(() => new Promise((resolve) => (answer = resolve)));
  notify('invocations');
  await vi.advanceTimersByTimeAsync(100);
  notify('invocations');
  await vi.advanceTimersByTimeAsync(900);
  expect(read).toHaveBeenCalledOnce();
  answer('rows of before');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(read).toHaveBeenCalledTimes(2);
  leave();
});

it('reloads the record of a container once more after a change during its first read', async () => {
  const client = new QueryClient();
  const statuses: ((status: string) => void)[] = [];
  const { QueryObserver } = await import('@tanstack/react-query');
  const queryFn = () => new Promise<string>((resolve) => statuses.push(resolve));
  const observer = new QueryObserver(client, { queryKey: ['world', 'record', 'c1'], queryFn });
  const leave = observer.subscribe(() => {});
  new LiveCache(client).apply(new Set(['containers']));
  statuses[0]?.('LAUNCHED');
  await vi.advanceTimersByTimeAsync(1000);
  expect(statuses).toHaveLength(2);
  statuses[1]?.('RUNNING');
  await vi.advanceTimersByTimeAsync(0);
  expect(observer.getCurrentResult().data).toBe('RUNNING');
  leave();
});
