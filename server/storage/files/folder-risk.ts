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
