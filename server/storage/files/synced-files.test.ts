import { constants } from 'node:fs';
import { mkdir, mkdtemp, open, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { AppendFile } from './append-file.ts';
import { FolderFiles } from './folder-files.ts';

let dir: string;
let files: FolderFiles;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'terrarium-synced-'));
  await mkdir(join(dir, 'history'));
  files = await FolderFiles.open(dir);
});
afterEach(async () => {
  files.release();
  await rm(dir, { recursive: true, force: true });
});

/** Returns the class of open files, which node:fs does not export. */
async function fileHandles() {
  const handle = await open(dir, 'r');
  await handle.close();
  return Object.getPrototypeOf(handle);
}

/** The paths that are synced from now on, in order, as the system knows them. */
async function syncedPaths(): Promise<string[]> {
  const synced: string[] = [];
  const prototype = await fileHandles();
  for (const method of ['sync', 'datasync']) {
    const real = prototype[method];
    const spy = vi.spyOn(prototype, method).mockImplementation(async function (this: { fd: number }) {
      synced.push(relative(dir, await readlink(`/proc/self/fd/${this.fd}`)) || '.');
      return real.call(this);
    });
    onTestFinished(() => spy.mockRestore());
  }
  return synced;
}

async function* chunk(text: string) {
  yield Buffer.from(text);
}

describe.runIf(process.platform === 'linux')('what must outlive a power failure is synced', () => {
  it('a file that is replaced: first the new one, then the folder that names it', async () => {
    const synced = await syncedPaths();
    await files.replace('world.json', chunk('{}'));
    expect(synced).toEqual(['world.json.tmp', '.']);
  });

  it('a file that is moved: the folder to which it was moved, and the one from which', async () => {
    await files.replace('journal.jsonl', chunk('1'));
    const synced = await syncedPaths();
    await files.rename('journal.jsonl', 'history/1.jsonl');
    expect(synced).toEqual(['history', '.']);
  });

  it('a file that is removed: its folder', async () => {
    await files.replace('history/1.jsonl', chunk('1'));
    const synced = await syncedPaths();
    await files.remove('history/1.jsonl');
    expect(synced).toEqual(['history']);
  });

  it('a file that is created by appending: its folder, and each line', async () => {
    const synced = await syncedPaths();
    const handle = await files.openAppend('journal.jsonl', 0);
    await handle.append(Buffer.from('1\n'));
    await handle.sync();
    await handle.close();
    expect(synced).toEqual(['.', 'journal.jsonl']);
  });

  it.each(['batch', 'always'] as const)('a line of a file with --fsync %s', async (policy) => {
    const flagsOf = async (fd: number) => {
      const info = await open(`/proc/self/fdinfo/${fd}`, 'r');
      const text = await info.readFile('utf8').finally(() => info.close());
      return Number.parseInt(/^flags:\s+(\d+)$/m.exec(text)?.[1] ?? '', 8);
    };
    let flags = 0;
    const prototype = await fileHandles();
    const write = prototype.write;
    const spy = vi.spyOn(prototype, 'write').mockImplementation(async function (this: { fd: number }, ...args) {
      flags = await flagsOf(this.fd);
      return write.apply(this, args);
    });
    onTestFinished(() => spy.mockRestore());
    const file = new AppendFile(files, 'journal.jsonl', policy);
    await new Promise<void>((resolve, reject) => file.append('1\n', (error) => (error ? reject(error) : resolve())));
    await file.close();
    expect(flags & constants.O_DSYNC).toBe(constants.O_DSYNC);
  });
});

it('a line is not acknowledged if its file was removed while it was written', async () => {
  const file = new AppendFile(files, 'journal.jsonl', 'batch');
  const append = (text: string) =>
    new Promise<void>((resolve, reject) => file.append(text, (error) => (error ? reject(error) : resolve())));
  await append('1\n');
  const prototype = await fileHandles();
  const write = prototype.write;
  const spy = vi.spyOn(prototype, 'write').mockImplementation(async function (this: unknown, ...args) {
    const written = await write.apply(this, args);
    await rm(join(dir, 'journal.jsonl'));
    return written;
  });
  onTestFinished(() => spy.mockRestore());
  await expect(append('2\n')).rejects.toMatchObject({ status: 503 });
  await file.close().catch(() => undefined);
});
