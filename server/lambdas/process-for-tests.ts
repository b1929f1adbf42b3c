import { readFileSync } from 'node:fs';

/** Does a process run? One that has ended but that nobody has asked about yet (a zombie) does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    // No /proc: there the system cleans up after orphans.
    return true;
  }
}
