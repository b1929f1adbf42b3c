import { readFileSync } from 'node:fs';

/** Is a process running? An ended process that was not waited for (a zombie) is not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    // Without /proc the system cleans up orphans.
    return true;
  }
}
