import { chmod, lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import { reasonOf } from '../../model/errors.ts';
import { SYSTEM } from '../../system/this-system.ts';

const OF_OTHERS = 0o077;
/** The files of a platform in its folder, which can also contain other files. */
const KEPT_FILES = /\.jsonl$|\.pem$|^(?:world|instance|root-api-key|passwords|scm-token)\b.*\.json$/;
const KEPT_FOLDERS = ['lambdas', 'snapshots'];

/** Removes other users' access to keys and sources in a data folder, which may be created manually. Warns if that fails. */
export async function keepPrivate(dir: string, warn: (message: string) => void): Promise<void> {
  if (SYSTEM === 'win32') return; // Windows does not use mode bits
  try {
    if (!(await tighten(dir))) return; // other users cannot enter the folder
    for (const entry of await readdir(dir, { withFileTypes: true })) {
      const entryPath = path.join(dir, entry.name);
      if (entry.isFile() && KEPT_FILES.test(entry.name)) await tighten(entryPath);
      if (entry.isDirectory() && KEPT_FOLDERS.includes(entry.name)) await tightenAll(entryPath);
    }
  } catch (failure) {
    const reason = reasonOf(failure);
    warn(
      `other users of this machine can read the data folder ${dir}, and that cannot be changed (${reason}). Run \`chmod -R go= ` +
        `'${dir}'\` as its owner.`,
    );
  }
}

async function tightenAll(dir: string): Promise<void> {
  await tighten(dir);
  for (const entry of await readdir(dir, { withFileTypes: true, recursive: true }))
    if (entry.isFile() || entry.isDirectory()) await tighten(path.join(entry.parentPath, entry.name));
}

async function tighten(entryPath: string): Promise<boolean> {
  const { mode } = await lstat(entryPath);
  if ((mode & OF_OTHERS) === 0) return false;
  await chmod(entryPath, mode & 0o777 & ~OF_OTHERS);
  return true;
}
