import { expect, it } from 'vitest';
import { PassingMap } from './passing-map.ts';

it('holds what was added and not taken away, in that order, however many have come and gone', () => {
  const map = new PassingMap<string, number>();
  const expected = new Map<string, number>();
  for (let at = 0; at < 5_000; at++) {
    map.set(`k${at}`, at);
    expected.set(`k${at}`, at);
    // Every seventh stays.
    const gone = `k${at - 20}`;
    if ((at - 20) % 7 !== 0) expect(map.delete(gone)).toBe(expected.delete(gone));
  }
  expect([...map.values()]).toEqual([...expected.values()]);
  expect(map.size).toBe(expected.size);
  expect(map.get('k7')).toBe(7);
  expect(map.get('k8')).toBeUndefined();
  expect(map.delete('k8')).toBe(false);
  map.deleteOldest();
  expect(map.get('k0')).toBeUndefined();
  expect(map.get('k7')).toBe(7);
});
