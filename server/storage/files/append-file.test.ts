import { expect, test } from 'vitest';
import { systemError, TestFiles } from '../../testing/test-files.ts';
import { AppendFile } from './append-file.ts';

/** Appends a line; the promise resolves to the result. */
function append(file: AppendFile, text: string): Promise<string> {
  return new Promise((resolve) => file.append(text, (error) => resolve(error?.message ?? 'durable')));
}

async function contentOf(files: TestFiles): Promise<string> {
  return String(await files.read('log.jsonl'));
}

test('lines appended in one turn or during a write are written together and synced once', async () => {
  const files = new TestFiles();
  const file = new AppendFile(files, 'log.jsonl', 'batch');
  let later: Promise<string[]> | undefined;
  files.before = (step) => {
    if (step === 'sync') later ??= Promise.all(['c', 'd', 'e'].map((text) => append(file, text)));
  };
  await Promise.all([append(file, 'a'), append(file, 'b')]);
  await later;
  expect(files.steps).toEqual(['append', 'sync', 'append', 'sync']);
  expect(await contentOf(files)).toBe('abcde');
});

test.each([
  ['always', ['append', 'sync', 'append', 'sync']],
  ['batch', ['append', 'sync']],
  ['never', ['append']],
] as const)('fsync %s', async (policy, steps) => {
  const files = new TestFiles();
  const file = new AppendFile(files, 'log.jsonl', policy);
  await Promise.all([append(file, 'a'), append(file, 'b')]);
  expect(files.steps).toEqual(steps);
});

test.each(['append', 'sync'] as const)(
  'a failing %s removes everything that is not durable, newest first',
  async (failing) => {
    const files = new TestFiles();
    const file = new AppendFile(files, 'log.jsonl', 'batch');
    await append(file, 'kept\n');
    const ends: string[] = [];
    const appendText = (text: string) => file.append(text, (error) => ends.push(error ? `not ${text}` : text));
    files.before = (step) => {
      if (step !== failing) return;
      files.before = () => undefined;
      appendText('late');
      throw systemError('ENOSPC');
    };
    appendText('first');
    appendText('second');
    await expect(file.settled()).rejects.toMatchObject({ status: 503 });
    expect(ends).toEqual(['not late', 'not second', 'not first']);
    expect(await contentOf(files)).toBe('kept\n');
    expect(file.failure?.message).toBe(
      'The change was not saved, writing memory:log.jsonl failed (ENOSPC: simulated error, write). ' +
        'The disk is full: free some space, then repeat the request. No part of it was kept.',
    );

    expect(await append(file, 'again\n')).toBe('durable');
    expect(file.failure).toBeUndefined();
    expect(await contentOf(files)).toBe('kept\nagain\n');
  },
);

test('a retry after a failed write ends the failure once there is space, and leaves nothing in the file', async () => {
  const files = new TestFiles();
  const file = new AppendFile(files, 'log.jsonl', 'batch');
  await append(file, 'kept\n');
  files.before = (step) => {
    if (step === 'append') throw systemError('ENOSPC');
  };
  await append(file, 'refused\n');
  file.retry();
  await file.between(async () => {});
  expect(file.failure).toBeDefined();
  files.before = () => undefined;
  const failureAfterRetry = () => {
    file.retry();
    return file.failure;
  };
  await expect.poll(failureAfterRetry).toBeUndefined();
  await file.close();
  expect(await contentOf(files)).toBe('kept\n');
});

test('half a line that cannot be cut off at once is cut off before the next one', async () => {
  const files = new TestFiles();
  const file = new AppendFile(files, 'log.jsonl', 'batch');
  await append(file, 'kept\n');
  files.before = () => {
    throw systemError('EIO');
  };
  expect(await append(file, 'half done\n')).toContain('EIO');
  expect(await contentOf(files)).toBe('kept\nhalf ');
  expect(await append(file, 'refused')).toContain('EIO');
  files.before = () => undefined;
  await append(file, 'new\n');
  expect(await contentOf(files)).toBe('kept\nnew\n');
});

test('a torn end is cut off before the first write, not before', async () => {
  const files = new TestFiles();
  await files.replace('log.jsonl', [Buffer.from('whole\ntor')]);
  const file = new AppendFile(files, 'log.jsonl', 'batch', 6, true);
  expect(await contentOf(files)).toBe('whole\ntor');
  await append(file, 'new\n');
  expect(await contentOf(files)).toBe('whole\nnew\n');
});

test('a moved file is followed by a new one, without a line lost or doubled', async () => {
  const files = new TestFiles();
  const file = new AppendFile(files, 'log.jsonl', 'batch');
  const first = append(file, '1');
  const moved = file.moveTo(() => 'history/old.jsonl');
  const ends = await Promise.all([first, append(file, '2'), moved, append(file, '3')]);
  await append(file, '4');
  expect(ends.filter((end) => end === 'durable')).toHaveLength(3);
  expect(String(await files.read('history/old.jsonl')) + (await contentOf(files))).toBe('1234');
  expect(file.sizeBytes).toBe((await contentOf(files)).length);
});

test('a rewrite makes durable what waits, and a failed one leaves all as it was', async () => {
  const files = new TestFiles();
  const file = new AppendFile(files, 'log.jsonl', 'batch');
  await append(file, 'a long story\n');
  const waiting = append(file, 'waits\n');
  const rewritten = file.rewrite(() => [Buffer.from('short\nwaits\n')]);
  expect(await waiting).toBe('durable');
  await rewritten;
  expect(await contentOf(files)).toBe('short\nwaits\n');

  files.before = (step) => {
    if (step === 'replace') throw systemError('ENOSPC');
  };
  await expect(file.rewrite(() => [Buffer.from('')])).rejects.toThrow('ENOSPC');
  expect(await append(file, 'goes on\n')).toBe('durable');
  expect(await contentOf(files)).toBe('short\nwaits\ngoes on\n');
});

test('close waits for pending writes', async () => {
  const files = new TestFiles();
  const file = new AppendFile(files, 'log.jsonl', 'batch');
  const appended = append(file, 'a');
  await file.close();
  expect(await contentOf(files)).toBe('a');
  expect(await appended).toBe('durable');
});
