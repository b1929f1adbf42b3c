import { describe, expect, it } from 'vitest';
import { TestFiles } from '../../testing/storage-files.ts';
import { CappedLog } from './capped-log.ts';
import { openKeyedLog } from './keyed-log.ts';

const KILO = 'x'.repeat(1_000);
const options = { name: 'log', fsync: 'batch', onWarning: () => undefined } as const;
const keysOf = (log: CappedLog<unknown>) => Array.from(log.entries(), ([key]) => key);

async function capped(maxItems: number, maxBytes: number, files = new TestFiles()) {
  return new CappedLog<unknown>(await openKeyedLog<unknown>(files, options), { maxItems, maxBytes });
}

describe('a log with caps', () => {
  it('lets the oldest go above its number', async () => {
    const log = await capped(3, 1_000_000);
    for (const key of ['a', 'b', 'c', 'd', 'e']) await log.put(key, { key });
    expect(keysOf(log)).toEqual(['c', 'd', 'e']);
  });

  it('lets the oldest go above its weight, however few there are', async () => {
    const log = await capped(100, 3_500);
    for (const key of ['a', 'b', 'c', 'd', 'e']) await log.put(key, KILO);
    expect(keysOf(log)).toEqual(['c', 'd', 'e']);
    expect(log.sizeBytes).toBeLessThanOrEqual(3_500);
  });

  it('counts many small members for what they take', async () => {
    const log = await capped(100, 100_000);
    const form = Array.from({ length: 1_000 }, () => ({ name: 'a', value: '' }));
    await log.put('first', form);
    await log.put('second', form);
    expect(keysOf(log)).toEqual(['second']);
  });

  it('keeps the newest, whatever it weighs', async () => {
    const log = await capped(100, 10);
    await log.put('a', KILO);
    await log.put('b', KILO);
    expect(keysOf(log)).toEqual(['b']);
  });

  it('counts a record that grows and lets others go for it, not it', async () => {
    const log = await capped(100, 5_500);
    for (const key of ['a', 'b', 'c']) await log.put(key, KILO);
    await log.put('a', KILO.repeat(4));
    expect(keysOf(log)).toEqual(['a', 'c']);
  });

  it('counts existing entries when it opens, and no deleted ones', async () => {
    const files = new TestFiles();
    const before = await capped(100, 1_000_000, files);
    await Promise.all(['a', 'b', 'c'].map((key) => before.put(key, KILO)));
    await before.remove('b');
    const log = await capped(100, 2_500, files);
    expect(log.sizeBytes).toBe(before.sizeBytes);
    await log.put('d', KILO);
    expect(keysOf(log)).toEqual(['c', 'd']);
  });

  it('counts right after many puts and removes at once', async () => {
    const log = await capped(5, 1_000_000);
    await Promise.all(Array.from({ length: 50 }, (_, at) => log.put(`k${at % 20}`, KILO)));
    await Promise.all(keysOf(log).map((key) => log.remove(key)));
    expect([log.size, log.sizeBytes]).toEqual([0, 0]);
  });
});
