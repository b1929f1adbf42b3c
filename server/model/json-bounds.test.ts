import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from './json.ts';
import { measure } from './patch/patch.ts';

describe('measuring JSON', () => {
  it.each<[Json, number]>([
    [null, 0],
    ['text', 0],
    [[], 1],
    [{ a: 1 }, 1],
    [{ a: [1, { b: 2 }], c: 3 }, 3],
  ])('%j is %i deep', (value, depth) => expect(measure(value).depth).toBe(depth));
  it('comes near the size of the text', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'grapheme-ascii' }), (value) => {
        const text = JSON.stringify(value);
        const { size } = measure(JSON.parse(text));
        expect(size).toBeLessThanOrEqual(4 * text.length);
        expect(text.length).toBeLessThanOrEqual(8 * (size + 1));
      }),
    );
  });
  it('does not mind how deep', () => {
    let value: Json = [];
    for (let depth = 1; depth < 100_000; depth++) value = [value];
    expect(measure(value).depth).toBe(100_000);
  });
});
