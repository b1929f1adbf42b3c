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
  const tell = (name: string) => cache.apply([{ name, id: '1', data: [] }]);
  return { read, tell, leave };
}

it('reads a list anew at once when something happened to what it shows', async () => {
  const { read, tell, leave } = await watchedList();
  tell('leads');
  await vi.advanceTimersByTimeAsync(0);
  expect(read).not.toHaveBeenCalled();
  tell('invocations');
  await vi.advanceTimersByTimeAsync(0);
  expect(read).toHaveBeenCalledOnce();
  leave();
});

it('reads it twice a second under a storm of events, and once more after the last', async () => {
  const { read, tell, leave } = await watchedList();
  for (let ms = 0; ms < 2000; ms += 10) {
    tell('invocations');
    await vi.advanceTimersByTimeAsync(10);
  }
  await vi.advanceTimersByTimeAsync(1000);
  expect(read.mock.calls.length).toBeGreaterThanOrEqual(4);
  expect(read.mock.calls.length).toBeLessThanOrEqual(6);
  leave();
});

it('reads it once more when it was being read as something happened: the answer may be of before', async () => {
  const { read, tell, leave } = await watchedList();
  let answer = (_rows: string) => {};
  read.mockImplementationOnce(() => new Promise((resolve) => (answer = resolve)));
  tell('invocations');
  await vi.advanceTimersByTimeAsync(100);
  tell('invocations');
  await vi.advanceTimersByTimeAsync(900);
  expect(read).toHaveBeenCalledOnce();
  answer('rows of before');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(read).toHaveBeenCalledTimes(2);
  leave();
});
