import { expect, it } from 'vitest';
import { isOlderNode } from './node-program.ts';

it('tells which of two versions is older, by their numbers', () => {
  expect(
    ['9.11.2', '20.9.0', '20.19.0', '20.19.1', '22.1.0'].map((version) => isOlderNode(version, '20.19.0')),
  ).toEqual([true, true, false, false, false]);
  expect([isOlderNode('20.18.9', '20.19'), isOlderNode('20.19.0', '20.19')]).toEqual([true, false]);
});
