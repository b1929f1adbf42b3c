import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Recent } from './recent.ts';

interface Note {
  key: string;
  text: string;
}

const make = (maxItems: number, maxBytes = Number.POSITIVE_INFINITY) =>
  new Recent<Note>({
    maxItems,
    maxBytes,
    sizeOf: ({ text }) => text.length,
    thin: (note) => ({ ...note, text: '' }),
    keyOf: ({ key }) => key,
  });
const all = { limit: 1_000, isWanted: () => true, maxLooked: 1_000 };

it('keeps the newest, in pages, whatever comes', () => {
  const keys = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { maxLength: 40 });
  fc.assert(
    fc.property(keys, fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 9 }), (added, maxItems, limit) => {
      const recent = make(maxItems);
      for (const key of added) recent.add({ key, text: key });
      const kept = added.map((key, at) => ({ seq: at + 1, key })).slice(-maxItems);
      expect(recent.size).toBe(kept.length);
      const seen: { seq: number; key: string }[] = [];
      let before: number | undefined;
      do {
        const page = recent.page({ ...all, limit, before });
        seen.push(...page.items.map(({ seq, item }) => ({ seq, key: item.key })));
        before = page.next;
      } while (before !== undefined);
      expect(seen).toEqual(kept.toReversed());
      for (const key of ['a', 'b', 'c', 'd', 'e']) {
        expect(recent.find(key)?.seq).toBe(kept.findLast((one) => one.key === key)?.seq);
      }
      const [first] = kept;
      const after = first?.seq ?? 0;
      expect(recent.page({ ...all, after }).items).toHaveLength(Math.max(0, kept.length - 1));
      expect(recent.at(after)?.item.key).toBe(first?.key);
      expect(recent.at(after - 1)).toBeUndefined();
      expect(recent.at(added.length + 1)).toBeUndefined();
    }),
  );
});

it('lets the older ones lose their weight when all weigh too much, and says how much that is', () => {
  const recent = make(10, 20);
  for (let n = 0; n < 30; n++) {
    recent.add({ key: `k${n}`, text: 'x'.repeat(7) });
    expect(recent.sizeBytes).toBeLessThanOrEqual(20);
  }
  const { items } = recent.page(all);
  expect(items.map(({ item }) => item.text.length)).toEqual([7, 7, 0, 0, 0, 0, 0, 0, 0, 0]);
  expect(recent.sizeBytes).toBe(14);
});

it('looks at a bounded number for one page and says where to go on', () => {
  const recent = make(100);
  for (let n = 1; n <= 100; n++) recent.add({ key: `k${n}`, text: '' });
  const isWanted = ({ seq }: { seq: number }) => seq === 5;
  const first = recent.page({ limit: 10, isWanted, maxLooked: 60 });
  expect(first).toEqual({ items: [], next: 41 });
  expect(recent.page({ limit: 10, isWanted, maxLooked: 60, before: first.next }).items).toMatchObject([{ seq: 5 }]);
});
