import { expect, it } from 'vitest';
import { lazy } from './lazy.ts';

it('is created once, even for concurrent callers', async () => {
  let made = 0;
  const get = lazy(async () => {
    made += 1;
    return made;
  });
  expect(made).toBe(0);
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
