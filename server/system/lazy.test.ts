import { expect, it } from 'vitest';
import { lazy } from './lazy.ts';

it('is created once, even for concurrent callers', async () => {
  let callCount = 0;
  const get = lazy(async () => {
    callCount += 1;
    return callCount;
  });
  expect(callCount).toBe(0);
  expect([...(await Promise.all([get(), get()])), await get()]).toEqual([1, 1, 1]);
});

it('is retried after a failure', async () => {
  let isThere = false;
  const get = lazy(async () => {
    if (!isThere) throw new Error('its part is not there');
    return 'made';
  });
  await expect(Promise.all([get(), get()])).rejects.toThrow('its part is not there');
  isThere = true;
  expect(await get()).toBe('made');
});
