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

/** File systems of other machines or of the Windows around WSL, by their numbers on Linux: NFS, SMB (three versions), Ceph, 9P. */
const REMOTE: readonly number[] = [0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0xc36400, 0x1021997];
/** Folders that a program copies to other machines, by the names that these programs give them. */
const SYNCHRONIZED =
  /[\\/](OneDrive(?: - [^\\/]+)?|Dropbox|Google Drive|iCloudDrive|Mobile Documents|CloudStorage)(?=[\\/]|$)/i;

/**
 * Returns why a folder may be unsafe: another machine takes its lock for stale. For a mapped drive of Windows, `dir` is
 * the address.
 */
export function riskOfFolder(dir: string, fileSystem: number): string | undefined {
  const [, name] = SYNCHRONIZED.exec(dir) ?? [];
  if (name !== undefined) {
    return `the data folder ${dir} is in '${name}', which is copied to other machines. The program that copies it can lock or replace files. Choose a folder outside of it with --data.`;
  }
  if (!dir.startsWith('\\\\') && !REMOTE.includes(fileSystem)) return undefined;
  return `the data folder ${dir} is on a drive of another system, which cannot see that this platform uses it. Start no other platform on it, or choose a folder on a local disk with --data.`;
}
