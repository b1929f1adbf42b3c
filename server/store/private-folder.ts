import { chmod, lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import { reasonOf } from '../model/reason.ts';

/** What group and others may do. */
const OF_OTHERS = 0o077;
/** What a platform keeps in its folder; the folder may be one that holds other things, too. */
const KEPT_FILES = /\.jsonl$|\.pem$|^(?:world|instance|root-api-key|scm-token)\b.*\.json$/;
const KEPT_FOLDERS = ['lambdas', 'snapshots'];

/**
 * Takes what a data folder holds, such as keys and the sources of lambdas, out of the sight of other users of this machine: it may
 * have been made by hand, or copied. What cannot be taken away is told.
 */
export async function keepPrivate(dir: string, warn: (message: string) => void): Promise<void> {
  if (process.platform === 'win32') return; // access is not a matter of modes there
  try {
    if (!(await tighten(dir))) return; // nobody else gets in
    for (const entry of await readdir(dir, { withFileTypes: true })) {
      const place = path.join(dir, entry.name);
      if (entry.isFile() && KEPT_FILES.test(entry.name)) await tighten(place);
      if (entry.isDirectory() && KEPT_FOLDERS.includes(entry.name)) await tightenAll(place);
    }
  } catch (failure) {
    const reason = reasonOf(failure);
    warn(
      `other users of this machine may read the data folder ${dir}, and that cannot be changed (${reason}): run \`chmod -R go= '${dir}'\` as its owner`,
    );
  }
}

async function tightenAll(dir: string): Promise<void> {
  await tighten(dir);
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    const place = path.join(dir, entry.name);
    if (entry.isDirectory()) await tightenAll(place);
    else if (entry.isFile()) await tighten(place);
  }
}

/** Resolves to whether there was something to take away. */
async function tighten(place: string): Promise<boolean> {
  const { mode } = await lstat(place);
  if ((mode & OF_OTHERS) === 0) return false;
  await chmod(place, mode & 0o777 & ~OF_OTHERS);
  return true;
}
