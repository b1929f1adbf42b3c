import { expect, it } from 'vitest';
import { lazy } from './lazy.ts';

it('is made once, whoever asks and how many at once', async () => {
  let made = 0;
  const get = lazy(async () => {
    made += 1;
    return made;
  });
  expect(made).toBe(0);
  expect([...(await Promise.all([get(), get()])), await get()]).toEqual([1, 1, 1]);
});

it('is tried again where it could not be made', async () => {
  let isThere = false;
  const get = lazy(async () => {
    if (!isThere) throw new Error('its part is not there');
    return 'made';
  });
  await expect(Promise.all([get(), get()])).rejects.toThrow('its part is not there');
  isThere = true;
  expect(await get()).toBe('made');
});
