import fs, { constants, readFileSync } from 'node:fs';
import { appendFile, mkdtemp, open as openFile, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { cause, record, testOptions } from '../testing/small-world.ts';
import { systemError } from '../testing/test-files.ts';
import { FolderFiles } from './files/folder-files.ts';
import { isSameFile } from './files/folder-lock.ts';
import { RecordLogs } from './records/record-logs.ts';
import { openStore, type WorldStore } from './world/world-store.ts';

/** Behavior of the file system of Windows, simulated on any system with Node's own functions. */

let parentFolder: string;
let dir: string;
beforeEach(async () => {
  parentFolder = await mkdtemp(join(tmpdir(), 'terrarium-windows-'));
  dir = join(parentFolder, 'data');
});
afterEach(async () => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
  await rm(parentFolder, { recursive: true, force: true });
});

const open = (onWarning: (message: string) => void = () => undefined) =>
  openStore(testOptions({ medium: { kind: 'folder', dir }, onWarning }));
const commit = (store: WorldStore, name: string) => store.commit({ put: [record('apis', name)] }, cause);
const names = (store: WorldStore) => store.view.all('apis').map(({ name }) => name);

describe.runIf(process.platform === 'linux')('where a file that is open for appending cannot be truncated', () => {
  beforeEach(async () => {
    const handle = await openFile(process.execPath);
    const prototype = Object.getPrototypeOf(handle);
    await handle.close();
    const truncate = prototype.truncate;
    vi.spyOn(prototype, 'truncate').mockImplementation(async function (this: { fd: number }, ...args: unknown[]) {
      const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${this.fd}`, 'utf8'))?.[1] ?? '';
      if ((Number.parseInt(flags, 8) & constants.O_APPEND) !== 0) throw systemError('EPERM');
      return truncate.apply(this, args);
    });
  });

  test('a torn journal is truncated and continues', async () => {
    const first = await open();
    await commit(first, 'a');
    const journal = join(dir, 'journal.jsonl');
    const journalBytes = await readFile(journal);
    await first.close();
    await writeFile(journal, Buffer.concat([journalBytes, Buffer.from('{"torn')]));
    const store = await open();
    await commit(store, 'b');
    expect(names(store)).toEqual(['a', 'b']);
    expect(store.health()).toEqual({ isHealthy: true });
    await store.close();
    const again = await open();
    expect(names(again)).toEqual(['a', 'b']);
    await again.close();
  });

  test('a torn file of records is truncated and continues', async () => {
    const warnings: string[] = [];
    const inFolder = async (use: (ring: ReturnType<RecordLogs['ring']>) => void) => {
      const files = await FolderFiles.open(dir);
      const bounds = { memoryBytes: 4 << 20, maxItems: 100, maxBytes: 64 << 20, maxDays: 7 };
      const onWarning = (message: string) => warnings.push(message);
      const logs = new RecordLogs({ ...bounds, files, nowMs: () => 1_000, onWarning });
      const ring = logs.ring('notes', (json) => json);
      await logs.open();
      use(ring);
      logs.changed();
      await logs.stop();
      files.release();
    };
    const marks = { atMs: 1_000, key: '', group: '', mark: 0 };
    await inFolder((ring) => void ring.add(marks, '"a"'));
    await appendFile(join(dir, 'records', 'notes-000000000000000.bin'), 'torn');
    await inFolder((ring) => void ring.add(marks, '"b"'));
    await inFolder((ring) => expect([ring.at(1)?.item, ring.at(2)?.item]).toEqual(['a', 'b']));
    expect(warnings).toEqual([]);
  });
});

describe('where looking at a file by its path does not tell the device', () => {
  beforeEach(() => {
    const { statSync } = fs;
    vi.spyOn(fs, 'statSync').mockImplementation((...args: Parameters<typeof statSync>) => {
      const found = statSync(...args);
      return found && Object.assign(found, { dev: typeof found.dev === 'bigint' ? 0n : 0 });
    });
    syncBuiltinESMExports();
  });

  test('the platform works in its folder', async () => {
    const store = await open();
    await commit(store, 'a');
    expect(store.health()).toEqual({ isHealthy: true });
    await store.close();
    const again = await open();
    expect(names(again)).toEqual(['a']);
    await again.close();
  });

  test.each(['lock', 'journal.jsonl'])('another file in place of %s is noticed', async (name) => {
    const store = await open();
    await commit(store, 'a');
    const file = join(dir, name);
    await writeFile(join(parentFolder, 'other'), await readFile(file));
    await rename(join(parentFolder, 'other'), file);
    const reason = expect.stringContaining(`its file ${name} was replaced`);
    await expect(commit(store, 'b')).rejects.toMatchObject({ status: 503, message: reason });
    await store.close();
  });
});

test.each([
  [true, { dev: 5n, ino: 7n }],
  [true, { dev: 0n, ino: 7n }],
  [false, { dev: 6n, ino: 7n }],
  [false, { dev: 0n, ino: 8n }],
])('whether two looks are at the same file is %s for %o', (isSame, found) => {
  // As doubles all of these numbers are the same.
  const wide = ({ dev, ino }: typeof found) => ({ dev, ino: ino + 2n ** 60n });
  expect(isSameFile(wide(found), wide({ dev: 5n, ino: 7n }))).toBe(isSame);
});
