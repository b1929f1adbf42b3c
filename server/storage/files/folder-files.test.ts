import {
  chmodSync,
  constants,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { AppendFile } from './append-file.ts';
import { FolderFiles } from './folder-files.ts';

const dir = mkdtempSync(join(tmpdir(), 'terrarium-files-'));
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Flags with which this process has a file open, as Linux tells them. */
function flagsOf(path: string): number {
  const fd = readdirSync('/proc/self/fd').find((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`) === path;
    } catch {
      return false; // that of the listing itself
    }
  });
  return Number.parseInt(/^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1] ?? '', 8);
}

test.runIf(process.platform === 'linux')(
  'appended data has reached the disk when it is acknowledged, and only if requested',
  async () => {
    const files = await FolderFiles.open(dir);
    for (const [policy, through] of [
      ['batch', constants.O_DSYNC],
      ['always', constants.O_DSYNC],
      ['never', 0],
    ] as const) {
      const name = `${policy}.jsonl`;
      for (const already of ['', 'a line\n']) {
        const file = new AppendFile(files, name, policy, already.length);
        await new Promise<void>((resolve) => file.append('a line\n', () => resolve()));
        expect(flagsOf(files.pathOf(name)) & constants.O_DSYNC).toBe(through);
        await file.close();
      }
      expect(String(await files.read(name))).toBe('a line\na line\n');
    }
    files.release();
  },
);

test.runIf(process.platform !== 'win32')('a folder of all users is not used, and not closed to them', async () => {
  const shared = mkdtempSync(join(tmpdir(), 'terrarium-shared-'));
  chmodSync(shared, 0o1777);
  const sentence = 'is used by all users of this machine, and a data folder is only for one. Choose a folder in it.';
  try {
    // One that is empty, such as a new tmpfs, can be meant for the platform alone.
    (await FolderFiles.open(shared)).release();
    writeFileSync(join(shared, 'of-another-program'), '');
    await expect(FolderFiles.open(shared)).rejects.toThrow(`${shared}: ${sentence}`);
    await expect(FolderFiles.open('/').then((files) => files.release())).rejects.toThrow(`/: ${sentence}`);
    expect(readdirSync(shared)).toEqual(['of-another-program']);
  } finally {
    rmSync(shared, { recursive: true });
  }
});

test.runIf(process.platform === 'linux')('a data folder that the system refuses to create is reported', async () => {
  await expect(FolderFiles.open('/proc/none/data')).rejects.toThrow(/cannot be used as a data folder \(ENOENT/);
});
