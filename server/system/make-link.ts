import { copyFile, stat, symlink } from 'node:fs/promises';
import path from 'node:path';
import { SYSTEM } from './this-system.ts';

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
