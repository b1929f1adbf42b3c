import { constants, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { AppendFile } from './append-file.ts';
import { FolderFiles } from './folder-files.ts';

const dir = mkdtempSync(join(tmpdir(), 'terrarium-files-'));
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Flags with which this process has a file open, as Linux tells them. */
function flagsOf(path: string): number {
  const fd = readdirSync('/proc/self/fd').find((one) => {
    try {
      return readlinkSync(`/proc/self/fd/${one}`) === path;
    } catch {
      return false; // that of the listing itself
    }
  });
  return Number.parseInt(/^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1] ?? '', 8);
}

test.runIf(process.platform === 'linux')(
  'what is appended has reached the disk when that is told, and only where that is asked for',
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
