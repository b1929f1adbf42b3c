import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSame, mergeThreeWay } from './three-way-merge.ts';

const json = fc.dictionary(
  fc.constantFrom('a', 'b', 'c/d'),
  fc.oneof(
    fc.integer({ max: 2, min: 0 }),
    fc.dictionary(fc.constantFrom('x', 'y'), fc.integer({ max: 2, min: 0 })),
    fc.array(fc.integer({ max: 1, min: 0 })),
  ),
);

describe('the merge of two changes', () => {
  it('is the one change where the other side did nothing', () => {
    fc.assert(
      fc.property(json, json, (base, changed) => {
        expect(mergeThreeWay(base, changed, base)).toMatchObject({ merged: changed, conflicts: [] });
        expect(mergeThreeWay(base, base, changed)).toMatchObject({ merged: changed, conflicts: [] });
        expect(mergeThreeWay(base, changed, changed)).toMatchObject({ merged: changed, conflicts: [] });
      }),
    );
  });

  it('finds the same conflicts whichever side is mine, and ends with theirs where theirs was chosen', () => {
    fc.assert(
      fc.property(json, json, json, (base, localValue, remoteValue) => {
        const merge = mergeThreeWay(base, localValue, remoteValue);
        const pointers = merge.conflicts.map(({ pointer }) => pointer);
        const other = mergeThreeWay(base, remoteValue, localValue);
        expect(other.conflicts.map(({ pointer }) => pointer).sort()).toEqual([...pointers].sort());
        const chosen = Object.fromEntries(pointers.map((pointer) => [pointer, 'theirs' as const]));
        expect(isSame(mergeThreeWay(base, localValue, remoteValue, chosen).merged, other.merged)).toBe(true);
      }),
    );
  });

  it('keeps both where they touched different places', () => {
    const base = { name: 'a', properties: { env: { A: '1', B: '2' }, timeout: 20 } };
    const localValue = { name: 'a', properties: { env: { A: '1', B: '3' }, timeout: 20 } };
    const remoteValue = { name: 'b', properties: { env: { A: '1', B: '2', C: '4' } } };
    expect(mergeThreeWay(base, localValue, remoteValue)).toEqual({
      merged: { name: 'b', properties: { env: { A: '1', B: '3', C: '4' } } },
      conflicts: [],
    });
  });

  it('gives all three sides of a conflict, also if one of them removed the property', () => {
    expect(mergeThreeWay({ a: 1 }, { a: 2 }, {}).conflicts).toEqual([{ pointer: '/a', base: 1, mine: 2 }]);
    expect(mergeThreeWay({}, { a: 2 }, { a: 3 }).conflicts).toEqual([{ pointer: '/a', mine: 2, theirs: 3 }]);
    expect(mergeThreeWay({ a: 1 }, { a: 2 }, {}, { '/a': 'theirs' }).merged).toEqual({});
  });
});
