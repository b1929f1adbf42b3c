import fc from 'fast-check';
import { getValueByPointer } from 'fast-json-patch';
import { expect, it } from 'vitest';
import { nearestRange, rangesIn } from './json-places.ts';

it('finds the position of every value', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom(undefined, 2), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      const ranges = rangesIn(text);
      expect(ranges.size).toBeGreaterThan(0);
      for (const [pointer, { from, to, nameFrom, nameTo }] of ranges) {
        // fast-json-patch protects itself from this name, JSON does not.
        if (pointer.includes('__proto__')) continue;
        const parsed = JSON.parse(text);
        expect(JSON.parse(text.slice(from, to))).toEqual(pointer === '' ? parsed : getValueByPointer(parsed, pointer));
        if (nameFrom === undefined) continue;
        const name = String(JSON.parse(text.slice(nameFrom, nameTo)));
        expect(pointer.endsWith(`/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`)).toBe(true);
      }
    }),
  );
});

it('finds the neighbors of a missing value', () => {
  const ranges = rangesIn('{"a": {"b": 1}}');
  expect(nearestRange(ranges, '/a/c/d')).toMatchObject({ from: 6, to: 14 });
  expect(nearestRange(ranges, '/x')).toEqual({ from: 0, to: 1 });
});
