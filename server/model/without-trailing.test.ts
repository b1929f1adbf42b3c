import { expect, it } from 'vitest';
import { inTime } from '../testing/in-time.ts';
import { canonicalHost, withoutTrailing } from './host-names.ts';
import { unsetVariables } from './unset-variables.ts';

it.each([
  ['a//', 'a'],
  ['//', ''],
  ['/a', '/a'],
  ['', ''],
])('%j is %j without slashes at its end', (text, rest) => {
  expect(withoutTrailing(text, '/')).toBe(rest);
});

/** Looked through from each of its characters, it takes hours. */
const MANY = 2_000_000;

it.each<[string, () => unknown, unknown]>([
  ['a host', () => canonicalHost(`${'.'.repeat(MANY)}x y`).length, MANY + 3],
  ['the code of a lambda', () => unsetVariables('/*'.repeat(MANY), {}, []), []],
])('%s is read in a time that grows with its length only', (_what, read, expected) => {
  expect(inTime(read)).toEqual(expected);
});
