import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { systemError, TestFiles } from '../../testing/test-files.ts';
import { MemoryFiles } from './files.ts';
import { type OpenKeyedLog, openKeyedLog } from './keyed-log.ts';

const warnings: string[] = [];
const options = { name: 'log', fsync: 'batch', onWarning: (message: string) => warnings.push(message) } as const;
const open = (files: TestFiles) => openKeyedLog<unknown>(files, options);

test('is in memory when it is to be', async () => {
  const log = await openKeyedLog<number>(new MemoryFiles(), options);
  await log.put('a', 1);
  expect(log.get('a')).toBe(1);
  await log.close();
});

test('a record appears at once, and keeps its place when it is written again', async () => {
  const log = await open(new TestFiles());
  const put = log.put('a', 1);
  expect(log.get('a')).toBe(1);
  await Promise.all([put, log.put('b', 2), log.put('a', 3)]);
  expect([...log.entries()]).toEqual([
    ['a', 3],
    ['b', 2],
  ]);
  expect(log.size).toBe(2);
  expect(await log.remove('a')).toBe(true);
  expect(await log.remove('a')).toBe(false);
  expect([...log.entries()]).toEqual([['b', 2]]);
});

test('after any puts and removes, opening again gives the same', async () => {
  const step = fc.record({
    key: fc.constantFrom('a', 'b', '', '__proto__', 'ü\n'),
    record: fc.option(fc.jsonValue(), { nil: undefined }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step), async (steps) => {
      const files = new TestFiles();
      const log = await open(files);
      await Promise.all(
        steps.map(({ key, record }) => (record === undefined ? log.remove(key) : log.put(key, record))),
      );
      const again = await open(files);
      expect(JSON.stringify([...again.entries()])).toBe(JSON.stringify([...log.entries()]));
    }),
  );
});

test('a record that cannot be saved is removed, with those after it', async () => {
  const files = new TestFiles();
  const log = await open(files);
  await log.put('a', 1);
  files.before = () => {
    throw systemError('ENOSPC');
  };
  const failing = [log.put('a', 2), log.put('b', 2), log.remove('a'), log.put('c', 2)];
  for (const end of await Promise.allSettled(failing)) {
    expect(end).toMatchObject({ status: 'rejected', reason: { status: 503 } });
  }
  expect([...log.entries()]).toEqual([['a', 1]]);
  files.before = () => undefined;
  await log.put('d', 4);
  expect([...(await open(files)).entries()]).toEqual([
    ['a', 1],
    ['d', 4],
  ]);
});

describe('a file', () => {
  const text = async (files: TestFiles) => String(await files.read('log.jsonl'));

  test('that is mostly garbage is written again, and nothing is lost on the way', async () => {
    const files = new TestFiles();
    const log = await open(files);
    const long = 'x'.repeat(100_000);
    await log.put('first', 1);
    for (let i = 0; i < 10; i++) await log.put('again and again', long + i);
    expect((await text(files)).length).toBeGreaterThan(1_000_000);
    const rewritten = new Promise<void>((resolve) => {
      files.after = (step) => {
        if (step === 'replace') resolve();
      };
    });
    await Promise.all([log.put('again and again', long), log.put('meanwhile', 2)]);
    await rewritten;
    await Promise.all([log.put('later', 3), log.remove('meanwhile')]);
    await log.close();
    expect((await text(files)).length).toBeLessThan(110_000);
    expect([...(await open(files)).entries()]).toEqual([...log.entries()]);
  });

  test('with an incomplete last line is read without it', async () => {
    const files = new TestFiles();
    const log = await open(files);
    await Promise.all([log.put('a', 1), log.put('b', 2)]);
    await files.replace('log.jsonl', [Buffer.from((await text(files)).slice(0, -5))]);
    warnings.length = 0;
    const again = await open(files);
    expect([...again.entries()]).toEqual([['a', 1]]);
    expect(warnings).toEqual([expect.stringContaining('log.jsonl ends in the middle of a line')]);
    await again.put('c', 3);
    expect([...(await open(files)).entries()]).toEqual([
      ['a', 1],
      ['c', 3],
    ]);
  });

  test('with a damaged line is refused, and stays as it is', async () => {
    const files = new TestFiles();
    const log = await open(files);
    await Promise.all([log.put('a', 1), log.put('b', 2)]);
    const damaged = (await text(files)).replace('"b"', '"c"');
    await files.replace('log.jsonl', [Buffer.from(damaged)]);
    await expect(open(files)).rejects.toThrow(/log\.jsonl, line 2: the checksum .* The 1 lines before it are intact/);
    expect(await text(files)).toBe(damaged);
  });
});

const KILO = 'x'.repeat(1_000);
const keysOf = (log: OpenKeyedLog<unknown>) => Array.from(log.entries(), ([key]) => key);

const capped = (maxItems: number, maxBytes: number, files = new TestFiles()) =>
  openKeyedLog<unknown>(files, { ...options, caps: { maxItems, maxBytes } });

describe('a log with caps', () => {
  test('lets the oldest go above its number', async () => {
    const log = await capped(3, 1_000_000);
    for (const key of ['a', 'b', 'c', 'd', 'e']) await log.put(key, { key });
    expect(keysOf(log)).toEqual(['c', 'd', 'e']);
  });

  test('lets the oldest go above its weight, however few there are', async () => {
    const log = await capped(100, 3_500);
    for (const key of ['a', 'b', 'c', 'd', 'e']) await log.put(key, KILO);
    expect(keysOf(log)).toEqual(['c', 'd', 'e']);
    expect(log.sizeBytes).toBeLessThanOrEqual(3_500);
  });

  test('counts many small members for what they take', async () => {
    const log = await capped(100, 100_000);
    const form = Array.from({ length: 1_000 }, () => ({ name: 'a', value: '' }));
    await log.put('first', form);
    await log.put('second', form);
    expect(keysOf(log)).toEqual(['second']);
  });

  test('keeps the newest, whatever it weighs', async () => {
    const log = await capped(100, 10);
    await log.put('a', KILO);
    await log.put('b', KILO);
    expect(keysOf(log)).toEqual(['b']);
  });

  test('counts a record that grows and lets others go for it, not it', async () => {
    const log = await capped(100, 5_500);
    for (const key of ['a', 'b', 'c']) await log.put(key, KILO);
    await log.put('a', KILO.repeat(4));
    expect(keysOf(log)).toEqual(['a', 'c']);
  });

  test('counts existing entries when it opens, and no deleted ones', async () => {
    const files = new TestFiles();
    const before = await capped(100, 1_000_000, files);
    await Promise.all(['a', 'b', 'c'].map((key) => before.put(key, KILO)));
    await before.remove('b');
    const log = await capped(100, 2_500, files);
    expect(log.sizeBytes).toBe(before.sizeBytes);
    await log.put('d', KILO);
    expect(keysOf(log)).toEqual(['c', 'd']);
  });

  test('counts right after many puts and removes at once', async () => {
    const log = await capped(5, 1_000_000);
    await Promise.all(Array.from({ length: 50 }, (_, at) => log.put(`k${at % 20}`, KILO)));
    await Promise.all(keysOf(log).map((key) => log.remove(key)));
    expect([log.size, log.sizeBytes]).toEqual([0, 0]);
  });
});
