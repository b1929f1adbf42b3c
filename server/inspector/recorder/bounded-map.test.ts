import { expect, it } from 'vitest';
import { BoundedMap } from './recorder.ts';

it('contains the members that were added and not deleted, in order, after many changes', () => {
  const map = new BoundedMap<string, number>();
  const expected = new Map<string, number>();
  for (let at = 0; at < 5_000; at++) {
    map.set(`k${at}`, at);
    expected.set(`k${at}`, at);
    // Every seventh stays.
    const deletedKey = `k${at - 20}`;
    if ((at - 20) % 7 !== 0) expect(map.delete(deletedKey)).toBe(expected.delete(deletedKey));
  }
  expect([...map.values()]).toEqual([...expected.values()]);
  expect(map.delete('k8')).toBe(false);
  expect(map.delete('k7')).toBe(true);
});
