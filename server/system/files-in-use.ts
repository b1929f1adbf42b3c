import { renameSync, rmSync } from 'node:fs';
import { copyFile, rename, rm, stat, symlink } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SYSTEM } from './this-system.ts';

/* On Windows, a file or folder in use cannot be replaced or removed. Virus scanners open new files for up to two seconds. */

const IN_USE: readonly unknown[] = ['EPERM', 'EACCES', 'EBUSY'];
/** Between attempts: 2.5 seconds in total. */
const WAITS_MS = [10, 20, 40, 80, 160, 320, 640, 1_280];
const RETRIES = { maxRetries: 9, retryDelay: 50 };

/** Renames a file or folder, also over an existing file. @param check called before each attempt; what it throws ends them */
export async function renameFile(from: string, to: string, check: () => void = () => {}): Promise<void> {
  for (const waitMs of [...WAITS_MS, undefined]) {
    check();
    try {
      await rename(from, to);
      return;
    } catch (failure) {
      if (waitMs === undefined || !IN_USE.includes(Object(failure).code)) throw failure;
      await delay(waitMs);
    }
  }
}

export function renameFileNow(from: string, to: string): void {
  for (const waitMs of [...WAITS_MS, undefined]) {
    try {
      renameSync(from, to);
      return;
    } catch (failure) {
      if (waitMs === undefined || !IN_USE.includes(Object(failure).code)) throw failure;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, waitMs);
    }
  }
}

/** Removes a file, or a folder with what is in it. Rejects if that is impossible for some seconds. */
export const removeTree = (path: string): Promise<void> => rm(path, { recursive: true, force: true, ...RETRIES });

/** Removes a file or folder if it can be removed within some seconds. For what nothing depends on, or a later start removes. */
export async function removeIfPossible(path: string): Promise<void> {
  await removeTree(path).catch(() => undefined);
}

export function removeNowIfPossible(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // See `removeIfPossible`.
  }
}

/** To a relative target. On Windows a junction to a folder, or a copy of a file, and false if nothing is there yet. */
export async function makeLink(target: string, link: string, system = SYSTEM): Promise<boolean> {
  if (system !== 'win32') {
    await symlink(target, link);
    return true;
  }
  const targetPath = path.resolve(path.dirname(link), target);
  const found = await stat(targetPath).catch(() => undefined);
  if (found?.isDirectory()) await symlink(targetPath, link, 'junction');
  else if (found) await copyFile(targetPath, link);
  return found !== undefined;
}
