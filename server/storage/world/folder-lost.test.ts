import {
  appendFile,
  copyFile,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { cause, record, testOptions } from '../../testing/small-world.ts';
import { openKeyedLog } from '../files/keyed-log.ts';
import { openStore, type WorldStore } from './world-store.ts';

let parentFolder: string;
let dir: string;
const warnings: string[] = [];
beforeEach(async () => {
  parentFolder = await mkdtemp(join(tmpdir(), 'terrarium-lost-'));
  dir = join(parentFolder, 'data');
  warnings.length = 0;
});
afterEach(() => rm(parentFolder, { recursive: true, force: true }));

const open = (at = dir) =>
  openStore(testOptions({ medium: { kind: 'folder', dir: at }, onWarning: (message) => warnings.push(message) }));
const commit = (store: WorldStore, name: string) => store.commit({ put: [record('apis', name)] }, cause);
const names = (store: WorldStore) => store.view.all('apis').map(({ name }) => name);

/** All files with their content, without the lock of a store that it will remove when it stops. */
async function content(reason: string): Promise<Record<string, string>> {
  const files = (await readdir(parentFolder, { recursive: true, withFileTypes: true })).filter(
    (entry) => entry.isFile() && (entry.name !== 'lock' || reason.startsWith('its file lock')),
  );
  const paths = files.map((file) => join(file.parentPath, file.name)).sort();
  return Object.fromEntries(await Promise.all(paths.map(async (path) => [path, await readFile(path, 'latin1')])));
}

/** Expects that nothing can be saved, that the store reports it, and that all files are unchanged to the end. */
async function expectLost(store: WorldStore, reason: string): Promise<void> {
  const message = expect.stringContaining(
    `has changed outside this platform: ${reason}. The platform does not write to it`,
  );
  const before = await content(reason);
  expect(store.health()).toEqual({ isHealthy: false, message });
  await expect(commit(store, 'late')).rejects.toMatchObject({ status: 503, message });
  expect(names(store)).not.toContain('late');
  expect(store.health()).toEqual({ isHealthy: false, message });
  await store.close();
  expect(await content(reason)).toEqual(before);
}

describe('a folder that changes while a store has it open', () => {
  const ways: [what: string, doIt: () => Promise<void>, reason: string][] = [
    ['removed', () => rm(dir, { recursive: true }), 'its file lock was removed'],
    ['renamed', () => rename(dir, join(parentFolder, 'elsewhere')), 'its file lock was removed'],
    [
      'removed and made again, empty',
      async () => {
        await rm(dir, { recursive: true });
        await mkdir(dir);
      },
      'its file lock was removed',
    ],
    [
      'replaced by a copy of itself, lock and all',
      async () => {
        await cp(dir, join(parentFolder, 'copy'), { recursive: true });
        await rename(dir, join(parentFolder, 'elsewhere'));
        await rename(join(parentFolder, 'copy'), dir);
      },
      'its file lock was replaced',
    ],
    ['given another lock', () => writeFile(join(dir, 'lock'), '1\n'), 'its file lock has different content'],
    ['relieved of its lock', () => rm(join(dir, 'lock')), 'its file lock was removed'],
    ['relieved of its journal', () => rm(join(dir, 'journal.jsonl')), 'its file journal.jsonl was removed'],
    [
      'given another journal of the same content',
      async () => {
        await copyFile(join(dir, 'journal.jsonl'), join(parentFolder, 'copy'));
        await rename(join(parentFolder, 'copy'), join(dir, 'journal.jsonl'));
      },
      'its file journal.jsonl was replaced',
    ],
    [
      'written to by another process',
      () => appendFile(join(dir, 'journal.jsonl'), 'x\n'),
      'another process has written to its file journal.jsonl',
    ],
    [
      'cut off in the journal',
      () => writeFile(join(dir, 'journal.jsonl'), ''),
      'another process has written to its file journal.jsonl',
    ],
    [
      'given the world of a backup',
      async () => writeFile(join(dir, 'world.json'), await readFile(join(dir, 'world.json'))),
      'its file world.json was replaced',
    ],
  ];

  test.each(ways)('%s: refuses changes, reports it, and changes nothing', async (_what, doIt, reason) => {
    const store = await open();
    await commit(store, 'kept');
    await doIt();
    await expectLost(store, reason);
  });

  test('a journal that was written before and not since is looked at before the first write, too', async () => {
    const first = await open();
    await commit(first, 'a');
    const journal = await readFile(join(dir, 'journal.jsonl'));
    await first.close();
    await writeFile(join(dir, 'journal.jsonl'), journal); // as a crash leaves it: in the snapshot, and not moved yet
    const store = await open();
    await rm(join(dir, 'journal.jsonl'));
    await expect(commit(store, 'late')).rejects.toMatchObject({
      status: 503,
      message: expect.stringContaining('was removed'),
    });
    expect(await readdir(dir)).not.toContain('journal.jsonl');
    await store.close();
  });
});

test('a pending write is not acknowledged when the folder disappears', async () => {
  const store = await open();
  await commit(store, 'kept');
  const underWay = Promise.allSettled(Array.from({ length: 20 }, (_, at) => commit(store, `late-${at}`)));
  await rename(dir, join(parentFolder, 'elsewhere'));
  const acknowledged = (await underWay).filter(({ status }) => status === 'fulfilled').length;
  await store.close();
  const again = await open(join(parentFolder, 'elsewhere'));
  expect(names(again).length).toBeGreaterThanOrEqual(1 + acknowledged);
  await again.close();
});

test('a folder that is restored is used again', async () => {
  const store = await open();
  await commit(store, 'a');
  await rename(dir, join(parentFolder, 'elsewhere'));
  await expect(commit(store, 'refused')).rejects.toMatchObject({ status: 503 });
  await rename(join(parentFolder, 'elsewhere'), dir);
  expect(store.health()).toEqual({ isHealthy: true });
  await commit(store, 'b');
  await store.close();
  expect(warnings).toEqual([]);
  const again = await open();
  expect(names(again)).toEqual(['a', 'b']);
  await again.close();
});

test('a platform that starts on the new folder keeps everything, lock included, and the previous one changes nothing', async () => {
  const first = await open();
  await commit(first, 'of the first');
  await rm(dir, { recursive: true });
  const second = await open();
  await commit(second, 'of the second');
  await expectLost(first, 'its file lock was replaced');
  await commit(second, 'and one more');
  await expect(open()).rejects.toThrow('is in use');
  await second.close();
  expect(await readdir(dir)).not.toContain('lock');
  const again = await open();
  expect(names(again)).toEqual(['of the second', 'and one more']);
  await again.close();
});

test('the present world can still be read and kept elsewhere, its past cannot', async () => {
  const store = await open();
  await commit(store, 'a');
  await commit(store, 'b');
  await rm(dir, { recursive: true });
  expect((await store.history.worldAt({ seq: 2 })).resources).toEqual(store.world.resources);
  await expect(store.history.worldAt({ seq: 1 })).rejects.toMatchObject({ status: 503 });
  await store.close();
  expect(warnings).toEqual([expect.stringContaining('The world file was not updated: the data folder')]);
});

test('a link that is led elsewhere does not lead the store there', async () => {
  const link = join(parentFolder, 'link');
  await mkdir(dir);
  await mkdir(join(parentFolder, 'other'));
  await symlink(dir, link);
  const store = await open(link);
  await commit(store, 'a');
  await rm(link);
  await symlink(join(parentFolder, 'other'), link);
  await commit(store, 'b');
  await store.close();
  expect(await readdir(join(parentFolder, 'other'))).toEqual([]);
  const again = await open();
  expect(names(again)).toEqual(['a', 'b']);
  await again.close();
});

describe('a log of keyed records', () => {
  const log = (store: WorldStore) =>
    openKeyedLog<number>(store.files, { name: 'log', fsync: 'batch', onWarning: (message) => warnings.push(message) });

  test.each<[what: string, doIt: () => Promise<void>, reason: string]>([
    ['its folder is removed', () => rm(dir, { recursive: true }), 'its file lock was removed'],
    ['it is removed', () => rm(join(dir, 'log.jsonl')), 'its file log.jsonl was removed'],
    ['it is cut off', () => writeFile(join(dir, 'log.jsonl'), ''), 'another process has written to its file log.jsonl'],
  ])('refuses what comes when %s, and says so', async (_what, doIt, reason) => {
    const store = await open();
    const records = await log(store);
    await records.put('a', 1);
    await doIt();
    const before = await content(reason);
    await expect(records.put('a', 2)).rejects.toMatchObject({ status: 503, message: expect.stringContaining(reason) });
    await expect(records.remove('a')).rejects.toMatchObject({ status: 503 });
    expect(records.get('a')).toBe(1);
    expect(records.failure?.message).toContain(reason);
    await records.close();
    await store.close();
    expect(await content(reason)).toEqual(before);
  });
});
